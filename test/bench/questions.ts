import type { SearchedRecord } from './bench-records.ts';
import { createRandom, shuffle } from './statistics.ts';

/** The words of a text, in lower case. */
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

const letters = 'abcdefghijklmnopqrstuvwxyz';

const randomLetter = (random: () => number): string => letters[Math.floor(random() * letters.length)] ?? 'a';

type Mistake = (word: string, random: () => number) => string;

/** The four typing mistakes. Each changes the spelling of a word, or returns it unchanged if that is impossible. */
export const mistakes: Readonly<Record<string, Mistake>> = {
  missing: (word, random) => {
    const at = Math.floor(random() * word.length);
    return word.slice(0, at) + word.slice(at + 1);
  },
  transposed: (word, random) => {
    const at = Math.floor(random() * (word.length - 1));
    return word.slice(0, at) + word.slice(at + 1, at + 2) + word.slice(at, at + 1) + word.slice(at + 2);
  },
  replaced: (word, random) => {
    const at = Math.floor(random() * word.length);
    return word.slice(0, at) + randomLetter(random) + word.slice(at + 1);
  },
  doubled: (word, random) => {
    const at = Math.floor(random() * word.length);
    return word.slice(0, at + 1) + word.slice(at);
  },
};

/** The length of the shortest words in which a mistake should be tolerated. */
const shortestForgiven = 5;

/** The text with a mistake in one of its longer words; undefined if it has none. */
export const withMistake = (text: string, kind: string, random: () => number): string | undefined => {
  const words: string[] = text.toLowerCase().match(/\p{L}+|[^\p{L}]+/gu) ?? [];
  const places = [...words.keys()].filter((index) => {
    const word = words[index] ?? '';
    return /^\p{L}+$/u.test(word) && word.length >= shortestForgiven;
  });
  const place = places[Math.floor(random() * places.length)];
  if (place === undefined) return undefined;
  const word = words[place] ?? '';
  const wrong = mistakes[kind]?.(word, random) ?? word;
  return wrong === word ? undefined : words.with(place, wrong).join('');
};

// The most common beginnings of names: the broadest questions, and the first that anybody types.
const commonBeginnings = (records: readonly SearchedRecord[], length: number, most: number): string[] => {
  const counts = new Map<string, number>();
  for (const { name } of records) {
    const beginning = name.slice(0, length).toLowerCase();
    if (/^[\p{L}\p{N}]+$/u.test(beginning) && beginning.length === length) {
      counts.set(beginning, (counts.get(beginning) ?? 0) + 1);
    }
  }
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, most)
    .map(([beginning]) => beginning);
};

/** What the questions consist of, for readers of the report. */
export const questionMix =
  'the 125 commonest beginnings of names with 2 letters and with 3, 75 names’ single words, 75 pairs of words, ' +
  '50 misses, 50 words with a mistake';

/** 500 questions, the same in every run: see `questionMix`. */
export const composeQuestions = (records: readonly SearchedRecord[]): string[] => {
  const random = createRandom(2);
  const sample = shuffle(records, random);
  const take = (most: number, make: (record: SearchedRecord) => string | undefined): string[] => {
    const taken = new Set<string>();
    for (const record of sample) {
      const question = make(record);
      if (question !== undefined) taken.add(question);
      if (taken.size === most) break;
    }
    return [...taken];
  };
  const pick = (words: readonly string[]) => words[Math.floor(random() * words.length)];
  const longWord = ({ name }: SearchedRecord) => pick(wordsOf(name).filter((word) => word.length > 3));
  const questions = [
    ...commonBeginnings(records, 2, 125),
    ...commonBeginnings(records, 3, 125),
    ...take(75, longWord),
    ...take(75, ({ name }) => {
      const words = wordsOf(name);
      return words.length < 2 ? undefined : shuffle(words, random).slice(0, 2).join(' ');
    }),
    ...take(50, () => Array.from({ length: 5 + Math.floor(random() * 5) }, () => randomLetter(random)).join('')),
    ...take(50, (record) => {
      const word = pick(wordsOf(record.name).filter((each) => each.length > shortestForgiven));
      return word === undefined ? undefined : withMistake(word, pick(Object.keys(mistakes)) ?? '', random);
    }),
  ];
  return shuffle(questions, random);
};
