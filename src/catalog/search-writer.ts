import type { WritableDatabase } from './database.ts';
import { composeSearchRow, insertSearchRow } from './search-row.ts';
import { Vocabulary } from './vocabulary.ts';

/** A record that is to be indexed: the number of its document, its text, complete but for the value of its last key, and its details. */
export type IndexedRecord = readonly [document: number, json: string, details: string | null];

/** Takes what is to be indexed. */
export interface SearchSink {
  /** To be called before records of another repository are taken. */
  beginRepository(): void;
  /** Takes records, in the order of their documents' numbers. Returns what to wait for before there are more, if anything. */
  take(records: readonly IndexedRecord[]): Promise<void> | undefined;
  /** To be called when all is taken: all of it is found in the catalog then. */
  finish(): Promise<void> | void;
  /** To be called in every case. */
  close(): Promise<void> | void;
}

// The index is put in order when this part of its documents is new.
const greatChange = 0.1;

/** Indexes into the tables of a database, which stand there. */
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

  /** Other work, such as writing files, gets its turn after that. */
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
   * After a great change the index is written as one piece, which halves the time of a question; after a small one that
   * would take longer than all the rest of the build.
   */
  finish(): void {
    this.#vocabulary.write();
    const [total = 0] = this.#database.prepare<[number]>('SELECT count(*) FROM search_docsize').get() ?? [];
    if (this.#taken > total * greatChange) this.#database.exec("INSERT INTO search (search) VALUES ('optimize')");
  }

  close(): void {}
}
