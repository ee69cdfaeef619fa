import type { APIContext } from 'astro';
import type { SectionKind } from '../../../contract/sections.ts';
import { sectionAtom, sectionPaths } from '../../../site/feed-pages.ts';

export const getStaticPaths = sectionPaths;

export const GET = ({ props }: APIContext<{ kind: SectionKind }>) => sectionAtom(props.kind);
