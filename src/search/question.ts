import { foldText, splitWords } from '../catalog/search-text.ts';

/** What was asked, as terms. Whatever the text held, it is words here and never syntax. */
export interface Question {
  /** The text without regard to case, diacritics and blanks around it. */
  readonly text: string;
  /** The words in the order typed, without those that others begin with. */
  readonly words: readonly string[];
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
  const words = splitWords(text);
  if (words.length === 0) return undefined;
  const trimmed = text.trim();
  return {
    text: foldText(trimmed),
    words: distinctWords(words.slice(0, mostWords)),
    joined: words.join(''),
    dotted: trimmed.includes('.') && !/\s/u.test(trimmed),
  };
};

const quote = (term: string): string => `"${term}"`;
const prefix = (term: string): string => `"${term}" *`;

/** FTS5 expression: this term, whole, in one of these columns. */
export const whole = (columns: string, term: string): string => `{${columns}} : ${quote(term)}`;

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
