import type { APIContext } from 'astro';
import { jsonFeedResponse, repositoryPaths } from '../../../site/feed-pages.ts';

export const getStaticPaths = repositoryPaths;

export const GET = ({ props }: APIContext<{ slug: string }>) => jsonFeedResponse(props.slug);
