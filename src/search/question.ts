import { foldText, pastedPackage, splitParts, splitWords } from '../catalog/search-text.ts';

/** What was asked, as terms. Whatever the text held, it is words here and never syntax. */
export interface Question {
  /** The text without regard to case, diacritics and blanks around it. */
  readonly text: string;
  /** The words in the order typed, without those that others begin with. */
  readonly words: readonly string[];
  /**
   * What was typed with blanks between, as the words that each is made of: a version is several words, and so is what
   * belongs together ("iOS 14"). Empty where that is more than anybody types.
   */
  readonly parts: readonly (readonly string[])[];
  /** Whether it was written as one: where scripts have no blanks between words, each character is a word here. */
  readonly isUnspaced: boolean;
  /** All words written together. */
  readonly joined: string;
  /** Whether it looks like the beginning of an identifier: segments with dots between and no blanks. */
  readonly dotted: boolean;
}

// More words than anybody types; the rest would only make an expensive query of a pasted text.
const mostWords = 8;

// Words are beginnings, so one that another word begins with asks for nothing more.
const distinctWords = (words: readonly string[]): string[] =>
  [...new Set(words)].filter((word, _, all) => !all.some((other) => other !== word && other.startsWith(word)));

/** The question that a text asks; undefined where it holds no letter and no digit. */
export const parseQuestion = (text: string): Question | undefined => {
  const trimmed = pastedPackage(text) ?? text.trim();
  const words = splitWords(trimmed);
  if (words.length === 0) return undefined;
  return {
    text: foldText(trimmed),
    words: distinctWords(words.slice(0, mostWords)),
    // Few questions come to that.
    get parts() {
      return splitParts(trimmed);
    },
    isUnspaced: words.length > 1 && /^[^\p{L}\p{N}]*[\p{L}\p{N}]+[^\p{L}\p{N}]*$/u.test(foldText(trimmed)),
    joined: words.join(''),
    dotted: trimmed.includes('.') && !/\s/u.test(trimmed),
  };
};

/** The columns with words that stand in the description too. */
export const wordColumns = 'name segment author description';
/** The columns of names and identifiers and of whose they are. */
export const termColumns = 'name segment author';

const quote = (term: string): string => `"${term}"`;
const prefix = (term: string): string => `"${term}" *`;

/** FTS5 expression: this term, whole, in one of these columns. */
export const whole = (columns: string, term: string): string => `{${columns}} : ${quote(term)}`;

const all = (words: readonly string[]): string => words.map(prefix).join(' AND ');

// In halves, so that the expression grows little faster than the words: either half may lack one while the other has all.
const lackingOne = (words: readonly string[]): string => {
  if (words.length === 2) return words.map(prefix).join(' OR ');
  const half = Math.ceil(words.length / 2);
  const [first, second] = [words.slice(0, half), words.slice(half)];
  const lacking = (part: readonly string[], other: readonly string[]) =>
    part.length === 1 ? all(other) : `(${lackingOne(part)}) AND ${all(other)}`;
  return `(${lacking(first, second)}) OR (${lacking(second, first)})`;
};

/** FTS5 expression: each of two words or more but one, whichever that is, as the beginning of a term in these columns. */
export const allButOneWord = (columns: string, words: readonly string[]): string =>
  `{${columns}} : (${lackingOne(words)})`;

/** FTS5 expression: any of these terms, whole, in one of these columns. */
export const anyWhole = (columns: string, terms: readonly string[]): string =>
  `{${columns}} : (${terms.map(quote).join(' OR ')})`;

/** FTS5 expression: a term that begins so, in one of these columns. */
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
