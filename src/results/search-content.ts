// What the search index among the files holds of a package is words, and shows them too: its summary stands there once, for
// both. As a field of its own Pagefind would index it again, which takes a tenth of its time, its memory and its files.

const mark = '¶';

/** The text of a package in the search index: the words that it is found by, and the summary that is shown. */
export const composeContent = (words: readonly string[], summary: string): string =>
  [...words.map((word) => word.replaceAll(mark, ' ')), mark, summary].join(' ');

/** The summary in such a text, as Pagefind keeps it, with one blank between words. */
export const readSummary = (content: string): string => content.slice(content.indexOf(mark) + mark.length).trim();
