import { eachAtOnce } from '../publication/each-at-once.ts';
import { isEntrance } from '../publication/entrances.ts';
import type { Claim } from './claim.ts';
import type { Destination } from './destination.ts';
import { type LocalPublication, Superseded } from './local-publication.ts';
import type { Planned } from './plan.ts';

/** A file, and the names under which it is to be sent. */
interface Sending {
  readonly path: string;
  readonly sha256: string;
  readonly names: readonly string[];
}

/** What was sent. A file counts once for each of its names. */
export interface Tally {
  readonly sent: number;
  readonly bytes: number;
  /** How many files an interrupted upload had already sent. */
  readonly found: number;
}

/** Files that do not exist there yet, and files that exist with other bytes. */
interface Turns {
  readonly fresh: Sending[];
  readonly changed: Sending[];
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

  /**
   * Arranges the files to send in turns, so that a reader never meets a name of something that is missing: first new
   * files, which nothing names yet; then replacements; then the entry documents, new ones first again. Within a turn
   * the order does not matter. Looks for files that may exist already, name by name.
   */
  async order(planned: readonly Planned[]): Promise<readonly (readonly Sending[])[]> {
    const others: Turns = { fresh: [], changed: [] };
    const entrances: Turns = { fresh: [], changed: [] };
    const put = ({ path, sha256 }: Planned, into: keyof Turns, names: readonly string[]) => {
      if (names.length > 0) (isEntrance(path) ? entrances : others)[into].push({ path, sha256, names });
    };
    for (const { names } of planned) this.#total += names.length;
    const unknown: Planned[] = [];
    for (const one of planned) {
      if (one.verdict === 'new') put(one, 'fresh', one.names);
      else if (one.verdict === 'other') put(one, 'changed', one.names);
      else unknown.push(one);
    }
    await this.each(unknown, async (one) => {
      const seen = { same: [] as string[], other: [] as string[], none: [] as string[] };
      for (const name of one.names) seen[await this.#destination.look(name, one.path, one.sha256)].push(name);
      if (one.verdict === 'look') {
        this.#found += seen.same.length;
        this.#onProgress(this.#sent + this.#found, this.#total);
      } else seen.other.push(...seen.same);
      put(one, 'fresh', seen.none);
      put(one, 'changed', seen.other);
    });
    return [others.fresh, others.changed, entrances.fresh, entrances.changed];
  }

  /**
   * Sends files as long as the claim is held; resolves when all of them have arrived.
   *
   * @throws Superseded if a file is gone, or has changed
   */
  send(turn: readonly Sending[], claim: Claim): Promise<void> {
    return this.each(turn, async ({ path, sha256, names }) => {
      await using file = await this.#publication.open(path, sha256);
      for (const name of names) {
        await claim.assertFresh();
        await this.#destination.put(name, path, file);
        this.#count(file.size);
      }
    });
  }

  /** Counts what `send` would send. */
  rehearse(turn: readonly Sending[]): void {
    for (const { path, names } of turn) {
      const size = this.#publication.sizeOf(path);
      for (const _ of names) this.#count(size);
    }
  }

  /** Sends a file that no inventory lists, unless it exists there; without a claim, only counts it. */
  async sendAccount(path: string, claim: Claim | undefined, expectedSize?: number): Promise<void> {
    await using file = await this.#publication.open(path);
    if (expectedSize !== undefined && file.size !== expectedSize) throw new Superseded(`${path} is cut short`);
    if ((await this.#destination.look(path, path, file.sha256)) === 'same') return;
    if (claim !== undefined) {
      await claim.assertFresh();
      await this.#destination.put(path, path, file);
    }
    this.#total++;
    this.#count(file.size);
  }

  /** Works on several items at once. If one fails, no further ones are begun, and those in progress end first. */
  each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
    return eachAtOnce(items, { concurrency: this.#concurrency, count: items.length }, work);
  }

  #count(size: number): void {
    this.#sent++;
    this.#bytes += size;
    this.#onProgress(this.#sent + this.#found, this.#total);
  }
}
