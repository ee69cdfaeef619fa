import type { CatalogDatabase } from './database.ts';
import { compareText } from './reading.ts';

/** A version of a package for an architecture. */
export interface Build {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
}

/** What came to be at once: two repositories that have other bytes for the same builds, or one that changed them. */
export interface DivergenceEvent {
  /** Slugs: both of a pair in code unit order, or the one whose versions changed their bytes. */
  readonly repositories: readonly [string, string] | readonly [string];
  /** When the later of both came to be as it is, or the bytes were seen to have changed. ISO 8601. */
  readonly at: string;
  readonly count: number;
  /** The first of these builds, by name. */
  readonly builds: readonly Build[];
}

/** All that two repositories have with other bytes. `at` is of the last of it. */
type DivergingPair = DivergenceEvent & { readonly repositories: readonly [string, string] };

/** What of a catalog contradicts itself. */
export interface Divergences {
  /** Those that diverge in most builds first. */
  readonly pairs: readonly DivergingPair[];
  /** The last first. */
  readonly events: readonly DivergenceEvent[];
}

/** Builds that are named of each pair and of each event, and of these how many are kept. */
const divergenceBounds = { builds: 20, pairs: 1000, events: 1000 } as const;

interface Open {
  readonly repositories: DivergenceEvent['repositories'];
  at: string;
  count: number;
  readonly builds: Build[];
}

const note = (
  known: Map<string, Open>,
  key: string,
  repositories: DivergenceEvent['repositories'],
  at: string,
  build: Build,
): void => {
  const open = known.get(key) ?? { repositories, at, count: 0, builds: [] };
  if (open.count === 0) known.set(key, open);
  open.count++;
  if (at > open.at) open.at = at;
  if (open.builds.length < divergenceBounds.builds) open.builds.push(build);
};

const byRepositories = (a: Open, b: Open): number =>
  compareText(a.repositories.join(' '), b.repositories.join(' ')) || b.count - a.count;

type BuildColumns = readonly [name: string, version: string, architecture: string];

/** Reads what diverges: in one pass over it, in the order of names, whatever its number. */
export const readDivergences = (database: CatalogDatabase): Divergences => {
  const slugs = new Map(database.prepare<[number, string]>('SELECT id, slug FROM repository').all());
  const pairs = new Map<string, Open>();
  const events = new Map<string, Open>();
  const rows = database.prepare<[...BuildColumns, repository: number, other: number, since: string]>(
    `SELECT package, version, architecture, repository, other, since FROM divergence
     ORDER BY package, version, architecture, repository`,
  );
  let build = '';
  // Two repositories that name each other are one pair.
  let paired = new Set<string>();
  for (const [name, version, architecture, repository, other, at] of rows.iterate()) {
    const key = `${name}\n${version}\n${architecture}`;
    if (key !== build) paired = new Set();
    build = key;
    const both = [slugs.get(repository) ?? '', slugs.get(other) ?? ''].sort(compareText) as [string, string];
    const pair = both.join(' ');
    if (paired.has(pair)) continue;
    paired.add(pair);
    note(pairs, pair, both, at, { name, version, architecture });
    note(events, `${pair} ${at}`, both, at, { name, version, architecture });
  }
  // The few that changed are put in order, in the place of a pass over all records, which are in order.
  const changed = database.prepare<[...BuildColumns, repository: number, changedAt: string]>(
    `SELECT package, version, architecture, repository, changed_at
     FROM record INDEXED BY record_changed WHERE changed_at IS NOT NULL
     ORDER BY package, version, architecture, repository`,
  );
  for (const [name, version, architecture, repository, at] of changed.iterate()) {
    const slug = slugs.get(repository) ?? '';
    note(events, `${slug} ${at}`, [slug], at, { name, version, architecture });
  }
  const ordered = [...events.values()].sort((a, b) => compareText(b.at, a.at) || byRepositories(a, b));
  const largest = [...pairs.values()].sort((a, b) => b.count - a.count || byRepositories(a, b));
  return {
    pairs: largest.slice(0, divergenceBounds.pairs) as unknown as DivergingPair[],
    events: ordered.slice(0, divergenceBounds.events),
  };
};
