import { sitemapIndexResponse } from '../site/sitemap.ts';

export const GET = () => sitemapIndexResponse();
