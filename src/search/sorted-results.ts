import type { SearchReading, SortKeys } from '../catalog/search-reading.ts';
import type { PackageOrder } from '../contract/parameters.ts';
import type { Steps } from '../dependencies/work.ts';
import type { Found } from './package-search.ts';

/** Documents of which the keys are read in one step. */
const readAtOnce = 500;

/**
 * What was first seen so long after now, in milliseconds, was seen under a clock that was ahead: it comes behind the others
 * until then. A day, since the clocks of a build and of who answers differ.
 */
const mostAhead = 86_400_000;

type Order = NonNullable<PackageOrder>;

/** Puts results into another order than that of how they fit. */
export class SortedResults {
  readonly #reading: SearchReading;
  readonly #readDownloads: () => Iterable<readonly [identifier: string, total: number]>;
  #downloads: ReadonlyMap<string, number> | undefined;

  /** `readDownloads` tells how often packages were downloaded; it is asked once, when that order is first wanted. */
  constructor(reading: SearchReading, readDownloads: () => Iterable<readonly [identifier: string, total: number]>) {
    this.#reading = reading;
    this.#readDownloads = readDownloads;
  }

  /** What fits, in this order, and behind it what fits in part, likewise; what is equal in it stays as it was found. */
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
