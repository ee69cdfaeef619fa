import { divergenceFeedResponse } from '../../site/divergence-feed.ts';

export const GET = () => divergenceFeedResponse();
