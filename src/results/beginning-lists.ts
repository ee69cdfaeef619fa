import type { RowCard } from './row.ts';
import { joinWords } from './words.ts';

const letters = 2;

/** Rows of packages whose names, or words of names, begin with the same two letters: the closest first. */
export type BeginningList = readonly RowCard[];

/**
 * Where the first suggestions are listed, by the two letters that are typed for them, beside the index that is among the
 * files: what those letters begin is found in one small file, before the index is loaded.
 */
export const beginningLists = {
  /** The most rows of a list: as many as are suggested. */
  most: 7,
  /** The letters with which a text begins, as lists are told apart by; undefined for less than two. */
  of: (text: string): string | undefined => {
    const first = [...joinWords(text)].slice(0, letters);
    return first.length < letters ? undefined : first.join('');
  },
  /** Whether a list answers this text: one of two letters and nothing else. */
  answers: (text: string): boolean => [...joinWords(text)].length === letters && [...text.trim()].length === letters,
  /** Its letters by their code points: not every host of files keeps letters as they are. */
  file: (beginning: string): string =>
    `pagefind/beginnings/${[...beginning].map((letter) => letter.codePointAt(0)?.toString(16)).join('-')}.json`,
} as const;
