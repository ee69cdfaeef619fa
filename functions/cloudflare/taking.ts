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

/**
 * An event of an object may use 30 seconds of processor time (or `limits.cpu_ms`) and request a thousand files. One
 * event uses a small part of either. Other requests get their turn while a portion is awaited, and between events.
 */
const portionsInEvent = 24;

/** The platform ends an event after a quarter of an hour, and a portion from a slow origin may take a minute. */
const longestEventMs = 5 * 60_000;

/** How many documents of a generation are made and compared with their published digests before it comes into force. */
const samples = 100;

/** Takes a generation into the storage of an object, in as many events as necessary. */
export class Taking {
  readonly #state: ObjectState;
  readonly #memory: ObjectMemory;
  readonly #database: WritableDatabase;
  readonly #files: PublishedFiles;
  /** The portions that are not in the storage yet; undefined if that is not known. */
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

  /**
   * Begins with a generation, or changes to another one. Portions that are in the storage already are not taken again.
   */
  begin({ text, jws, list }: Omit<TakeOrder, 'answering'>): void {
    this.#missing = undefined;
    this.#state.storage.transactionSync(() => {
      // From here on the rows in the storage belong to no generation.
      this.#memory.set('held', undefined);
      this.#memory.set('taking', { text, jws });
      this.#memory.set('list', list);
    });
  }

  /**
   * Does the next part. Resolves to true when the generation is complete and held. A kill leaves the parts that were
   * written.
   *
   * @throws CannotTake, Unavailable; what was done so far stays
   */
  async goOn(): Promise<boolean> {
    const taking = this.#memory.get('taking');
    if (taking === undefined) return true;
    this.#prepareTables();
    const writer = new PortionWriter(this.#database);
    if (!(await this.#writePortions(writer))) return false;
    if (!this.#indexDocuments(writer)) return false;
    if (!this.#mergeIndex(writer)) return false;
    await this.#assertWhole(writer);
    // Another order may have arrived while the rows were checked.
    if (this.#memory.get('taking')?.text !== taking.text) return false;
    this.#state.storage.transactionSync(() => {
      this.#memory.set('held', { text: taking.text, jws: taking.jws, format: catalogFormat });
      this.#memory.set('taking', undefined);
      this.#memory.set('list', undefined);
      this.#memory.set('anew', undefined);
    });
    return true;
  }

  /** Empties the catalog, so that everything is taken again. */
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
    // There are no tables, or another version of this program made them, perhaps killed before it held a complete
    // generation.
    this.clear();
    this.#state.storage.transactionSync(() => {
      createPortionTables(this.#database);
      this.#memory.set('tables', catalogFormat);
    });
  }

  // Writes missing portions; whether none is missing any more.
  async #writePortions(writer: PortionWriter): Promise<boolean> {
    // Found once, and not in every event: with a long list that would multiply the work.
    const missing = this.#missing ?? this.#findMissing(writer);
    this.#missing = missing;
    const end = Date.now() + longestEventMs;
    for (let written = 0; missing[0] !== undefined; written++) {
      if (written === portionsInEvent || Date.now() > end) return false;
      const [portion] = missing;
      const text = await readPortion(this.#files, portion);
      // Another order may have arrived meanwhile.
      if (this.#missing !== missing) return false;
      this.#state.storage.transactionSync(() => writer.write(portion, text));
      missing.shift();
    }
    return true;
  }

  #findMissing(writer: PortionWriter): ListedPortion[] {
    const list = this.#readList();
    // Another version of this program may have accepted this order.
    assertSameTables(list);
    return writer.findMissing(placePortions(list));
  }

  // Indexes some documents; whether all are indexed.
  #indexDocuments(writer: PortionWriter): boolean {
    return this.#state.storage.transactionSync(() => {
      const some = writer.indexSome();
      if (some > 0) this.#memory.set('indexed', (this.#memory.get('indexed') ?? 0) + some);
      return some === 0;
    });
  }

  // Merges a part of the full-text index if much is new; whether nothing is left to merge. All of it is read and written.
  #mergeIndex(writer: PortionWriter): boolean {
    return this.#state.storage.transactionSync(() => {
      const indexed = this.#memory.get('indexed');
      if (indexed !== undefined) {
        if (writer.isMergeDue(indexed)) this.#memory.set('merging', true);
        this.#memory.set('indexed', undefined);
      }
      if (this.#memory.get('merging') === undefined) return true;
      if (!writer.mergeSome()) this.#memory.set('merging', undefined);
      return false;
    });
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
      // The platform charges for every row written. If the second attempt gives the same result, the publication itself
      // is wrong.
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
