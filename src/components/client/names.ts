import { nameLists } from '../../results/name-lists.ts';
import { isOneMistakeApart, splitWords } from '../../results/words.ts';
import { addressOf } from './address.ts';

// The names of all packages and the words in them, which the build of the site lists by length: a word with one mistake
// is as long as the one that was meant, or a letter longer or shorter.

const lists = new Map<number, Promise<readonly string[]>>();

const readList = async (length: number): Promise<readonly string[]> => {
  if (length < nameLists.shortest || length > nameLists.longest) return [];
  const response = await fetch(addressOf(nameLists.file(length)));
  // No name is that long. A bucket that may not be listed refuses a missing file, and other hosts answer with a page.
  const isPage = response.headers.get('content-type')?.startsWith('text/html');
  if (isPage || [403, 404, 410].includes(response.status)) return [];
  if (!response.ok) throw new Error(`names: ${response.status}`);
  return (await response.json()) as string[];
};

const listOf = (length: number): Promise<readonly string[]> => {
  const known = lists.get(length);
  if (known !== undefined) return known;
  const list = readList(length);
  lists.set(length, list);
  list.catch(() => lists.delete(length));
  return list;
};

/** The names, or words of names, that may be meant, the best first: only the word itself if it is one. */
const meantBy = async (word: string): Promise<readonly string[]> => {
  const { length } = word;
  // A missing letter is the most frequent mistake.
  const [longer = [], same = [], shorter = []] = await Promise.all([length + 1, length, length - 1].map(listOf));
  if (same.includes(word)) return [word];
  const near = [...longer, ...same, ...shorter].filter((name) => isOneMistakeApart(name, word));
  // Few people mistype the first letter.
  return near.sort((a, b) => Number(b[0] === word[0]) - Number(a[0] === word[0]));
};

/** How many names are looked for that a typed one may be. Each needs a part of the index. */
const mostMeant = 8;

/**
 * What a query may mean after correcting one mistake in a name, or in each of its words, the best first; empty if no
 * correction is known.
 */
export const correct = async (text: string): Promise<readonly string[]> => {
  const words = splitWords(text);
  const joined = words.join('');
  const whole = (await meantBy(joined)).filter((name) => name !== joined);
  if (whole.length > 0) return whole.slice(0, mostMeant);
  if (words.length < 2 || words.length > 8) return [];
  const mended = await Promise.all(words.map(meantBy));
  const spelt = words.map((word, index) => mended[index]?.[0] ?? word).join(' ');
  return spelt === words.join(' ') ? [] : [spelt];
};

/** The shortest text that is looked for inside words, as in the API's search. */
const shortestInside = 4;
/** By how many letters a word may be longer than what is inside it. Each is a list to read. */
const mostAround = 5;

/** Words of names that have this text inside or at their end, the shortest first. */
export const containing = async (word: string): Promise<readonly string[]> => {
  if (word.length < shortestInside) return [];
  const longer = await Promise.all(Array.from({ length: mostAround }, (_, more) => listOf(word.length + 1 + more)));
  return longer
    .flat()
    .filter((name) => name.includes(word, 1))
    .slice(0, mostMeant);
};
