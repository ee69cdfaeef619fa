import { joinWords, splitWords } from '../catalog/search-text.ts';
import { isOneMistakeApart } from '../catalog/spelling.ts';
import { type FoundPackage, termsOf } from './found.ts';

/**
 * How what was found fits a question: as it was asked, by another spelling that was `meant`, or in part. The index answers
 * a mistyped question without saying so, and those who read the answer should know.
 */
export type Fit =
  | { readonly kind: 'asked' }
  | { readonly kind: 'corrected'; readonly meant: string }
  | { readonly kind: 'part' };

type Known = Pick<FoundPackage, 'id' | 'name' | 'said' | 'isPart'>;

const asked: Fit = { kind: 'asked' };

/**
 * So many of the first results are looked at. What fits as it was asked comes first, and in another order it is among them
 * too: beside it never stand more than four of another spelling (package-search.ts).
 */
const mostRead = 5;

const closest = (terms: ReadonlySet<string>, word: string): string | undefined =>
  [...terms].find((term) => isOneMistakeApart(term, word));

const fitOf = (words: readonly string[], one: Known): Fit => {
  const terms = termsOf(one);
  const begins = (word: string) => [...terms].some((term) => term.startsWith(word));
  const joined = words.join('');
  if (words.every(begins) || begins(joined)) return asked;
  if (isOneMistakeApart(joinWords(one.name), joined)) return { kind: 'corrected', meant: one.name };
  const names = termsOf({ ...one, said: '' });
  const corrected = words.map((word) => (begins(word) ? word : closest(names, word)));
  if (corrected.every((word) => word !== undefined)) return { kind: 'corrected', meant: corrected.join(' ') };
  // The index found it otherwise: inside a word, or by what is told of it no further.
  return asked;
};

/**
 * How the first results of a question fit it, of which the index says itself what has a part of it; nothing found fits as
 * it was asked.
 */
export const readFit = (question: string, found: readonly Known[]): Fit => {
  const words = splitWords(question);
  if (words.length === 0) return asked;
  if (found[0]?.isPart) return { kind: 'part' };
  const fits = found.slice(0, mostRead).map((one) => fitOf(words, one));
  return fits.find(({ kind }) => kind === 'asked') ?? fits[0] ?? asked;
};
