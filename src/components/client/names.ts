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

/** The name, or word of a name, that is meant: the word itself if it is one. */
const meantBy = async (word: string): Promise<string | undefined> => {
  const { length } = word;
  const [same = [], ...others] = await Promise.all([length, length + 1, length - 1].map(listOf));
  if (same.includes(word)) return word;
  const near = [same, ...others].flat().filter((name) => isOneMistakeApart(name, word));
  // Few people mistype the first letter.
  return near.find((name) => name[0] === word[0]) ?? near[0];
};

/** A query after correcting one mistake in a name, or in each of its words; undefined if no correction is known. */
export const correct = async (text: string): Promise<string | undefined> => {
  const words = splitWords(text);
  const joined = words.join('');
  const whole = await meantBy(joined);
  if (whole !== undefined && whole !== joined) return whole;
  if (words.length < 2 || words.length > 8) return undefined;
  const mended = await Promise.all(words.map(meantBy));
  const spelt = words.map((word, index) => mended[index] ?? word).join(' ');
  return spelt === words.join(' ') ? undefined : spelt;
};
