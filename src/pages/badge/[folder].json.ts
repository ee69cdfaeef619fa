import type { APIContext } from 'astro';
import type { Badge } from '../../contract/badge.ts';
import { badgePaths, shieldResponse } from '../../site/badge-pages.ts';

export const getStaticPaths = badgePaths;

export const GET = ({ props }: APIContext<{ badge: Badge }>) => shieldResponse(props.badge);
