import { hueOf } from '../results/hue.ts';
import { lettersOf } from '../results/monogram.ts';
import { type Notch, notchPlaces } from '../results/notches.ts';
import { escapeXml } from './xml.ts';

/** Pixels of a share picture: the smallest of which chat programs and social networks make a large preview. */
export const pictureSize = { width: 600, height: 315 } as const;

/** What the share picture of a package shows. */
export interface PictureFacts {
  readonly id: string;
  readonly name: string;
  /** Empty if it is unknown, or must not be shown. */
  readonly author: string;
  readonly version: string;
  readonly repository: { readonly slug: string; readonly name: string };
  /** The builds it has, in the order of their places. */
  readonly builds: readonly Notch[];
  /** What the service is called. */
  readonly service: string;
}

/** The colours of tiles and cards in the light theme: `src/layouts/hues.css`. */
export const pictureHues: readonly (readonly [pale: string, deep: string])[] = [
  ['#c5e9d8', '#0a4a33'],
  ['#f4d9ea', '#5d2c4d'],
  ['#bfe8f0', '#004858'],
  ['#d3dffd', '#2e3d74'],
  ['#eddfc2', '#523b00'],
  ['#fbd8d2', '#662a23'],
  ['#e5daf8', '#452e70'],
];

/** The colours of notches in the light theme: `src/layouts/tokens.css`. */
export const notchColours: Readonly<Record<Notch['kind'], string>> = {
  rootful: '#a86a12',
  rootless: '#12856b',
  roothide: '#7c4fb5',
};

/** What the share picture of a repository shows. */
export interface RepositoryFacts {
  readonly slug: string;
  readonly name: string;
  readonly host: string;
  /** How many packages it has, in words. */
  readonly packages: string;
  /** Its ranking in a word. */
  readonly ranking: string;
  /** What the service is called. */
  readonly service: string;
}

// The letters of the bundled font, by its own table. A text with other letters would have gaps.
const covered =
  /^(?:(?![\u0149\u01c4\u049e\u049f\u1e9c])[\u0020-\u007e\u00a1-\u00ac\u00ae-\u024f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03ce\u0400-\u045f\u0490-\u04ff\u1e00-\u1e9e\u1ea0-\u1eff\u2010-\u2027\u2030-\u203a\u2122])*$/u;

// How many characters of a stranger's text are read: more than fit on any line of a picture.
const longest = 400;

/** The text as one line that can be drawn; undefined if it has letters that cannot. */
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

// The width of a letter in proportion to its size. A long text is made smaller, down to a readable size, then cut.
const letterWidth = 0.6;
const fitted = (text: string, [largest, smallest]: readonly [number, number], room: number, line: Line): string => {
  const size = Math.max(smallest, Math.min(largest, Math.floor(room / (letterWidth * Math.max(1, [...text].length)))));
  const shown = cut(text, Math.floor(room / (letterWidth * size)));
  const { x, y, fill, bold = false } = line;
  return `<text x="${x}" y="${y}" font-size="${size}" font-weight="${bold ? 700 : 400}" fill="${fill}">${escapeXml(shown)}</text>`;
};

/** The mark, in 32 units: an index card with a raised tab and a punched hole, which together form a "d". */
export const mark =
  'M9 13.4h9.4V8.6A1.6 1.6 0 0 1 20 7h4.4A1.6 1.6 0 0 1 26 8.6v15.8a1.6 1.6 0 0 1-1.6 1.6H9a3 3 0 0 1-3-3v-6.6a3 3 0 0 1 3-3zM13.4 16.4a3.3 3.3 0 1 0 0 6.6 3.3 3.3 0 0 0 0-6.6z';

const hue = (of: string) => pictureHues[hueOf(of)] ?? (['#ffffff', '#000000'] as const);

const rect = (x: number, y: number, width: number, height: number, rest: string): string =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" ${rest}/>`;

// In the edge of the card, each at its own place, as in lists, and beside the words that explain them.
const composeNotches = (builds: readonly Notch[]): string => {
  const size = builds.length > 2 ? 13 : 16;
  let x = 312;
  return builds
    .map(({ kind, word }) => {
      const fill = `fill="${notchColours[kind]}"`;
      const edge = rect(560, 100 + 58 * notchPlaces[kind], 12, 50, `rx="4" ${fill}`);
      const sign = rect(x, 256, 8, 14, `rx="2" ${fill}`);
      const text = `<text x="${x + 14}" y="268" font-size="${size}" fill="#4b5751">${escapeXml(word)}</text>`;
      x += 24 + Math.ceil(letterWidth * size * word.length);
      return edge + sign + text;
    })
    .join('');
};

interface Card {
  /** Name of the service. */
  readonly service: string;
  readonly tile: readonly [fill: string, ink: string];
  /** The path of the tile: a rounded square; that of a repository has one corner cut. */
  readonly shape: string;
  readonly letters: string;
  readonly edge: string;
  readonly content: readonly string[];
}

const composeCard = ({ service, tile: [fill, ink], shape, letters, edge, content }: Card): string => {
  const { width, height } = pictureSize;
  const name = fitted(drawable(service) ?? '', [18, 12], 480, { x: 62, y: 35, fill: '#f3f1e8', bold: true });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="Inter">` +
    `${rect(0, 0, 600, 315, 'fill="#f5f2e9"')}${rect(0, 0, 600, 56, 'fill="#0c3d33"')}` +
    `<g transform="translate(24 12)" fill="#f08a3c" fill-rule="evenodd"><path d="${mark}"/></g>${name}` +
    `${rect(28, 80, 544, 207, 'rx="12" fill="#fffefa"')}${rect(28, 92, 8, 183, `fill="${edge}"`)}` +
    `<path d="${shape}" fill="${fill}"/>${rect(56, 208, 492, 1, 'fill="#dcd7c9"')}` +
    `<text x="101" y="158" font-size="42" font-weight="700" fill="${ink}" text-anchor="middle">${escapeXml(drawable(letters) ?? '#')}</text>` +
    `${content.join('')}</svg>`
  );
};

const rounded = 'M76 98h50a20 20 0 0 1 20 20v50a20 20 0 0 1-20 20H76a20 20 0 0 1-20-20v-50a20 20 0 0 1 20-20z';
const cornered = 'M76 98h70v70a20 20 0 0 1-20 20H76a20 20 0 0 1-20-20v-50a20 20 0 0 1 20-20z';

/** Whether a name can be drawn: it has letters, and the font has all of them. */
export const canDraw = (name: string): boolean => (drawable(name) ?? '') !== '';

/** The picture of a package as SVG, with text in Inter; undefined if the name has letters that the font lacks. */
export const composePicture = (facts: PictureFacts): string | undefined => {
  const title = drawable(facts.name);
  if (title === undefined || title === '') return undefined;
  const author = drawable(facts.author) ?? '';
  const place = drawable(facts.repository.name) || facts.repository.slug;
  return composeCard({
    service: facts.service,
    tile: hue(facts.id),
    shape: rounded,
    letters: lettersOf(title),
    edge: hue(facts.repository.slug)[1],
    content: [
      fitted(title, [38, 18], 388, { x: 164, y: 137, fill: '#14201b', bold: true }),
      fitted(author === '' ? place : `by ${author}`, [20, 13], 388, { x: 164, y: 172, fill: '#4b5751' }),
      fitted(drawable(facts.version) ?? '', [34, 14], 236, { x: 56, y: 258, fill: '#14201b', bold: true }),
      fitted(place, [18, 11], 240, { x: 312, y: 242, fill: '#14201b', bold: true }),
      composeNotches(facts.builds),
    ],
  });
};

/** The picture of a repository as SVG, as that of a package. */
export const composeRepositoryPicture = (facts: RepositoryFacts): string | undefined => {
  const title = drawable(facts.name);
  if (title === undefined || title === '') return undefined;
  const [pale, deep] = hue(facts.slug);
  return composeCard({
    service: facts.service,
    tile: [pale, deep],
    shape: cornered,
    letters: lettersOf(title),
    edge: deep,
    content: [
      fitted(title, [38, 18], 388, { x: 164, y: 137, fill: '#14201b', bold: true }),
      fitted(drawable(facts.host) ?? '', [20, 13], 388, { x: 164, y: 172, fill: '#4b5751' }),
      fitted(facts.packages, [34, 14], 320, { x: 56, y: 258, fill: '#14201b', bold: true }),
      `<text x="548" y="258" font-size="20" fill="#4b5751" text-anchor="end">${escapeXml(facts.ranking)}</text>`,
    ],
  });
};
