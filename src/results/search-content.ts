import type { FoundPackage } from './found.ts';

// The content of a package in the search index among the files contains its words and, once for searching and showing,
// its summary. In a field of its own, Pagefind would index the summary again, which takes a tenth of its time, memory
// and files. All fields are indexed, so data that is only shown is stored in the address of a result instead, which
// saves a quarter of the memory of indexing.

const mark = '¶';

/** The text of a package in the search index: the words that find it, and the summary that is shown. */
export const composeContent = (words: readonly string[], summary: string): string =>
  [...words.map((word) => word.replaceAll(mark, ' ')), mark, summary].join(' ');

/** The summary in such a text. Pagefind keeps one blank between words. */
export const readSummary = (content: string): string => content.slice(content.indexOf(mark) + mark.length).trim();

/** What a row shows of a package and no word finds. */
type SearchCard = Pick<
  FoundPackage,
  'version' | 'place' | 'kind' | 'icon' | 'paid' | 'architectures' | 'runs' | 'trouble'
>;

/** The address of a result in the search index, with the data of its row. */
export const composeTarget = (address: string, card: SearchCard): string => `${address}#${JSON.stringify(card)}`;

/** The data of a row, from such an address as Pagefind received it. */
export const readCard = (target: string): SearchCard => JSON.parse(target.slice(target.indexOf('#') + 1)) as SearchCard;
