import type { WritableDatabase } from './database.ts';
import { composeSearchRow, insertSearchRow } from './search-row.ts';
import { Vocabulary } from './vocabulary.ts';

/**
 * A record to be indexed: the number of its document, its text, which is complete except for the value of its last key,
 * and its details.
 */
export type IndexedRecord = readonly [document: number, json: string, details: string | null];

/** Receives what is to be indexed. */
export interface SearchSink {
  /** To be called before the records of another repository. */
  beginRepository(): void;
  /**
   * Receives records, in the order of their documents' numbers. If it returns a promise, that has to be awaited before
   * the next call.
   */
  take(records: readonly IndexedRecord[]): Promise<void> | undefined;
  /** To be called at the end. Then everything can be found in the catalog. */
  finish(): Promise<void> | void;
  /** To be called in any case. */
  close(): Promise<void> | void;
}

// The index is optimised if this share of its documents is new.
const greatChange = 0.1;

/** Indexes into the existing tables of a database. */
export class SearchWriter implements SearchSink {
  readonly #database: WritableDatabase;
  readonly #vocabulary: Vocabulary;
  readonly #insert;
  #taken = 0;

  constructor(database: WritableDatabase) {
    this.#database = database;
    this.#vocabulary = new Vocabulary(database);
    this.#insert = database.prepareWrite(insertSearchRow);
  }

  beginRepository(): void {
    this.#vocabulary.beginRepository();
  }

  /** Other work, such as writing files, gets its turn afterwards. */
  take(records: readonly IndexedRecord[]): Promise<void> {
    for (const [document, json, details] of records) {
      const composed = composeSearchRow(json, details);
      this.#insert.run(document, ...composed.texts);
      this.#vocabulary.add(composed);
    }
    this.#taken += records.length;
    return new Promise((resolve) => setImmediate(resolve));
  }

  /**
   * After a great change the index is rewritten as one segment, which halves the time of a query. After a small change
   * that would take longer than the rest of the build.
   */
  finish(): void {
    this.#vocabulary.write();
    const [total = 0] = this.#database.prepare<[number]>('SELECT count(*) FROM search_docsize').get() ?? [];
    if (this.#taken > total * greatChange) this.#database.exec("INSERT INTO search (search) VALUES ('optimize')");
  }

  close(): void {}
}
