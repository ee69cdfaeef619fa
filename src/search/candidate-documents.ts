import { computeTerms, documentRanking } from '../catalog/search-document.ts';
import type { SearchedDocument, SearchReading } from '../catalog/search-reading.ts';
import { splitWords } from '../catalog/search-text.ts';
import type { Question } from './question.ts';

/** The numbers of search documents, by the class in which a query finds them; see PackageSearch. */
export interface Classified {
  readonly name: number[];
  readonly segment: number[];
  readonly author: number[];
  readonly description: number[];
}

/**
 * How many characters of descriptions are examined. A hundred packages have a tenth of that, but a stranger may write
 * more.
 */
const mostText = 2 ** 18;

/**
 * Decides by their texts in which class a query finds certain documents. For a few documents this is faster than having
 * the index intersect the many that contain a common word.
 */
export class Candidates {
  readonly #reading: SearchReading;

  constructor(reading: SearchReading) {
    this.#reading = reading;
  }

  /**
   * Keeps the documents that contain every word of the query as the beginning of one of theirs, in the given order,
   * except that within a ranking those with more of the words as whole words of their names come first. Matches in
   * descriptions are ordered by whether the words are together as in the query, then by how many are whole words, then
   * by how little else the description says, in words and in letters. Undefined if the texts are too long to be
   * examined.
   */
  classify(
    documents: readonly number[],
    { words, joined }: Pick<Question, 'words' | 'joined'>,
  ): Classified | undefined {
    const found: Classified = { name: [], segment: [], author: [], description: [] };
    const described: Described[] = [];
    const texts = this.#reading.texts(documents);
    if (texts.reduce((sum, { description }) => sum + (description?.length ?? 0), 0) > mostText) return undefined;
    for (const text of texts.length === 1 ? texts : closestFirst(texts, words)) {
      const { id } = text;
      const terms = computeTerms(text);
      const unnamed = without(words, terms.name);
      const missing = without(unnamed, terms.segment);
      const unknown = without(missing, terms.author);
      if (unnamed.length === 0) found.name.push(id);
      else if (missing.length === 0) found.segment.push(id);
      else if (unknown.length === 0) found.author.push(id);
      else {
        const written = splitWords(text.description ?? '');
        if (without(unknown, written).length === 0) described.push(describe(text, written, words, joined));
      }
    }
    found.description.push(...described.sort(compareDescribed).map(({ id }) => id));
    return found;
  }
}

const closestFirst = (documents: readonly SearchedDocument[], words: readonly string[]): SearchedDocument[] =>
  documents
    .map((document) => {
      const { id, identifier, name } = document;
      const written = new Set(splitWords(name ?? identifier));
      return { document, ranking: documentRanking(id), close: words.filter((word) => written.has(word)).length };
    })
    .sort((a, b) => a.ranking - b.ranking || b.close - a.close)
    .map(({ document }) => document);

// Short words of scripts with blanks ("for", "the") do not make a description less relevant.
const isTelling = (word: string): boolean => word.length > 3 || !/^[a-z]+$/.test(word);

/** How well a description matches. */
interface Described {
  readonly id: number;
  readonly ranking: number;
  readonly isTogether: boolean;
  readonly whole: number;
  /** How many different telling words it has. */
  readonly telling: number;
  /** How many characters its words have. */
  readonly length: number;
}

const describe = (
  { id }: SearchedDocument,
  written: readonly string[],
  words: readonly string[],
  joined: string,
): Described => {
  const all = new Set(written);
  const together = written.join('');
  return {
    id,
    ranking: documentRanking(id),
    isTogether: together.includes(joined),
    whole: words.filter((word) => all.has(word)).length,
    telling: [...all].filter(isTelling).length,
    length: together.length,
  };
};

const compareDescribed = (a: Described, b: Described): number =>
  a.ranking - b.ranking ||
  Number(b.isTogether) - Number(a.isTogether) ||
  b.whole - a.whole ||
  a.telling - b.telling ||
  a.length - b.length;

const without = (words: readonly string[], terms: readonly string[]): readonly string[] =>
  words.length === 0 ? words : words.filter((word) => !terms.some((term) => term.startsWith(word)));
