import type { APIContext } from 'astro';
import { authorAtom, authorPaths } from '../../../site/feed-pages.ts';

export const getStaticPaths = authorPaths;

export const GET = ({ props }: APIContext<{ author: string }>) => authorAtom(props.author);
