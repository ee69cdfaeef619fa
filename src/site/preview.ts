import type { SectionKind } from '../contract/sections.ts';
import { sectionTitle } from './overview.ts';

/** The picture that a preview of a page shows, in chat programs and networks. */
export interface PreviewImage {
  /** Root-relative address of a PNG, since most of them show no SVG. */
  readonly src: string;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** What it shows, for who does not see it. */
  readonly text: string;
}

/** That of pages without another one. */
export const generalPreview = (service: string): PreviewImage => ({
  src: '/preview.png',
  width: 1200,
  height: 630,
  text: `${service}: an index of APT repositories`,
});

/** That of a section, of its packages, and of repositories that have the most of it. */
export const sectionPreview = (kind: SectionKind): PreviewImage => ({
  src: `/icons/headers/${kind}.png`,
  width: 1200,
  height: 400,
  text: `The sign of the section ${sectionTitle(kind)}`,
});
