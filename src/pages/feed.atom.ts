import { atomResponse } from '../site/feed-pages.ts';

export const GET = () => atomResponse();
