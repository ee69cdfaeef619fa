import type { APIContext } from 'astro';
import { atomResponse, repositoryPaths } from '../../../site/feed-pages.ts';

export const getStaticPaths = repositoryPaths;

export const GET = ({ props }: APIContext<{ slug: string }>) => atomResponse(props.slug);
