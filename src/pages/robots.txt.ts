import { site } from '../site/context.ts';

export const GET = () => new Response(`User-agent: *\nAllow: /\n\nSitemap: ${site().base}/sitemap.xml\n`);
