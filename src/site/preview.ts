import type { SectionKind } from '../contract/sections.ts';
import { sectionTitle } from './overview.ts';

/** The picture in a preview of a page, as in chat programs and social networks. */
export interface PreviewImage {
  /** Root-relative address of a PNG, because most of them show no SVG. */
  readonly src: string;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** Its description, for people who do not see it. */
  readonly text: string;
}

/** The picture of pages without another one. */
export const generalPreview = (service: string): PreviewImage => ({
  src: '/preview.png',
  width: 1200,
  height: 630,
  text: `${service}: an index of APT repositories`,
});

/** The picture of a section, of its packages, and of repositories with mostly that section. */
export const sectionPreview = (kind: SectionKind): PreviewImage => ({
  src: `/icons/headers/${kind}.png`,
  width: 1200,
  height: 400,
  text: `The sign of the section ${sectionTitle(kind)}`,
});
