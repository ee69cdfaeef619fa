import { wholeTerm } from '../catalog/search-document.ts';
import type { SearchReading } from '../catalog/search-reading.ts';
import { shortestInside } from '../catalog/word-list.ts';
import { allButOneWord, anyWhole, beginning, everyWord, type Question, termColumns, wordColumns } from './question.ts';

/** How many words that contain a query are considered: the shortest ones, of which the query is the largest part. */
const mostWithInside = 64;

/**
 * Up to this many matches for a part of a query are compared by number. It is the same for each page, so that the order
 * is, too.
 */
const manyFound = 32;

/**
 * If there are more ways to leave out a word, they are searched together and only ranked, because each costs a query.
 */
const mostApart = 3;

/**
 * The classes of documents that follow if few contain all words of a query (decisions, section 4): first those with the
 * single word of a query inside a word, then those that match all words but one. Each class has its first `wanted`
 * documents, and may repeat those of other classes.
 */
export function* looserAnswers(
  reading: SearchReading,
  question: Question,
  wanted: number,
): Generator<readonly number[]> {
  const { words, isUnspaced } = question;
  const [word = ''] = words;
  // Characters of a script without blanks are no words that could be left out.
  if (isUnspaced) return;
  if (words.length > 1) yield* allButOne(reading, question, wanted);
  else if (word.length >= shortestInside) {
    const longer = reading.wordsWithInside(word, mostWithInside);
    if (longer.length > 0) yield reading.match(anyWhole('name segment', longer), wanted);
  }
}

/**
 * First documents whose name is the other words, then matches in names, identifiers and persons, then in descriptions.
 */
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

// That a name has a word beginning with some letter means nothing, and names with several such words take long to find.
const isLetter = (word: string): boolean => /^[a-z\d]$/.test(word);

// A version, also of iOS, or "tweak for".
const isBeside = (part: readonly string[]): boolean =>
  part.length > 1 && (/^v?\d/.test(part[0] ?? '') || part.includes('ios') || part.at(-1) === 'for');

/** The query without each part that has several words and only qualifies a name. */
const restsOfParts = (parts: Question['parts']): (readonly string[])[] =>
  parts
    .filter(isBeside)
    .map((part) => parts.filter((other) => other !== part).flat())
    .filter((rest) => !rest.every(isLetter));

/** The words without each of them in turn, except for variants with a word that occurs nowhere. */
const restsOf = (reading: SearchReading, words: readonly string[]): (readonly string[])[] => {
  const without = (left: string) => words.filter((word) => word !== left);
  // Leaving out less is better. With two words, each is searched alone, which shows whether it is known. A single
  // letter or digit is not searched: "snapper 2" does not ask for everything called 2.
  if (words.length === 2) {
    const shortestFirst = words.toSorted((a, b) => a.length - b.length);
    return shortestFirst.map(without).filter((rest) => !rest.every(isLetter));
  }
  const unknown = words.filter((word) => reading.match(beginning(wordColumns, word), 1).length === 0);
  if (unknown.length > 1) return [];
  return (unknown.length === 1 ? unknown : words.toSorted((a, b) => a.length - b.length)).map(without);
};

// A rarer word is more specific.
const rarestFirst = (lists: readonly (readonly number[])[]): (readonly number[])[] =>
  lists.toSorted((a, b) => Math.min(a.length, manyFound) - Math.min(b.length, manyFound));
