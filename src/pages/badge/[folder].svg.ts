import type { APIContext } from 'astro';
import type { Badge } from '../../contract/badge.ts';
import { badgePaths, svgResponse } from '../../site/badge-pages.ts';

export const getStaticPaths = badgePaths;

export const GET = ({ props }: APIContext<{ badge: Badge }>) => svgResponse(props.badge);
