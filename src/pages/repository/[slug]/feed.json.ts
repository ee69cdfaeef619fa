import type { APIContext } from 'astro';
import { jsonFeedResponse, repositoryPaths } from '../../../site/feed-pages.ts';

export const getStaticPaths = repositoryPaths;

export const GET = ({ params }: APIContext) => jsonFeedResponse(params.slug);
