import { foldText, isUnbroken, joinWords, pastedPackage, splitWords } from '../catalog/search-text.ts';
import { isOneMistakeApart } from '../catalog/spelling.ts';
import { mostWords } from '../contract/search-words.ts';
import { type FoundPackage, termsOf } from './found.ts';

/**
 * How results match a query: as asked, with another spelling that was `meant`, in part, or `cut` to its first words.
 * The index answers a mistyped query, and one of very many words, without saying so, but readers should know.
 */
export type Fit =
  | { readonly kind: 'asked' }
  | { readonly kind: 'corrected'; readonly meant: string }
  | { readonly kind: 'part' }
  | { readonly kind: 'cut' };

type Known = Pick<FoundPackage, 'id' | 'name' | 'said' | 'isPart'>;

const asked: Fit = { kind: 'asked' };

/**
 * How many of the first results are examined. Results that match as asked come first. In another order they are still
 * among these, because at most four with another spelling accompany them (package-search.ts).
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
  // The index found it in another way: inside a word, or by text that is not known here.
  return asked;
};

/** Whether a text begins the identifier of any of these, of which all words count. */
const isIdentifier = (text: string, found: readonly Known[]): boolean => {
  const beginning = foldText(text.trim());
  return found.some(({ id }) => foldText(id).startsWith(beginning));
};

/**
 * How the first results of a query match it. The index itself marks partial matches. Without results the answer is "as
 * asked".
 */
export const readFit = (question: string, found: readonly Known[]): Fit => {
  const text = pastedPackage(question) ?? question;
  const words = splitWords(text);
  if (words.length === 0) return asked;
  // Each character of a script without blanks is a word, and of a long one more of them count.
  if (found.length > 0 && words.length > mostWords && !isUnbroken(text) && !isIdentifier(text, found))
    return { kind: 'cut' };
  if (found[0]?.isPart) return { kind: 'part' };
  // What matches in part is marked as such, and says nothing about how the others match.
  const whole = found.filter(({ isPart }) => !isPart).slice(0, mostRead);
  const fits = whole.map((one) => fitOf(words, one));
  return fits.find(({ kind }) => kind === 'asked') ?? fits[0] ?? asked;
};
