import type { WritableDatabase } from './database.ts';
import type { SearchRow } from './search-row.ts';
import { SpellingWriter } from './spelling-writer.ts';
import { WordListWriter } from './word-list.ts';

/** So many terms are kept before they are written: some tens of megabytes. */
const mostKept = 2 ** 19;

/**
 * The words of all that is indexed: those against which mistakes are corrected, and those inside of which is searched. A
 * row of either has words of every repository. So those of a whole build are gathered and written at its end: written for
 * each repository, every row would be read and written as often as there are repositories.
 */
export class Vocabulary {
  readonly #spelling: SpellingWriter;
  readonly #wordList: WordListWriter;

  constructor(database: WritableDatabase) {
    this.#spelling = new SpellingWriter(database);
    this.#wordList = new WordListWriter(database);
  }

  /** To be called before words of another repository are added: each may have a bounded number of them. */
  beginRepository(): void {
    this.#wordList.beginRepository();
  }

  /** Takes the words of one package. */
  add({ key, words, segment }: Pick<SearchRow, 'key' | 'words' | 'segment'>): void {
    for (const term of [key, ...words, ...segment]) this.#spelling.add(term);
    this.#wordList.add(words);
    this.#wordList.add(segment);
    if (this.#spelling.size >= mostKept) this.write();
  }

  /** Writes what was taken since it last did; to be called when all is indexed. */
  write(): void {
    this.#spelling.write();
    this.#wordList.write();
  }
}
