import { nameTerms, splitWords } from './search-text.ts';

/** How many documents with the same ranking and length of name can have a number. */
const perLength = 2 ** 40;
const longestName = 255;

/** The number of the first document with a ranking and length of name; see searchTables. */
export const firstDocumentId = (ranking: number, nameLength: number): number =>
  (ranking * (longestName + 1) + Math.min(nameLength, longestName)) * perLength;

/**
 * Packages with about as many downloads have the same level. Each level stands for twice as many downloads as the one
 * below.
 */
const levels = 32;
const perLevel = perLength / levels;

/** The level of that many downloads, from 0. */
export const levelOfDownloads = (downloads: number): number =>
  Math.min(levels - 1, Math.floor(Math.log2(downloads + 1)));

/** The number of the first document of a level, within a ranking and length of name. The most downloaded come first. */
export const firstOfLevel = (firstDocument: number, level: number): number =>
  firstDocument + (levels - 1 - level) * perLevel;

/** The download level of a search document. */
export const documentLevel = (id: number): number => levels - 1 - Math.floor((id % perLength) / perLevel);

/** How many documents of one level can have a number. */
export const documentsPerLevel = perLevel;

/** The ranking of a search document's repository. */
export const documentRanking = (id: number): number => Math.floor(id / firstDocumentId(1, 0));

/** The last segment of an identifier such as com.example.newterm, and the ones before it except the first. */
const segmentTerms = (identifier: string): string[] => {
  const segments = identifier.split('.');
  const terms = new Set<string>();
  for (const segment of segments.length > 1 ? segments.slice(1) : segments) {
    const { words, pairs } = nameTerms(segment);
    for (const term of [...words, ...pairs]) terms.add(term);
  }
  return [...terms];
};

// No word contains this character, so the many documents with a word in their description do not slow down searches for
// names.
const wholeMark = '§';

/** The term of a whole name or identifier, given its words joined together. */
export const wholeTerm = (joined: string): string => wholeMark + joined;

/** The texts of a package that are indexed. */
export interface SearchedTexts {
  readonly identifier: string;
  readonly name: string | null;
  readonly author: string | null;
  /** Used if there is no author. */
  readonly maintainer: string | null;
  readonly description: string | null;
}

// Removes text in angle brackets, each time up to the first closing one. A regular expression would search from every
// opening one.
const withoutMail = (person: string): string => {
  let kept = '';
  let from = 0;
  for (;;) {
    const start = person.indexOf('<', from);
    const end = start === -1 ? -1 : person.indexOf('>', start);
    if (end === -1) return kept + person.slice(from);
    kept += `${person.slice(from, start)} `;
    from = end + 1;
  }
};

/** The terms by which a package is found, except those of its description (see descriptionText). */
export const computeTerms = ({ identifier, name, author, maintainer }: SearchedTexts) => {
  const { words, pairs } = nameTerms(name ?? identifier);
  const person = author ?? maintainer;
  return {
    words,
    name: [...words, ...pairs],
    segment: name === null ? [] : segmentTerms(identifier),
    author: person === null ? [] : splitWords(withoutMail(person)),
  };
};
