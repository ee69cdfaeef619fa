import { bucketOf } from './buckets.ts';
import type { CatalogDatabase, WritableDatabase } from './database.ts';

// The words of names and identifiers, to find those that contain a query: "nowbo" in snowboard. Each word is stored
// under every sequence of four letters after its first letter, so a query reads only the words with its rarest four
// letters, however many others there are.

/** The shortest text that is looked for inside words. A word that contains it is longer. */
export const shortestInside = 4;
const longestWord = 64;

/**
 * How many words one package and one repository may add, because every query that finds little reads what strangers
 * wrote.
 */
const mostOfPackage = 16;
const mostOfRepository = 65_536;

/** How many words are kept under the same four letters: the shortest ones. This limits what one query reads. */
const mostTogether = 8192;

export const wordListTables = `
  CREATE TABLE word_list (        -- for the build: which words are known
    beginning TEXT PRIMARY KEY,   -- the first two letters
    words TEXT NOT NULL           -- all words that begin so, in order, one per line
  ) WITHOUT ROWID;
  CREATE TABLE inner_word (
    bucket INTEGER PRIMARY KEY,   -- of four letters
    size INTEGER NOT NULL,        -- how many words there are
    words TEXT NOT NULL           -- those that have four letters of this bucket behind their first, the shortest first, each with a line end before and behind it
  );
`;

const beginningOf = (word: string): string => word.slice(0, 2);

/** The buckets of all sequences of four letters in a text, from this position on. */
const bucketsFrom = (text: string, start: number): Set<number> => {
  const found = new Set<number>();
  for (let at = start; at + shortestInside <= text.length; at++)
    found.add(bucketOf(text.slice(at, at + shortestInside)));
  return found;
};

const shortestFirst = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : 1);

/** The lines of a text with a line end before and after each. */
const linesOf = (text: string): string[] => text.slice(1, -1).split('\n');
const asLines = (words: readonly string[]): string => `\n${words.join('\n')}\n`;

/** Gathers words and writes the new ones, in the order of the tables. */
export class WordListWriter {
  readonly #read;
  readonly #write;
  readonly #readInner;
  readonly #writeInner;
  readonly #delete;
  readonly #deleteInner;
  /** The words of the current repository. */
  #own = new Set<string>();
  readonly #gathered = new Set<string>();

  constructor(database: WritableDatabase) {
    this.#read = database.prepare<[string]>('SELECT words FROM word_list WHERE beginning = ?');
    this.#write = database.prepareWrite('INSERT OR REPLACE INTO word_list (beginning, words) VALUES (?, ?)');
    this.#readInner = database.prepare<[string]>('SELECT words FROM inner_word WHERE bucket = ?');
    this.#writeInner = database.prepareWrite(
      'INSERT OR REPLACE INTO inner_word (bucket, size, words) VALUES (?, ?, ?)',
    );
    this.#delete = database.prepareWrite('DELETE FROM word_list WHERE beginning = ?');
    this.#deleteInner = database.prepareWrite('DELETE FROM inner_word WHERE bucket = ?');
  }

  /** To be called before the words of another repository. */
  beginRepository(): void {
    this.#own = new Set();
  }

  /** Adds the words of one package. */
  add(words: Iterable<string>): void {
    let taken = 0;
    for (const word of words) {
      if (word.length <= shortestInside || word.length > longestWord) continue;
      if (++taken > mostOfPackage || this.#own.size === mostOfRepository) return;
      this.#own.add(word);
      this.#gathered.add(word);
    }
  }

  /** Writes the words that were gathered since the last write. */
  write(): void {
    const added: string[] = [];
    for (const [beginning, words] of byBeginning(this.#gathered)) {
      const known = new Set(this.#read.get(beginning)?.[0].split('\n'));
      const unknown = words.filter((word) => !known.has(word));
      if (unknown.length === 0) continue;
      this.#write.run(beginning, [...known, ...unknown].sort().join('\n'));
      for (const word of unknown) added.push(word);
    }
    this.#gathered.clear();
    this.#writeInside(added);
  }

  /**
   * Removes words that nothing is called by any more. If some were left out because too many shared four letters, they
   * stay left out.
   */
  remove(words: Iterable<string>): void {
    const removed: string[] = [];
    for (const [beginning, gone] of byBeginning(words)) {
      const known = new Set(this.#read.get(beginning)?.[0].split('\n'));
      const found = gone.filter((word) => known.delete(word));
      if (found.length === 0) continue;
      if (known.size === 0) this.#delete.run(beginning);
      else this.#write.run(beginning, [...known].join('\n'));
      removed.push(...found);
    }
    for (const [bucket, gone] of byBucket(removed)) {
      const known = linesOf(this.#readInner.get(bucket)?.[0] ?? '');
      const isGone = new Set(gone);
      const kept = known.filter((word) => !isGone.has(word));
      if (kept.length === 0) this.#deleteInner.run(bucket);
      else if (kept.length < known.length) this.#writeInner.run(bucket, kept.length, asLines(kept));
    }
  }

  #writeInside(added: readonly string[]): void {
    for (const [bucket, words] of byBucket(added)) {
      const known = this.#readInner.get(bucket)?.[0];
      const all = known === undefined ? words : linesOf(known).concat(words);
      const kept = all.sort(shortestFirst).slice(0, mostTogether);
      this.#writeInner.run(bucket, kept.length, asLines(kept));
    }
  }
}

/** Words by their first two letters, in the order of these. */
const byBeginning = (words: Iterable<string>): [beginning: string, words: string[]][] =>
  [...Map.groupBy(words, beginningOf)].sort(([a], [b]) => (a < b ? -1 : 1));

/** Words by the buckets that they belong to, in the order of these. */
const byBucket = (words: readonly string[]): [bucket: number, words: string[]][] => {
  const found = new Map<number, string[]>();
  for (const word of words) {
    for (const bucket of bucketsFrom(word, 1)) {
      const known = found.get(bucket);
      if (known === undefined) found.set(bucket, [word]);
      else known.push(word);
    }
  }
  return [...found].sort(([a], [b]) => a - b);
};

/** The words that contain a text, but not at their beginning: at most `most`, the shortest first. */
export type WordsWithInside = (text: string, most: number) => string[];

/** Prepares the search for words that contain a text. */
export const prepareWordsWithInside = (database: CatalogDatabase): WordsWithInside => {
  const sizes = database.prepare<[bucket: number, size: number]>(
    'SELECT bucket, size FROM json_each(?) AS wanted CROSS JOIN inner_word ON bucket = wanted.value',
  );
  const words = database.prepare<[words: string]>('SELECT words FROM inner_word WHERE bucket = ?');
  return (text, most) => {
    if (text.length < shortestInside || text.length >= longestWord) return [];
    const buckets = bucketsFrom(text, 0);
    const known = sizes.all(JSON.stringify([...buckets]));
    const [first, ...others] = known;
    if (first === undefined || known.length < buckets.size) return [];
    const [rarest] = others.reduce((least, each) => (each[1] < least[1] ? each : least), first);
    return linesWithInside(words.get(rarest)?.[0] ?? '', text, most);
  };
};

const linesWithInside = (lines: string, text: string, most: number): string[] => {
  const found: string[] = [];
  let at = lines.indexOf(text);
  while (at >= 0 && found.length < most) {
    const end = lines.indexOf('\n', at);
    const start = lines.lastIndexOf('\n', at) + 1;
    if (at > start) found.push(lines.slice(start, end));
    at = lines.indexOf(text, end);
  }
  return found;
};
