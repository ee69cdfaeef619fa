import type { WritableDatabase } from './database.ts';
import { wholeTerm } from './search-document.ts';
import type { SearchRow } from './search-row.ts';
import { SpellingWriter } from './spelling-writer.ts';
import { WordListWriter } from './word-list.ts';

/** The terms of a package's name and identifier. */
export type PackageWords = Pick<SearchRow, 'key' | 'words' | 'segment'>;

/** How many terms are gathered before they are written: some tens of megabytes. */
const mostKept = 2 ** 19;

/**
 * The words of all indexed packages, by which mistyped words are corrected and parts of words found. Each row contains
 * words of all repositories. So words are gathered for the whole build and written at its end; otherwise every row
 * would be read and written once for each repository.
 */
export class Vocabulary {
  readonly #database: WritableDatabase;
  readonly #spelling: SpellingWriter;
  readonly #wordList: WordListWriter;

  constructor(database: WritableDatabase) {
    this.#database = database;
    this.#spelling = new SpellingWriter(database);
    this.#wordList = new WordListWriter(database);
  }

  /** To be called before the words of another repository, because each may add a limited number. */
  beginRepository(): void {
    this.#wordList.beginRepository();
  }

  /** Adds the words of one package. */
  add({ key, words, segment }: PackageWords): void {
    for (const term of [key, ...words, ...segment]) this.#spelling.add(term);
    this.#wordList.add(words);
    this.#wordList.add(segment);
    if (this.#spelling.size >= mostKept) this.write();
  }

  /** Removes the names of vanished packages, unless others have the same. To be called when all is written. */
  forget(gone: Iterable<PackageWords>): void {
    const terms = new Set<string>();
    for (const { key, words, segment } of gone) for (const term of [key, ...words, ...segment]) terms.add(term);
    const isUsed = this.#prepareUse();
    const unused = [...terms].filter((term) => !isUsed(term));
    this.#spelling.remove(unused);
    this.#wordList.remove(unused);
  }

  #prepareUse(): (term: string) => boolean {
    const find = this.#database.prepare<[1]>('SELECT 1 FROM search WHERE search MATCH ? LIMIT 1');
    return (term) => find.get(`({key} : "${wholeTerm(term)}") OR ({name segment} : "${term}")`) !== undefined;
  }

  /** Writes the words that were gathered since the last write. To be called when all is indexed. */
  write(): void {
    this.#spelling.write();
    this.#wordList.write();
  }
}
