import { jsonFeedResponse } from '../site/feed-pages.ts';

export const GET = () => jsonFeedResponse();
