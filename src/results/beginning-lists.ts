import type { RowCard } from './row.ts';
import { joinWords } from './words.ts';

const letters = 2;

/** Rows of packages whose names, or words of names, begin with the same two letters, the closest first. */
export type BeginningList = readonly RowCard[];

/** The first rows of the lists whose two letters begin with the same one, by the second letter; not of all of them. */
export type FirstRows = Readonly<Record<string, BeginningList>>;

/**
 * The lists of first suggestions, by the first two letters typed, beside the search index among the files. One small
 * file answers before the index is loaded, and before the function answers. Another, of the first letter, has the rows
 * that are shown for each second one: it is read while this is typed.
 */
export const beginningLists = {
  /** The most rows of a list: enough that most letters that follow are answered from it, in some kilobytes. */
  most: 30,
  /** How many rows of a list are shown. */
  shown: 7,
  /**
   * The most rows in the file of one letter: those for every Latin letter and digit that may follow. In other scripts,
   * and among names made to fill it, many more may follow.
   */
  mostFirst: 256,
  /** The letters at the beginning of a text that identify its list; undefined if there are fewer than two. */
  of: (text: string): string | undefined => {
    const first = [...joinWords(text)].slice(0, letters);
    return first.length < letters ? undefined : first.join('');
  },
  /** The letter at the beginning of a text that identifies the first rows; undefined if there is none. */
  letterOf: (text: string): string | undefined => [...joinWords(text)][0],
  /** Whether a list answers this text: exactly two letters. */
  answers: (text: string): boolean => [...joinWords(text)].length === letters && [...text.trim()].length === letters,
  /** The file of one letter or two. Letters are encoded as code points, because not every file host keeps letters as they are. */
  file: (beginning: string): string =>
    `search-index/beginnings/${[...beginning].map((letter) => letter.codePointAt(0)?.toString(16)).join('-')}.json`,
} as const;
