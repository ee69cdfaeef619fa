import type { CatalogDatabase } from './database.ts';
import { compareText } from './reading.ts';

/** A version of a package for an architecture. */
export interface Build {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
}

/**
 * A divergence that appeared at one time: two repositories with different bytes for the same builds, or one repository
 * that changed their bytes.
 */
export interface DivergenceEvent {
  /** Slugs: of both repositories in code unit order, or of the one that changed bytes. */
  readonly repositories: readonly [string, string] | readonly [string];
  /** When the later of both appeared in its present form, or the change was noticed. ISO 8601. */
  readonly at: string;
  readonly count: number;
  /** The first of these builds, ordered by name. */
  readonly builds: readonly Build[];
}

/** All builds for which two repositories have different bytes. `at` is the time of the latest. */
type DivergingPair = DivergenceEvent & { readonly repositories: readonly [string, string] };

/** The contradictions in a catalog. */
export interface Divergences {
  /** The pairs that diverge in most builds first. */
  readonly pairs: readonly DivergingPair[];
  /** The latest first; where a time was given up to which they are asked for, those after it last. */
  readonly events: readonly DivergenceEvent[];
}

/** How many builds are named for each pair and event, and how many pairs and events are kept. */
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

/**
 * Reads the divergences in one pass, in the order of names, however many there are. Events after `until` (ISO 8601),
 * which were seen under a clock that was ahead, come last: they are kept as far as they displace no other.
 */
export const readDivergences = (database: CatalogDatabase, until?: string): Divergences => {
  const isAfter = ({ at }: Open): number => (until !== undefined && at > until ? 1 : 0);
  const slugs = new Map(database.prepare<[number, string]>('SELECT id, slug FROM repository').all());
  const pairs = new Map<string, Open>();
  const events = new Map<string, Open>();
  const rows = database.prepare<[...BuildColumns, repository: number, other: number, since: string]>(
    `SELECT package, version, architecture, repository, other, since FROM divergence
     ORDER BY package, version, architecture, repository`,
  );
  let build = '';
  // Two repositories that contradict each other are one pair.
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
  // The few that changed are sorted here. Reading all records in order would take a whole pass.
  const changed = database.prepare<[...BuildColumns, repository: number, changedAt: string]>(
    `SELECT package, version, architecture, repository, changed_at
     FROM record INDEXED BY record_changed WHERE changed_at IS NOT NULL
     ORDER BY package, version, architecture, repository`,
  );
  for (const [name, version, architecture, repository, at] of changed.iterate()) {
    const slug = slugs.get(repository) ?? '';
    note(events, `${slug} ${at}`, [slug], at, { name, version, architecture });
  }
  const ordered = [...events.values()].sort(
    (a, b) => isAfter(a) - isAfter(b) || compareText(b.at, a.at) || byRepositories(a, b),
  );
  const largest = [...pairs.values()].sort((a, b) => b.count - a.count || byRepositories(a, b));
  return {
    pairs: largest.slice(0, divergenceBounds.pairs) as unknown as DivergingPair[],
    events: ordered.slice(0, divergenceBounds.events),
  };
};
