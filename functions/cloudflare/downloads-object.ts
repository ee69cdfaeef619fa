import { DurableObject } from 'cloudflare:workers';
import { type DownloadCount, listedDownloads } from '../../src/contract/records.ts';
import { type CounterLimits, type Counting, openCounting, readTotals, type Sizes } from '../downloads/counting.ts';
import { hashedTexts, isSame, type MarkedReport, markReport, type Report } from '../downloads/download-marks.ts';
import { usualCounterLimits } from '../downloads/usual-limits.ts';
import type { DownloadsStub } from './downloads-stub.ts';
import { objectDatabase } from './object-database.ts';
import type { ObjectState } from './platform.ts';

const dayLength = 86_400_000;
/** How long after the end of a day, in milliseconds, its marks are destroyed. */
const afterMidnight = 60_000;
/** How long to wait, in milliseconds, before tidying again after a failure, and before continuing. */
const [tidyRetry, tidyPause] = [600_000, 1000];

/** How long, in milliseconds, a successful probe holds. */
const probeInterval = 5000;

type ImportedKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const utf8 = new TextEncoder();
const random = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/**
 * Counts downloads in one place for the whole world. The clock of an object shows the time of its last event, and an
 * object runs one thing at a time.
 */
export class DownloadsObject extends DurableObject<unknown> implements DownloadsStub {
  readonly #state: ObjectState;
  readonly #now: () => number;
  readonly #limits: CounterLimits;
  #counting: Counting | undefined;
  #key: { readonly bytes: Uint8Array; readonly imported: ImportedKey } | undefined;
  #wakes = false;
  #probed = Number.NEGATIVE_INFINITY;

  /** `now`, in milliseconds since 1970, and `limits` are for tests. */
  constructor(state: ObjectState, environment: unknown, now = Date.now, limits = usualCounterLimits) {
    super(state, environment);
    this.#state = state;
    this.#now = now;
    this.#limits = limits;
  }

  async add(report: Report): Promise<number> {
    await this.#beginTidying();
    const day = dayOf(this.#now());
    // While marks are computed, another report may begin the next day, which has another key.
    for (;;) {
      const key = this.#transact((counting) => counting.keyFor(day));
      const marked = await this.#mark(key, report);
      const count = this.#transact((counting) =>
        isSame(counting.keyFor(day), key) ? counting.add(day, marked) : undefined,
      );
      if (count !== undefined) return count;
    }
  }

  async read(id: string): Promise<DownloadCount> {
    return this.#open().read(dayOf(this.#now()), id);
  }

  async totals() {
    this.#open();
    const day = dayOf(this.#now());
    return { day, totals: readTotals(objectDatabase(this.#state.storage.sql), day, listedDownloads) };
  }

  async probe(): Promise<boolean> {
    const now = this.#now();
    // Anybody may ask for the health record, and the platform charges for each row written.
    if (now >= this.#probed && now < this.#probed + probeInterval) return true;
    // Writes one row unchanged: that fails if the object cannot write.
    this.#transact(() => {});
    this.#probed = now;
    return true;
  }

  async alarm(): Promise<void> {
    // The alarm is set first, so that it comes again even if the platform ends this one half-way.
    await this.#wakeAfter(tidyRetry);
    try {
      const isMore = this.#transact((counting) => counting.tidy(dayOf(this.#now())));
      this.#key = undefined;
      if (isMore) await this.#wakeAfter(tidyPause);
      else await this.#wakeAfterMidnight();
    } catch (error) {
      // The platform repeats an alarm that throws only a few times, and then never again.
      console.error(JSON.stringify({ time: new Date().toISOString(), event: 'fault', message: `Tidying: ${error}` }));
    }
  }

  #open(): Counting {
    if (this.#counting !== undefined) return this.#counting;
    const { sql } = this.#state.storage;
    sql.exec('CREATE TABLE IF NOT EXISTS downloads_sizes (counters INTEGER NOT NULL, marks INTEGER NOT NULL) STRICT');
    const [row] = [...sql.exec('SELECT counters, marks FROM downloads_sizes').raw()];
    const sizes: Sizes | undefined = row && { counters: Number(row[0]), marks: Number(row[1]) };
    if (row === undefined) sql.exec('INSERT INTO downloads_sizes VALUES (0, 0)');
    this.#counting = openCounting(objectDatabase(sql), this.#limits, random, sizes);
    return this.#counting;
  }

  /** Writes whole or not at all. */
  #transact<T>(work: (counting: Counting) => T): T {
    try {
      return this.#state.storage.transactionSync(() => {
        const counting = this.#open();
        const result = work(counting);
        const { counters, marks } = counting.sizes;
        this.#state.storage.sql.exec('UPDATE downloads_sizes SET counters = ?, marks = ?', counters, marks);
        return result;
      });
    } catch (error) {
      // The counts in memory include rows that were rolled back.
      this.#counting = undefined;
      throw error;
    }
  }

  async #mark(bytes: Uint8Array, report: Report): Promise<MarkedReport> {
    if (this.#key === undefined || !isSame(this.#key.bytes, bytes)) {
      const hmac = { name: 'HMAC', hash: 'SHA-256' };
      const imported = await crypto.subtle.importKey('raw', bytes as Uint8Array<ArrayBuffer>, hmac, false, ['sign']);
      this.#key = { bytes, imported };
    }
    const { imported } = this.#key;
    const hashes = hashedTexts(report).map(
      async (text) => new Uint8Array(await crypto.subtle.sign('HMAC', imported, utf8.encode(text))),
    );
    return markReport(report, await Promise.all(hashes));
  }

  // Sets the first alarm; each alarm then sets the next.
  async #beginTidying(): Promise<void> {
    if (this.#wakes) return;
    if ((await this.#state.storage.getAlarm()) === null) await this.#wakeAfterMidnight();
    this.#wakes = true;
  }

  async #wakeAfterMidnight(): Promise<void> {
    await this.#wakeAfter(dayLength - (this.#now() % dayLength) + afterMidnight);
  }

  async #wakeAfter(pause: number): Promise<void> {
    await this.#state.storage.setAlarm(this.#now() + pause);
  }
}
