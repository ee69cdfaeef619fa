import type { FacetName } from './chosen-facets.ts';

// The search index among the files of a site, which answers where there is no function. A build of the site writes it,
// and the browser reads the parts that a query needs: one file that names all others, one or two with the words that
// begin as a typed one does, and those with the rows that are shown.
//
// Packages are numbered in the order of their names. Files are named after their content, so the parts of two builds are
// never mixed, and hosts and browsers may keep them for ever.

/** The folder, relative to the root of the site. */
export const indexRoot = 'search-index/';

/** The file that names all others. */
export const indexEntry = `${indexRoot}index.json`;

/** What a part of the index holds: words, heads of many words, rows of packages, or a value of each package. */
export type PartKind = 'words' | 'heads' | 'rows' | 'values';

export const partFile = (kind: PartKind, name: string): string => `${indexRoot}${kind}/${name}.json`;

/** How many characters the name of a part has. */
export const nameLength = 8;

/** Files of words in order: the first of each, and the file's name. */
type Shelf = readonly (readonly [first: string, name: string])[];

/** The content of the entry. */
export interface IndexEntry {
  /** How many packages there are. */
  readonly packages: number;
  readonly words: Shelf;
  readonly heads: Shelf;
  /** Of each file with rows, in their order, its name and then how many it has, as one digit. */
  readonly rows: string;
  /** The file with the values that filters ask for. */
  readonly facets: string;
  /** Files with a number of each package, in order; the highest comes first. */
  readonly orders: Readonly<Partial<Record<IndexOrder, string>>>;
}

export type IndexOrder = 'newest' | 'downloads';

/**
 * Where the packages of a word have it: as their whole name, in their name, in their identifier, in other text, or as
 * their whole identifier. A package is in the first of them that fits.
 */
export const places = ['whole', 'name', 'id', 'text', 'identifier'] as const;
export type Place = (typeof places)[number];

/**
 * The content of a file with words, or heads: for each the numbers of its packages by place, separated by blanks. Those
 * of a head begin with its shortest names, the shortest first.
 */
export type WordFile = Readonly<Record<string, string>>;

/** A combination of values by which packages are filtered. */
export type FacetValues = Readonly<Record<FacetName, readonly string[]>>;

/** The content of the file for filters: the combinations that occur, and which of them each package has. */
export interface FacetFile {
  readonly combinations: readonly FacetValues[];
  readonly of: string;
}

/** No longer words are in the index; longer ones are found by their beginning. In UTF-16 code units. */
export const longestWord = 32;

/** The most files that are read for one word. Those of a beginning with more words are in a head. */
export const mostFiles = 2;

/** How many names of a head come first because they are the shortest: as many as are shown at first. */
export const mostShortest = 20;

/** The least letters of a beginning under which packages are found that have it in other text alone. */
export const leastInText = 3;

// Numbers as text that JSON leaves as it is: five bits in each digit, the lowest first, and a sixth if more follow.
const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const base = 32;
const digitOf = new Uint8Array(128);
for (let digit = 0; digit < digits.length; digit++) digitOf[digits.charCodeAt(digit)] = digit;

const encodeNumber = (value: number): string => {
  let text = '';
  let rest = value;
  for (; rest >= base; rest = Math.floor(rest / base)) text += digits[base + (rest % base)];
  return text + digits[rest];
};

/** A number below 64 as one digit. */
export const encodeDigit = (value: number): string => digits[value] as string;
export const decodeDigit = (text: string, at: number): number => digitOf[text.charCodeAt(at)] as number;

/** Whole numbers from 0 as text. */
export const encodeNumbers = (numbers: Iterable<number>): string => {
  let text = '';
  for (const number of numbers) text += encodeNumber(number);
  return text;
};

export const decodeNumbers = (text: string): number[] => {
  const numbers: number[] = [];
  let number = 0;
  let scale = 1;
  for (let at = 0; at < text.length; at++) {
    const digit = digitOf[text.charCodeAt(at)] as number;
    number += (digit % base) * scale;
    scale *= base;
    if (digit >= base) continue;
    numbers.push(number);
    number = 0;
    scale = 1;
  }
  return numbers;
};

/** Numbers in ascending order as text, each as its distance from the one before. */
export const encodeAscending = (numbers: Iterable<number>): string => {
  let text = '';
  let before = 0;
  for (const number of numbers) {
    text += encodeNumber(number - before);
    before = number;
  }
  return text;
};

export const decodeAscending = (text: string): number[] => {
  const numbers = decodeNumbers(text);
  for (let at = 1; at < numbers.length; at++) (numbers[at] as number) += numbers[at - 1] as number;
  return numbers;
};

/** The first place in an ordered list of this length whose member is not before what is searched for, by bisection. */
export const lowerBound = (length: number, isBefore: (place: number) => boolean): number => {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** The number of the last file whose first word is not after this one; -1 if there is none. */
const fileOf = (shelf: Shelf, word: string): number =>
  lowerBound(shelf.length, (place) => (shelf[place] as Shelf[number])[0] <= word) - 1;

/** The numbers of the files with words of this beginning: from the first up to, but without, the last. */
export const filesOf = (shelf: Shelf, beginning: string): readonly [from: number, to: number] => {
  const from = Math.max(0, fileOf(shelf, beginning));
  let to = from;
  while (to < shelf.length && (to === from || (shelf[to] as Shelf[number])[0].startsWith(beginning))) to++;
  return [from, to];
};
