import type { FoundPackage } from './found.ts';

// What the search index among the files holds of a package is words, and shows them too: its summary stands there once, for
// both. As a field of its own Pagefind would index it again, which takes a tenth of its time, its memory and its files. All
// fields are indexed, so that what only shows would be found by too: it stands where the address of a result does, which
// takes a quarter off the memory of indexing.

const mark = '¶';

/** The text of a package in the search index: the words that it is found by, and the summary that is shown. */
export const composeContent = (words: readonly string[], summary: string): string =>
  [...words.map((word) => word.replaceAll(mark, ' ')), mark, summary].join(' ');

/** The summary in such a text, as Pagefind keeps it, with one blank between words. */
export const readSummary = (content: string): string => content.slice(content.indexOf(mark) + mark.length).trim();

/** What a row shows of a package and no word finds. */
type SearchCard = Pick<FoundPackage, 'version' | 'place' | 'kind' | 'icon' | 'paid' | 'architectures' | 'runs'>;

/** The address of a result in the search index, with what its row shows. */
export const composeTarget = (address: string, card: SearchCard): string => `${address}#${JSON.stringify(card)}`;

/** What a row shows, of such an address as it was given to Pagefind. */
export const readCard = (target: string): SearchCard => JSON.parse(target.slice(target.indexOf('#') + 1)) as SearchCard;
