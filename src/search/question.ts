import { foldText, isUnbroken, pastedPackage, splitParts, splitWords } from '../catalog/search-text.ts';
import { mostWords } from '../contract/search-words.ts';

/** A query as terms. Whatever the text contains, these are words and never syntax. */
export interface Question {
  /** The text without regard to case, diacritics and surrounding blanks. */
  readonly text: string;
  /** The words in the order typed, without those that are the beginning of another. */
  readonly words: readonly string[];
  /**
   * The parts that were separated by blanks, each as a list of words. A version has several words; parts that belong
   * together ("iOS 14") are one part. Empty if there are more than anybody types.
   */
  readonly parts: readonly (readonly string[])[];
  /** Whether it is one word in a script without blanks, of which each character counts as a word here. */
  readonly isUnspaced: boolean;
  /** All words joined together. */
  readonly joined: string;
  /** Whether it looks like the beginning of an identifier: segments separated by dots, without blanks. */
  readonly dotted: boolean;
}

// Names in a script without blanks have more characters than that. Such a query costs less, because nothing looser is
// looked for.
const mostCharacters = 16;

// Words are searched as prefixes, so a word that another one begins with adds nothing.
const distinctWords = (words: readonly string[]): string[] =>
  [...new Set(words)].filter((word, _, all) => !all.some((other) => other !== word && other.startsWith(word)));

/** Parses a query; undefined if it has neither a letter nor a digit. */
export const parseQuestion = (text: string): Question | undefined => {
  const trimmed = pastedPackage(text) ?? text.trim();
  const words = splitWords(trimmed);
  if (words.length === 0) return undefined;
  const folded = foldText(trimmed);
  const isUnspaced = words.length > 1 && isUnbroken(trimmed);
  return {
    text: folded,
    words: distinctWords(words.slice(0, isUnspaced ? mostCharacters : mostWords)),
    // Computed on demand, because few queries need it.
    get parts() {
      return splitParts(trimmed);
    },
    isUnspaced,
    joined: words.join(''),
    dotted: trimmed.includes('.') && !/\s/u.test(trimmed),
  };
};

/** The columns with words, including the description. */
export const wordColumns = 'name segment author description';
/** The columns of names, identifiers and persons. */
export const termColumns = 'name segment author';

const quote = (term: string): string => `"${term}"`;
const prefix = (term: string): string => `"${term}" *`;

/** FTS5 expression: this whole term in one of these columns. */
export const whole = (columns: string, term: string): string => `{${columns}} : ${quote(term)}`;

const all = (words: readonly string[]): string => words.map(prefix).join(' AND ');

// Divided in halves, so that the expression grows only a little faster than the words: one half may lack a word while
// the other has all.
const lackingOne = (words: readonly string[]): string => {
  if (words.length === 2) return words.map(prefix).join(' OR ');
  const half = Math.ceil(words.length / 2);
  const [first, second] = [words.slice(0, half), words.slice(half)];
  const lacking = (part: readonly string[], other: readonly string[]) =>
    part.length === 1 ? all(other) : `(${lackingOne(part)}) AND ${all(other)}`;
  return `(${lacking(first, second)}) OR (${lacking(second, first)})`;
};

/** FTS5 expression: all of two or more words except any one, each as the beginning of a term in these columns. */
export const allButOneWord = (columns: string, words: readonly string[]): string =>
  `{${columns}} : (${lackingOne(words)})`;

/** FTS5 expression: any of these whole terms in one of these columns. */
export const anyWhole = (columns: string, terms: readonly string[]): string =>
  `{${columns}} : (${terms.map(quote).join(' OR ')})`;

/** FTS5 expression: a term with this beginning in one of these columns. */
export const beginning = (columns: string, term: string): string => `{${columns}} : ${prefix(term)}`;

/**
 * FTS5 expression: each word as the beginning of a term in one of these columns, or one of its corrections as a whole
 * term there.
 */
export const everyWord = (
  columns: string,
  words: readonly string[],
  corrections: readonly (readonly string[])[] = [],
): string => {
  const alternatives = words.map((word, index) =>
    [prefix(word), ...(corrections[index] ?? []).map(quote)].join(' OR '),
  );
  return `{${columns}} : (${alternatives.map((each) => `(${each})`).join(' AND ')})`;
};
