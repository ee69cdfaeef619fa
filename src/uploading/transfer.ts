import type { Claim } from './claim.ts';
import type { Destination } from './destination.ts';
import { type LocalPublication, Superseded } from './local-publication.ts';
import type { Planned } from './plan.ts';

/** What was sent. Files count by their names at the destination. */
export interface Tally {
  readonly sent: number;
  readonly bytes: number;
  /** What an interrupted upload had brought already. */
  readonly found: number;
}

/** Sends files of a publication, several at once. */
export class Transfer {
  #sent = 0;
  #bytes = 0;
  #found = 0;
  #total = 0;
  readonly #publication: LocalPublication;
  readonly #destination: Destination;
  readonly #concurrency: number;
  readonly #onProgress: (done: number, total: number) => void;

  constructor(options: {
    readonly publication: LocalPublication;
    readonly destination: Destination;
    readonly concurrency?: number | undefined;
    readonly onProgress?: ((done: number, total: number) => void) | undefined;
  }) {
    this.#publication = options.publication;
    this.#destination = options.destination;
    this.#concurrency = options.concurrency ?? options.destination.usualConcurrency;
    this.#onProgress = options.onProgress ?? (() => {});
  }

  get tally(): Tally {
    return { sent: this.#sent, bytes: this.#bytes, found: this.#found };
  }

  /** Says how many more there will be. */
  expect(planned: readonly Planned[]): void {
    for (const { names } of planned) this.#total += names.length;
  }

  /**
   * Sends these files, as long as the claim is held; resolves when all stand.
   *
   * @throws Superseded where a file is not there any more, or is another
   */
  send(planned: readonly Planned[], claim: Claim): Promise<void> {
    return this.each(planned, async ({ path, sha256, names, isLikelyThere }) => {
      const missing = isLikelyThere ? await this.#findMissing(path, sha256, names) : names;
      if (missing.length === 0) return;
      const file = await this.#publication.open(path, sha256);
      try {
        for (const name of missing) {
          await claim.assertFresh();
          await this.#destination.put(name, path, file);
          this.#count(file.size);
        }
      } finally {
        await file.close();
      }
    });
  }

  /** Counts what `send` would send. */
  rehearse(planned: readonly Planned[]): Promise<void> {
    return this.each(planned, async ({ path, sha256, names, isLikelyThere }) => {
      const missing = isLikelyThere ? await this.#findMissing(path, sha256, names) : names;
      const size = this.#publication.sizeOf(path);
      for (const _ of missing) this.#count(size);
    });
  }

  /** Sends a file that no inventory names, unless it stands there, or says that it would. */
  async sendAccount(path: string, claim: Claim | undefined, expectedSize?: number): Promise<void> {
    const file = await this.#publication.open(path);
    try {
      if (expectedSize !== undefined && file.size !== expectedSize) throw new Superseded(`${path} is cut short`);
      if (await this.#destination.holds(path, path, file.sha256)) return;
      if (claim !== undefined) {
        await claim.assertFresh();
        await this.#destination.put(path, path, file);
      }
      this.#total++;
      this.#count(file.size);
    } finally {
      await file.close();
    }
  }

  /** Works on several items at once; where one fails no other is begun, and those that were end first. */
  async each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
    const queue = items.values();
    let hasFailed = false;
    const worker = async () => {
      for (const item of queue) {
        if (hasFailed) return;
        try {
          await work(item);
        } catch (error) {
          hasFailed = true;
          throw error;
        }
      }
    };
    const workers = Array.from({ length: Math.min(this.#concurrency, items.length) }, worker);
    for (const outcome of await Promise.allSettled(workers)) {
      if (outcome.status === 'rejected') throw outcome.reason;
    }
  }

  async #findMissing(path: string, sha256: string, names: readonly string[]): Promise<string[]> {
    const missing: string[] = [];
    for (const name of names) {
      if (!(await this.#destination.holds(name, path, sha256))) missing.push(name);
      else this.#found++;
    }
    this.#onProgress(this.#sent + this.#found, this.#total);
    return missing;
  }

  #count(size: number): void {
    this.#sent++;
    this.#bytes += size;
    this.#onProgress(this.#sent + this.#found, this.#total);
  }
}
