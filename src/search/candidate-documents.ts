import { computeTerms, documentRanking } from '../catalog/search-document.ts';
import type { SearchedDocument, SearchReading } from '../catalog/search-reading.ts';
import { splitWords } from '../catalog/search-text.ts';
import type { Question } from './question.ts';

/** The numbers of search documents by the class in which a question finds them; see PackageSearch. */
export interface Classified {
  readonly name: number[];
  readonly segment: number[];
  readonly author: number[];
  readonly description: number[];
}

/** Characters of descriptions that are looked at: a hundred packages say a tenth of it, and a stranger may write more. */
const mostText = 2 ** 18;

/**
 * Decides by their texts in which class a question finds some documents. For a few documents that takes less time than
 * having the index join the many that hold a common word.
 */
export class Candidates {
  readonly #reading: SearchReading;

  constructor(reading: SearchReading) {
    this.#reading = reading;
  }

  /**
   * Those of the documents that hold every word as the beginning of one of theirs, in the order given, but of one
   * ranking those first in whose names more of the words stand by themselves. Of those that hold them in their
   * descriptions come first which hold the words together as they were asked, then more of them by themselves, then which
   * say the least besides, in words and in letters. Undefined where they are too long to be looked at.
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

// Short words of spaced scripts ("for", "the") make a description no less about what was asked.
const isTelling = (word: string): boolean => word.length > 3 || !/^[a-z]+$/.test(word);

/** How closely a description fits. */
interface Described {
  readonly id: number;
  readonly ranking: number;
  readonly isTogether: boolean;
  readonly whole: number;
  /** The number of different words that tell of it. */
  readonly telling: number;
  /** The number of characters in words. */
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
