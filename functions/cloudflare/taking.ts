import type { WritableDatabase } from '../../src/catalog/database.ts';
import { createPortionTables, dropPortionTables, PortionWriter } from '../../src/catalog/portion-writer.ts';
import { isPortionTable, portionTables } from '../../src/catalog/portions.ts';
import { catalogFormat } from '../../src/catalog/schema.ts';
import type { PortionList } from '../../src/contract/generation.ts';
import type { TakeOrder } from './catalog-stub.ts';
import { memoryTable, type ObjectMemory } from './object-memory.ts';
import type { ObjectState } from './platform.ts';
import {
  assertSameTables,
  CannotTake,
  type ListedPortion,
  parseList,
  placePortions,
  readPortion,
} from './publication-files.ts';
import type { PublishedFiles } from './published-files.ts';
import { findDiffering } from './serving.ts';

// One event of an object has 30 seconds of processor time, or what `limits.cpu_ms` says, and may ask for a thousand
// files. An event does a small part of either, so that whatever else the object is asked comes in between.
const portionsInEvent = 24;
const stepsInEvent = 10;

/** An event of an object ends after a quarter of an hour, and portions of a slow origin may take a minute each. */
const longestEventMs = 5 * 60_000;

/** How many documents are made of what was taken, and compared with what it says of them, before it is in force. */
const samples = 100;

/** Takes a generation into the storage of an object, in as many events as it takes. */
export class Taking {
  readonly #state: ObjectState;
  readonly #memory: ObjectMemory;
  readonly #database: WritableDatabase;
  readonly #files: PublishedFiles;
  /** The portions of what is taken that do not stand there yet; undefined where that is to be looked up. */
  #missing: ListedPortion[] | undefined;

  constructor(
    state: ObjectState,
    { memory, database, files }: { memory: ObjectMemory; database: WritableDatabase; files: PublishedFiles },
  ) {
    this.#state = state;
    this.#memory = memory;
    this.#database = database;
    this.#files = files;
  }

  /** Begins, or goes on with another generation: what stands there of it already is not taken again. */
  begin({ text, jws, list }: Omit<TakeOrder, 'answering'>): void {
    this.#missing = undefined;
    this.#state.storage.transactionSync(() => {
      // From here on what stands there is of no generation.
      this.#memory.set('held', undefined);
      this.#memory.set('taking', { text, jws });
      this.#memory.set('list', list);
    });
  }

  /**
   * Does the next part; whether all was taken, and is held from now on. What a kill leaves is what some parts wrote.
   *
   * @throws CannotTake, Unavailable; what was done stays
   */
  async goOn(): Promise<boolean> {
    const taking = this.#memory.get('taking');
    if (taking === undefined) return true;
    this.#prepareTables();
    const writer = new PortionWriter(this.#database);
    if (!(await this.#writePortions(writer))) return false;
    if (!this.#indexDocuments(writer)) return false;
    // In an event of its own: where much is new, it reads all of the index and writes it anew.
    const indexed = this.#memory.get('indexed') ?? 0;
    if (indexed > 0) {
      this.#state.storage.transactionSync(() => {
        writer.finish(indexed);
        this.#memory.set('indexed', undefined);
      });
      return false;
    }
    await this.#assertWhole(writer);
    // Another order may have come while it was looked at.
    if (this.#memory.get('taking')?.text !== taking.text) return false;
    this.#state.storage.transactionSync(() => {
      this.#memory.set('held', { text: taking.text, jws: taking.jws, format: catalogFormat });
      this.#memory.set('taking', undefined);
      this.#memory.set('list', undefined);
      this.#memory.set('anew', undefined);
    });
    return true;
  }

  /** Empties the catalog, so that it is taken anew. */
  clear(): void {
    this.#missing = undefined;
    this.#state.storage.transactionSync(() => {
      this.#memory.set('held', undefined);
      this.#memory.set('tables', undefined);
      dropPortionTables(this.#database, memoryTable);
    });
  }

  #prepareTables(): void {
    if (this.#memory.get('tables') === catalogFormat) return;
    // There are none, or another version of this program made them, which may have been killed before it held anything whole.
    this.clear();
    this.#state.storage.transactionSync(() => {
      createPortionTables(this.#database);
      this.#memory.set('tables', catalogFormat);
    });
  }

  // Whether all of them stand there.
  async #writePortions(writer: PortionWriter): Promise<boolean> {
    // Looked up once, and not in every event, which would make it as many times longer as the list is long.
    const missing = this.#missing ?? this.#findMissing(writer);
    this.#missing = missing;
    const end = Date.now() + longestEventMs;
    for (let written = 0; missing[0] !== undefined; written++) {
      if (written === portionsInEvent || Date.now() > end) return false;
      const [portion] = missing;
      const text = await readPortion(this.#files, portion);
      // Another order may have come meanwhile.
      if (this.#missing !== missing) return false;
      this.#state.storage.transactionSync(() => writer.write(portion, text));
      missing.shift();
    }
    return true;
  }

  #findMissing(writer: PortionWriter): ListedPortion[] {
    const list = this.#readList();
    // The order may be one that another version of this program began.
    assertSameTables(list);
    return writer.findMissing(placePortions(list));
  }

  // Whether all of them are.
  #indexDocuments(writer: PortionWriter): boolean {
    for (let step = 0; step < stepsInEvent; step++) {
      const count = this.#state.storage.transactionSync(() => {
        const some = writer.indexSome();
        if (some > 0) this.#memory.set('indexed', (this.#memory.get('indexed') ?? 0) + some);
        return some;
      });
      if (count === 0) return true;
    }
    return false;
  }

  #readList(): PortionList {
    return parseList(this.#memory.get('list') ?? '');
  }

  async #assertWhole(writer: PortionWriter): Promise<void> {
    const { rows } = this.#readList();
    for (const table of Object.keys(portionTables)) {
      if (!isPortionTable(table)) continue;
      const [there, listed] = [writer.count(table), rows[table] ?? 0];
      if (there === listed) continue;
      const found = `There are ${there} rows of ${table}, and ${listed} were published`;
      // Every row written is paid for: what is no better the second time is as it was published.
      if (this.#memory.get('anew')) throw new CannotTake(`${found}: build it anew, the list of portions is wrong.`);
      this.clear();
      this.#memory.set('anew', true);
      throw new CannotTake(`${found}: all is taken anew.`);
    }
    const differing = await findDiffering(this.#database, samples);
    if (differing === undefined) return;
    throw new CannotTake(
      `${differing} would not have the bytes that were published: deploy the version that publishes.`,
    );
  }
}
