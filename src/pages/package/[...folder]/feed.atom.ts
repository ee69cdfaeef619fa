import type { APIContext } from 'astro';
import { packageAtom, packagePaths } from '../../../site/feed-pages.ts';

export const getStaticPaths = packagePaths;

export const GET = ({ props }: APIContext<{ id: string }>) => packageAtom(props.id);
