import { hueOf, lettersOf } from '../results/monogram.ts';
import { escapeXml } from './xml.ts';

/** Pixels of a share picture: the least of which chat programs and networks make a large preview. */
export const pictureSize = { width: 600, height: 315 } as const;

/** What the share picture of a package shows. */
export interface PictureFacts {
  readonly id: string;
  readonly name: string;
  /** Empty where it is unknown, or none that may be shown. */
  readonly author: string;
  readonly version: string;
  readonly repository: { readonly slug: string; readonly name: string };
  /** The builds it has, in words. */
  readonly builds: readonly string[];
  /** What the service is called. */
  readonly service: string;
}

/** As tiles and cards have them in the light theme: `src/layouts/hues.css`. */
export const pictureHues: readonly (readonly [pale: string, deep: string])[] = [
  ['#c5e9d8', '#0a4a33'],
  ['#f4d9ea', '#5d2c4d'],
  ['#bfe8f0', '#004858'],
  ['#d3dffd', '#2e3d74'],
  ['#eddfc2', '#523b00'],
  ['#fbd8d2', '#662a23'],
  ['#e5daf8', '#452e70'],
];

// The letters of the font that is brought along, by its own table of them. A text with others would have holes.
const covered =
  /^(?:(?![\u0149\u01c4\u049e\u049f\u1e9c])[\u0020-\u007e\u00a1-\u00ac\u00ae-\u024f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03ce\u0400-\u045f\u0490-\u04ff\u1e00-\u1e9e\u1ea0-\u1eff\u2010-\u2027\u2030-\u203a\u2122])*$/u;

// Of a stranger's text nothing is read that no line of a picture has room for.
const longest = 400;

/** The text as one line that can be drawn; undefined where letters of it cannot be. */
const drawable = (text: string): string | undefined => {
  const line = text
    .slice(0, longest)
    .toWellFormed()
    .normalize('NFC')
    .replaceAll(/[\p{Cc}\p{Cf}\p{So}\p{Mn}\ufffd\s]+/gu, ' ')
    .trim();
  return covered.test(line) ? line : undefined;
};

const cut = (text: string, most: number): string => {
  const letters = [...text];
  return letters.length > most
    ? `${letters
        .slice(0, most - 1)
        .join('')
        .trimEnd()}…`
    : text;
};

interface Line {
  readonly x: number;
  readonly y: number;
  readonly fill: string;
  readonly bold?: boolean;
}

// A letter is about six tenths of its size wide. A longer text is smaller, down to what can still be read, then cut.
const letterWidth = 0.6;
const fitted = (text: string, [largest, smallest]: readonly [number, number], room: number, line: Line): string => {
  const size = Math.max(smallest, Math.min(largest, Math.floor(room / (letterWidth * Math.max(1, [...text].length)))));
  const shown = cut(text, Math.floor(room / (letterWidth * size)));
  const { x, y, fill, bold = false } = line;
  return `<text x="${x}" y="${y}" font-size="${size}" font-weight="${bold ? 700 : 400}" fill="${fill}">${escapeXml(shown)}</text>`;
};

const mark =
  'M9 13.4h9.4V8.6A1.6 1.6 0 0 1 20 7h4.4A1.6 1.6 0 0 1 26 8.6v15.8a1.6 1.6 0 0 1-1.6 1.6H9a3 3 0 0 1-3-3v-6.6a3 3 0 0 1 3-3zM13.4 16.4a3.3 3.3 0 1 0 0 6.6 3.3 3.3 0 0 0 0-6.6z';

const hue = (of: string) => pictureHues[hueOf(of)] ?? (['#ffffff', '#000000'] as const);

/** The picture as SVG, whose text is in Inter; undefined where the name has letters that the font has not. */
export const composePicture = (facts: PictureFacts): string | undefined => {
  const title = drawable(facts.name);
  if (title === undefined || title === '') return undefined;
  const [pale, deep] = hue(facts.id);
  const [, edge] = hue(facts.repository.slug);
  const { width, height } = pictureSize;
  const author = drawable(facts.author) ?? '';
  const place = drawable(facts.repository.name) || facts.repository.slug;
  const texts = [
    fitted(drawable(facts.service) ?? '', [18, 12], 480, { x: 62, y: 35, fill: '#f3f1e8', bold: true }),
    `<text x="101" y="158" font-size="42" font-weight="700" fill="${deep}" text-anchor="middle">${escapeXml(drawable(lettersOf(title)) ?? '#')}</text>`,
    fitted(title, [38, 18], 388, { x: 164, y: 137, fill: '#14201b', bold: true }),
    fitted(author === '' ? place : `by ${author}`, [20, 13], 388, { x: 164, y: 172, fill: '#4b5751' }),
    fitted(drawable(facts.version) ?? '', [34, 14], 236, { x: 56, y: 258, fill: '#14201b', bold: true }),
    fitted(place, [18, 11], 240, { x: 312, y: 242, fill: '#14201b', bold: true }),
    fitted(facts.builds.join(' · '), [16, 11], 240, { x: 312, y: 268, fill: '#4b5751' }),
  ];
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="Inter">` +
    `<rect width="600" height="315" fill="#f5f2e9"/><rect width="600" height="56" fill="#0c3d33"/>` +
    `<g transform="translate(24 12)" fill="#f08a3c" fill-rule="evenodd"><path d="${mark}"/></g>` +
    `<rect x="28" y="80" width="544" height="207" rx="12" fill="#fffefa"/><rect x="28" y="92" width="8" height="183" fill="${edge}"/>` +
    `<rect x="56" y="98" width="90" height="90" rx="20" fill="${pale}"/><rect x="56" y="208" width="492" height="1" fill="#dcd7c9"/>` +
    `${texts.join('')}</svg>`
  );
};
