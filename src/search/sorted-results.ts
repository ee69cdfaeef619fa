import type { SearchReading, SortKeys } from '../catalog/search-reading.ts';
import type { PackageOrder } from '../contract/parameters.ts';
import type { Steps } from '../dependencies/work.ts';
import type { Found } from './package-search.ts';

/** How many documents' sort keys are read in one step. */
const readAtOnce = 500;

/**
 * What was first seen more than this many milliseconds in the future was seen under a clock that was ahead, and comes
 * last until then. A day, because the clocks of the build and of the server differ.
 */
const mostAhead = 86_400_000;

type Order = NonNullable<PackageOrder>;

/** Sorts results by something else than relevance. */
export class SortedResults {
  readonly #reading: SearchReading;
  readonly #readDownloads: () => Iterable<readonly [identifier: string, total: number]>;
  #downloads: ReadonlyMap<string, number> | undefined;

  /** `readDownloads` returns how often packages were downloaded. It is called once, when that order is first used. */
  constructor(reading: SearchReading, readDownloads: () => Iterable<readonly [identifier: string, total: number]>) {
    this.#reading = reading;
    this.#readDownloads = readDownloads;
  }

  /** Sorts the matches and, after them, the partial matches. Equal ones stay in the order in which they were found. */
  *sort(found: Steps<Found>, order: Order): Steps<Found> {
    const { ids, fitting } = yield* found;
    const keys: SortKeys[] = [];
    for (let start = 0; start < ids.length; start += readAtOnce) {
      keys.push(...this.#reading.sortKeys(ids.slice(start, start + readAtOnce)));
      yield;
    }
    if (order === 'downloads') {
      this.#downloads ??= new Map(this.#readDownloads());
      yield;
    }
    const compare = this.#comparisons(new Date(Date.now() + mostAhead).toISOString())[order];
    const sorted = [keys.slice(0, fitting), keys.slice(fitting)].flatMap((some) => some.sort(compare));
    return { ids: sorted.map(({ id }) => id), fitting };
  }

  readonly #comparisons = (until: string): Readonly<Record<Order, (a: SortKeys, b: SortKeys) => number>> => ({
    newest: (a, b) => Number(a.firstSeen > until) - Number(b.firstSeen > until) || compare(b.firstSeen, a.firstSeen),
    downloads: (a, b) => this.#downloadsOf(b) - this.#downloadsOf(a),
    name: (a, b) => compare(a.name, b.name),
  });

  #downloadsOf({ identifier }: SortKeys): number {
    return this.#downloads?.get(identifier) ?? 0;
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
