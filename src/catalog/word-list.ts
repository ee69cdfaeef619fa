import type { CatalogDatabase, WritableDatabase } from './database.ts';

// The words of names and identifiers, so that those are found inside of which a question stands: "nowbo" of snowboard. An
// index of every three letters of each package would be ten times the size of this list and take longer to write; to go
// through the list takes less than a millisecond, since it holds each word once.

/** The shortest text that is looked for inside words; a word that has it inside is longer. */
export const shortestInside = 4;
const longestWord = 64;

/**
 * What one package and one repository may add: what strangers write is gone through by every question that little else
 * fits.
 */
const mostOfPackage = 16;
const mostOfRepository = 65_536;

export const wordListTable = `
  CREATE TABLE word_list (
    beginning TEXT PRIMARY KEY,   -- the first two letters
    words TEXT NOT NULL           -- all words that begin so, in order, one per line
  ) WITHOUT ROWID;
`;

const beginningOf = (word: string): string => word.slice(0, 2);

/**
 * Gathers words and writes those that are new, in the order of the table. Words stay when their packages go; they then
 * find nothing.
 */
export class WordListWriter {
  readonly #read;
  readonly #write;
  /** Of the repository that was begun last. */
  #own = new Set<string>();
  readonly #gathered = new Set<string>();

  constructor(database: WritableDatabase) {
    this.#read = database.prepare<[string]>('SELECT words FROM word_list WHERE beginning = ?');
    this.#write = database.prepareWrite('INSERT OR REPLACE INTO word_list (beginning, words) VALUES (?, ?)');
  }

  /** To be called before words of another repository are added. */
  beginRepository(): void {
    this.#own = new Set();
  }

  /** Takes the words of one package. */
  add(words: Iterable<string>): void {
    let taken = 0;
    for (const word of words) {
      if (word.length <= shortestInside || word.length > longestWord) continue;
      if (++taken > mostOfPackage || this.#own.size === mostOfRepository) return;
      this.#own.add(word);
      this.#gathered.add(word);
    }
  }

  /** Writes what was gathered since it last did. */
  write(): void {
    const groups = Map.groupBy(this.#gathered, beginningOf);
    for (const [beginning, words] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const known = this.#read.get(beginning)?.[0].split('\n') ?? [];
      const all = new Set([...known, ...words]);
      if (all.size > known.length) this.#write.run(beginning, [...all].sort().join('\n'));
    }
    this.#gathered.clear();
  }
}

/** All words, one per line, with a line end before the first and after the last. */
export const readWordList = (database: CatalogDatabase): string =>
  `\n${database.prepare<[words: string]>('SELECT words FROM word_list ORDER BY beginning').all().flat().join('\n')}\n`;

// Of more words the shortest are not looked for.
const mostSorted = 1024;

/**
 * The words of such a list that have this text inside and not at their beginning, the `most` shortest of them. Takes time
 * in proportion to the length of the list.
 */
export const wordsWithInside = (list: string, text: string, most: number): string[] => {
  const found: string[] = [];
  let at = list.indexOf(text);
  while (at >= 0 && found.length < mostSorted) {
    const end = list.indexOf('\n', at);
    const start = list.lastIndexOf('\n', at) + 1;
    if (at > start) found.push(list.slice(start, end));
    at = list.indexOf(text, end);
  }
  return found.sort((a, b) => a.length - b.length).slice(0, most);
};
