import { isHeldBack } from '../catalog/last-build.ts';
import type { Badge } from '../contract/badge.ts';
import { formatPlural } from './format.ts';
import type { Outcome } from './repository.ts';
import { escapeXml } from './xml.ts';

// White text has a contrast of at least 4.5:1 on each of these, and they are visible on light and dark pages.
const grounds = { label: '#3d4a46', good: '#0a5a49', stale: '#7c4600', failed: '#9c2a1f', none: '#52615c' } as const;

/** The longest name on a badge, in characters, because there are others beside it in a README. */
const longestLabel = 32;

const shorten = (text: string): string => {
  const characters = [...text.replaceAll(/\s+/g, ' ').trim()];
  return characters.length <= longestLabel ? characters.join('') : `${characters.slice(0, longestLabel - 1).join('')}…`;
};

/** What a badge says: the name of the service, the state of the repository, and its number of packages. */
export interface BadgeSubject {
  readonly service: string;
  /** Undefined if no build is on record. */
  readonly outcome: Pick<Outcome, 'outcome' | 'since' | 'code' | 'heldBack'> | undefined;
  readonly packages: number;
  /** Whether the safety list names it, or where it redirects to. */
  readonly isUnsafe?: boolean;
}

/** The badge of a repository. If it is in order, the badge is the same whether its data changed or not. */
export const composeBadge = ({ service, outcome, packages, isUnsafe = false }: BadgeSubject): Badge => {
  const count = formatPlural(packages, 'package');
  const said = (message: string, color: string, isError = false): Badge => ({
    schemaVersion: 1,
    label: shorten(service) || 'index',
    message,
    color,
    labelColor: grounds.label,
    isError,
  });
  if (isUnsafe) return said('unsafe to add', grounds.failed, true);
  switch (outcome?.outcome) {
    case 'fresh':
    case 'unchanged':
      return said(`${count} · fresh`, grounds.good);
    case 'stale': {
      const word = isHeldBack(outcome) ? 'held back' : 'stale';
      const day = outcome.since?.slice(0, 'YYYY-MM-DD'.length);
      return said(day === undefined ? word : `${word} since ${day}`, grounds.stale);
    }
    case 'failed':
      return said('failed', grounds.failed, true);
    default:
      return said(count, grounds.none);
  }
};

// Widths of Verdana at 11 pixels, which is used if available. Any other font is stretched to them.
const widthOf = (character: string): number => {
  if (/[ijlIt.,:;'|!·()[\] -]/.test(character)) return 4.6;
  if (/[mwMW@%]/.test(character)) return 10.4;
  if (/[A-Z]/.test(character)) return 7.9;
  return character.charCodeAt(0) < 0x1100 ? 6.9 : 11.5;
};
const textWidth = (text: string): number => Math.ceil([...text].reduce((sum, one) => sum + widthOf(one), 0));

const padding = 6;
/** The height of a badge in pixels. */
export const badgeHeight = 20;

/** The width of a badge in pixels. */
export const badgeWidth = ({ label, message }: Badge): number => textWidth(label) + textWidth(message) + 4 * padding;

/** The text of a badge on one line, for people and screen readers. */
export const badgeText = ({ label, message }: Badge): string => `${label}: ${message}`;

/** The badge as a self-contained drawing: no web font, no script, no style sheet. */
export const drawBadge = (badge: Badge): string => {
  const left = textWidth(badge.label) + 2 * padding;
  const right = textWidth(badge.message) + 2 * padding;
  const text = (words: string, x: number) =>
    `<text x="${x}" y="14" textLength="${textWidth(words)}" lengthAdjust="spacingAndGlyphs">${escapeXml(words)}</text>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="${badgeHeight}" ` +
    `viewBox="0 0 ${left + right} ${badgeHeight}" role="img" aria-labelledby="t">` +
    `<title id="t">${escapeXml(badgeText(badge))}</title>` +
    `<clipPath id="c"><rect width="${left + right}" height="${badgeHeight}" rx="4"/></clipPath>` +
    `<g clip-path="url(#c)"><rect width="${left}" height="${badgeHeight}" fill="${badge.labelColor}"/>` +
    `<rect x="${left}" width="${right}" height="${badgeHeight}" fill="${badge.color}"/></g>` +
    `<g fill="#ffffff" font-family="Verdana,Geneva,'DejaVu Sans',sans-serif" font-size="11">` +
    `${text(badge.label, padding)}${text(badge.message, left + padding)}</g></svg>\n`
  );
};

// Escapes the characters with a meaning in CommonMark, and those that would begin a tag or an address.
const escapeMarkdown = (text: string): string => text.replaceAll(/[\\`*_{}[\]()<>#!|&~@:]/g, String.raw`\$&`);

/** The badge as Markdown for the README of a repository's owner, with absolute addresses. */
export const badgeMarkdown = (badge: Pick<Badge, 'label'>, slug: string, image: string, page: string): string =>
  `[![${escapeMarkdown(`${badge.label} ${slug}`)}](${image})](${page})`;
