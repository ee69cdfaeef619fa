import { nameTerms, splitWords } from './search-text.ts';

/** So many documents of one ranking and length of name have a number. */
const perLength = 2 ** 40;
const longestName = 255;

/** The number of the first document of a ranking and length of name; see searchTables. */
export const firstDocumentId = (ranking: number, nameLength: number): number =>
  (ranking * (longestName + 1) + Math.min(nameLength, longestName)) * perLength;

/** Packages that were downloaded about as often have one level: each is for twice as many downloads as the one below. */
const levels = 32;
const perLevel = perLength / levels;

/** The level of so many downloads, from 0. */
export const levelOfDownloads = (downloads: number): number =>
  Math.min(levels - 1, Math.floor(Math.log2(downloads + 1)));

/** The number of the first document of a level, among those of a ranking and length of name: the most downloaded first. */
export const firstOfLevel = (firstDocument: number, level: number): number =>
  firstDocument + (levels - 1 - level) * perLevel;

/** The level of the package that a search document is of. */
export const documentLevel = (id: number): number => levels - 1 - Math.floor((id % perLength) / perLevel);

/** So many documents of one level have a number. */
export const documentsPerLevel = perLevel;

/** The ranking of the repository that a search document is of. */
export const documentRanking = (id: number): number => Math.floor(id / firstDocumentId(1, 0));

/** The last segment, and those before it but the first, of an identifier such as com.example.newterm. */
const segmentTerms = (identifier: string): string[] => {
  const segments = identifier.split('.');
  const terms = new Set<string>();
  for (const segment of segments.length > 1 ? segments.slice(1) : segments) {
    const { words, pairs } = nameTerms(segment);
    for (const term of [...words, ...pairs]) terms.add(term);
  }
  return [...terms];
};

// No word holds it, so that the many documents with some word in their description are not in the way of names.
const wholeMark = '§';

/** The term of a whole name or identifier, from its words written together. */
export const wholeTerm = (joined: string): string => wholeMark + joined;

/** What is indexed of a package. */
export interface SearchedTexts {
  readonly identifier: string;
  readonly name: string | null;
  readonly author: string | null;
  /** Stands in where there is no author. */
  readonly maintainer: string | null;
  readonly description: string | null;
}

// What stands in angle brackets, each time up to the first that closes; a pattern would look for one from each that opens.
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

/** The terms of a package by which it is found, but for those of its description (see descriptionText). */
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
