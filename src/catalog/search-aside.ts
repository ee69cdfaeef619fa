import { rmSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { SqlValue, WritableDatabase } from './database.ts';
import { CatalogFile } from './node-sqlite.ts';
import type { IndexedRecord, SearchSink } from './search-writer.ts';

/**
 * The tables that the thread fills. The full-text index keeps its rows in those that begin with its name
 * (https://sqlite.org/fts5.html, section 9).
 */
const filled = ['search_data', 'search_idx', 'search_docsize', 'spelling', 'word_list', 'inner_word'];

/** How many characters of records may wait for the thread, so that it has work while this one is busy. */
const mostWaiting = 2 ** 25;

/** After this many batches other work gets its turn. */
const turn = 4;

/** A message to the thread: records to index, that another repository begins, or that this was all. */
export type SearchTask = readonly IndexedRecord[] | 'repository' | 'end';

/**
 * Indexes an empty catalog in a separate thread, into a separate file whose tables are copied at the end. Indexing
 * takes as long as writing all documents, and only one of the two could write to the catalog.
 */
export class SearchAside implements SearchSink {
  readonly #database: WritableDatabase;
  readonly #file: string;
  readonly #worker: Worker;
  readonly #ended: Promise<never>;
  readonly #waiting: (() => void)[] = [];
  /** Records that the thread has not indexed yet, in their order. */
  readonly #underWay: { readonly characters: number; readonly done: Promise<void> }[] = [];
  #characters = 0;
  #taken = 0;

  /**
   * The database must not have been searched yet. At the end nothing is left at the path `file`. If the signal is
   * aborted, the thread ends, and whoever waits for it gets the error.
   */
  constructor(database: WritableDatabase, file: string, signal?: AbortSignal) {
    this.#database = database;
    this.#file = file;
    rmSync(file, { recursive: true, force: true });
    this.#worker = new Worker(new URL('./search-thread.ts', import.meta.url), { workerData: { file } });
    this.#worker.on('message', () => this.#waiting.shift()?.());
    this.#ended = new Promise<never>((_, reject) => {
      this.#worker.once('error', reject);
      this.#worker.once('exit', () => reject(new Error('The thread that indexes for search ended before its work.')));
    });
    // Whoever waits for the thread gets the error.
    this.#ended.catch(() => {});
    signal?.addEventListener('abort', () => void this.#worker.terminate(), { once: true });
  }

  beginRepository(): void {
    this.#send('repository');
  }

  take(records: readonly IndexedRecord[]): Promise<void> | undefined {
    const characters = records.reduce((sum, [, json, details]) => sum + json.length + (details?.length ?? 0), 0);
    this.#underWay.push({ characters, done: this.#send(records) });
    this.#characters += characters;
    if (this.#characters > mostWaiting) return this.#drain();
    return ++this.#taken % turn === 0 ? new Promise((resolve) => setImmediate(resolve)) : undefined;
  }

  async finish(): Promise<void> {
    await this.#wait(this.#send('end'));
    using made = CatalogFile.openReadOnly(this.#file);
    for (const table of filled) this.#takeOver(made, table);
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
    rmSync(this.#file, { force: true });
  }

  async #drain(): Promise<void> {
    while (this.#characters > mostWaiting) {
      const first = this.#underWay.shift();
      await this.#wait(first?.done);
      this.#characters -= first?.characters ?? 0;
    }
  }

  /** Resolves when the task is done; never if the thread failed. */
  #send(task: SearchTask): Promise<void> {
    this.#worker.postMessage(task);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wait(done: Promise<void> | undefined): Promise<void> {
    return Promise.race([done, this.#ended]);
  }

  #takeOver(made: CatalogFile, table: string): void {
    let insert: ReturnType<WritableDatabase['prepareWrite']> | undefined;
    for (const row of made.prepare<SqlValue[]>(`SELECT * FROM ${table}`).iterate()) {
      // An empty full-text index has rows of its own, which would conflict. All numbers are integers, but bound alone
      // they would not be.
      const values =
        insert === undefined ? row.map((value) => (typeof value === 'number' ? 'CAST(? AS INTEGER)' : '?')) : [];
      insert ??= this.#database.prepareWrite(`INSERT OR REPLACE INTO ${table} VALUES (${values.join(', ')})`);
      insert.run(...row);
    }
  }
}
