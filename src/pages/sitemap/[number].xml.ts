import type { APIContext } from 'astro';
import { sitemapPaths, sitemapResponse } from '../../site/sitemap.ts';

export const getStaticPaths = sitemapPaths;

export const GET = ({ params }: APIContext) => sitemapResponse(Number(params.number));
