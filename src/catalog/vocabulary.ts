import type { WritableDatabase } from './database.ts';
import { wholeTerm } from './search-document.ts';
import type { SearchRow } from './search-row.ts';
import { SpellingWriter } from './spelling-writer.ts';
import { WordListWriter } from './word-list.ts';

/** What a package is called, in terms. */
export type PackageWords = Pick<SearchRow, 'key' | 'words' | 'segment'>;

/** So many terms are kept before they are written: some tens of megabytes. */
const mostKept = 2 ** 19;

/**
 * The words of all that is indexed: those against which mistakes are corrected, and those inside of which is searched. A
 * row of either has words of every repository. So those of a whole build are gathered and written at its end: written for
 * each repository, every row would be read and written as often as there are repositories.
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

  /** To be called before words of another repository are added: each may have a bounded number of them. */
  beginRepository(): void {
    this.#wordList.beginRepository();
  }

  /** Takes the words of one package. */
  add({ key, words, segment }: PackageWords): void {
    for (const term of [key, ...words, ...segment]) this.#spelling.add(term);
    this.#wordList.add(words);
    this.#wordList.add(segment);
    if (this.#spelling.size >= mostKept) this.write();
  }

  /** Takes out what packages are called that are gone, so far as no other is called so; to be called when all is written. */
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

  /** Writes what was taken since it last did; to be called when all is indexed. */
  write(): void {
    this.#spelling.write();
    this.#wordList.write();
  }
}
