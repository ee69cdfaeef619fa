import { wholeTerm } from '../catalog/search-document.ts';
import type { SearchReading } from '../catalog/search-reading.ts';
import { shortestInside } from '../catalog/word-list.ts';
import { allButOneWord, anyWhole, beginning, everyWord, type Question, termColumns, wordColumns } from './question.ts';

/** Of more words in which a question stands, the shortest are asked for: it is the greater part of them. */
const mostWithInside = 64;

/** What is found by a part of a question is told apart by its number up to so many; the same for each page, as the order is. */
const manyFound = 32;

/** More rests than these are asked for at once and told apart by their ranking alone: each of them costs a question. */
const mostApart = 3;

/**
 * The classes of documents that follow where few hold all words of a question (decisions, section 7): first those that
 * hold a question of one word inside a word, then those that all words but one fit. Each class has its first `wanted`
 * documents and may repeat what others have.
 */
export function* looserAnswers(
  reading: SearchReading,
  question: Question,
  wanted: number,
): Generator<readonly number[]> {
  const { words, isUnspaced } = question;
  const [word = ''] = words;
  // Characters that stand together are no words that one could do without.
  if (isUnspaced) return;
  if (words.length > 1) yield* allButOne(reading, question, wanted);
  else if (word.length >= shortestInside) {
    const longer = reading.wordsWithInside(word, mostWithInside);
    if (longer.length > 0) yield reading.match(anyWhole('name segment', longer), wanted);
  }
}

/** First what is called as the other words are, then where names, identifiers and persons hold them, then descriptions. */
function* allButOne(reading: SearchReading, { words, parts }: Question, wanted: number): Generator<readonly number[]> {
  const rests = restsOf(reading, words);
  for (const some of [rests, restsOfParts(parts)]) {
    const names = some.map((rest) => wholeTerm(rest.join('')));
    if (names.length > 0) yield reading.match(anyWhole('key identifier', names), wanted);
  }
  if (rests.length === 0) return;
  for (const columns of [termColumns, wordColumns]) {
    if (rests.length <= mostApart) {
      yield* rarestFirst(rests.map((rest) => reading.match(everyWord(columns, rest), Math.max(wanted, manyFound))));
    } else if (columns === wordColumns || !words.some(isLetter)) {
      yield reading.match(allButOneWord(columns, words), wanted);
    }
  }
}

// Names of many a word beginning with a letter are no sign of anything, and the few with many of them take long to find.
const isLetter = (word: string): boolean => /^[a-z\d]$/.test(word);

// A version, that of iOS too, or "tweak for".
const isBeside = (part: readonly string[]): boolean =>
  part.length > 1 && (/^v?\d/.test(part[0] ?? '') || part.includes('ios') || part.at(-1) === 'for');

/** What was typed without each part that is several words and stands beside a name. */
const restsOfParts = (parts: Question['parts']): (readonly string[])[] =>
  parts
    .filter(isBeside)
    .map((part) => parts.filter((other) => other !== part).flat())
    .filter((rest) => !rest.every(isLetter));

/** The words without each of them in turn, but for those rests of which a word stands nowhere. */
const restsOf = (reading: SearchReading, words: readonly string[]): (readonly string[])[] => {
  const without = (left: string) => words.filter((word) => word !== left);
  // The less is left out the better. Of two words each is asked for by itself, which tells whether it is known; a letter
  // or digit by itself asks for nothing: "snapper 2" is no question for all that is called 2.
  if (words.length === 2) {
    const shortestFirst = words.toSorted((a, b) => a.length - b.length);
    return shortestFirst.map(without).filter((rest) => !rest.every(isLetter));
  }
  const unknown = words.filter((word) => reading.match(beginning(wordColumns, word), 1).length === 0);
  if (unknown.length > 1) return [];
  return (unknown.length === 1 ? unknown : words.toSorted((a, b) => a.length - b.length)).map(without);
};

// What is found less often says more.
const rarestFirst = (lists: readonly (readonly number[])[]): (readonly number[])[] =>
  lists.toSorted((a, b) => Math.min(a.length, manyFound) - Math.min(b.length, manyFound));
