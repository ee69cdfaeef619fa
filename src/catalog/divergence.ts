import { type Finding, FindingCounter } from '../contract/findings.ts';
import type { CatalogDatabase, WritableDatabase } from './database.ts';
import { addFindings } from './finding-rows.ts';
import { type PackageBytes, pairOtherBytes, readDigestColumn } from './package-bytes.ts';
import { compareText, ownerIn } from './reading.ts';

interface Owner {
  readonly ranking: number;
  readonly slug: string;
}

const readOwners = (database: CatalogDatabase): Map<number, Owner> =>
  new Map(
    database
      .prepare<[id: number, ranking: number, slug: string]>('SELECT id, ranking, slug FROM repository')
      .all()
      .map(([id, ranking, slug]) => [id, { ranking, slug }]),
  );

/** A record of a version for an architecture, with its repository. */
interface Holding extends PackageBytes {
  readonly repository: number;
  readonly owner: Owner;
  /** When it got its present form: when it was first seen, or when its bytes last changed. ISO 8601. */
  readonly since: string;
}

const byRanking = (a: Holding, b: Holding): number =>
  a.owner.ranking - b.owner.ranking || compareText(a.owner.slug, b.owner.slug);

/**
 * Updates, for these packages, where one version for one architecture has different bytes in two repositories. Takes
 * time in proportion to the records of these packages.
 */
export const updateDivergences = (database: WritableDatabase, packages: Iterable<string>): void => {
  const owners = readOwners(database);
  const isShared = database.prepare<[number]>(
    'SELECT 1 FROM record WHERE package = ? GROUP BY package HAVING min(repository) != max(repository)',
  );
  const select = database.prepare<
    [repository: number, version: string, architecture: string, digest: Uint8Array | null, size: number, since: string]
  >(
    `SELECT repository, version, architecture, digest, size, max(first_seen, coalesce(changed_at, ''))
     FROM record WHERE package = ?`,
  );
  const forget = database.prepareWrite('DELETE FROM divergence WHERE package = ?');
  const add = database.prepareWrite(
    'INSERT INTO divergence (package, version, architecture, repository, other, since) VALUES (?, ?, ?, ?, ?, ?)',
  );
  for (const name of packages) {
    forget.run(name);
    if (isShared.get(name) === undefined) continue;
    const builds = Map.groupBy(select.all(name), ([, version, architecture]) => `${version}\n${architecture}`);
    for (const [key, rows] of builds) {
      if (rows.length < 2) continue;
      const [version = '', architecture = ''] = key.split('\n');
      const holdings = rows.map(([repository, , , digest, size, since]) => {
        const owner = ownerIn(owners, repository);
        return { repository, owner, sha256: readDigestColumn(digest), size, since };
      });
      for (const [one, other] of pairOtherBytes(holdings.sort(byRanking))) {
        const since = one.since > other.since ? one.since : other.since;
        add.run(name, version, architecture, one.repository, other.repository, since);
      }
    }
  }
};

const shownOthers = 3;

/** For how many days a change of a version's bytes is a finding. */
const changedDays = 30;
const dayBefore = (now: Date, days: number): string => new Date(now.getTime() - days * 86_400_000).toISOString();

type Build = readonly [name: string, version: string, architecture: string];
const inWords = ([name, version, architecture]: Build): string => `${name} ${version} (${architecture})`;

const summarise = (count: number, example: string, others: ReadonlyMap<string, number>): string => {
  if (count === 1) return example;
  const most = [...others].sort(([a, x], [b, y]) => y - x || compareText(a, b));
  const told = most.slice(0, shownOthers).map(([slug, times]) => `${times} unlike ${slug}`);
  if (most.length > shownOthers) told.push('…');
  return `${example}; ${told.join(', ')}`;
};

const codes = ['package-bytes-changed', 'package-diverges'] as const satisfies readonly Finding['code'][];

/** The findings from comparing repositories with each other and with their past, by repository number. */
const readComparedFindings = (database: CatalogDatabase, now: Date): Map<number, FindingCounter> => {
  const counters = new Map<number, FindingCounter>();
  const add = (repository: number, code: (typeof codes)[number], example: string, count: number) => {
    const counter = counters.get(repository) ?? new FindingCounter();
    counters.set(repository, counter);
    counter.add(code, example, count);
  };
  const changed = database.prepare<[...Build, repository: number, changedAt: string]>(
    `SELECT package, version, architecture, repository, changed_at FROM record WHERE changed_at >= ?
     ORDER BY changed_at DESC, package, version, architecture`,
  );
  for (const [name, version, architecture, repository, at] of changed.iterate(dayBefore(now, changedDays))) {
    const build = inWords([name, version, architecture]);
    add(repository, 'package-bytes-changed', `${build} on ${at.slice(0, 'YYYY-MM-DD'.length)}`, 1);
  }
  const owners = readOwners(database);
  const tallies = new Map<number, { count: number; readonly example: string; readonly others: Map<string, number> }>();
  const diverging = database.prepare<[...Build, repository: number, other: number]>(
    'SELECT package, version, architecture, repository, other FROM divergence ORDER BY package, version, architecture',
  );
  for (const [name, version, architecture, repository, other] of diverging.iterate()) {
    const { slug = '' } = owners.get(other) ?? {};
    const example = `${inWords([name, version, architecture])} in ${slug}`;
    const tally = tallies.get(repository) ?? { count: 0, example, others: new Map<string, number>() };
    tallies.set(repository, tally);
    tally.count++;
    tally.others.set(slug, (tally.others.get(slug) ?? 0) + 1);
  }
  for (const [repository, { count, example, others }] of tallies)
    add(repository, 'package-diverges', summarise(count, example, others), count);
  return counters;
};

/**
 * Writes the findings from comparing repositories, if they have changed. They also change with other repositories, and
 * with time.
 */
export const updateComparedFindings = (
  catalog: { readonly database: CatalogDatabase; writable(): WritableDatabase },
  now: Date,
): void => {
  const found = readComparedFindings(catalog.database, now);
  const rows = catalog.database.prepare<[repository: number, code: string, count: number, example: string]>(
    'SELECT repository, code, count, example FROM finding WHERE code IN (?, ?) ORDER BY repository, code',
  );
  const known = Map.groupBy(rows.all(...codes), ([repository]) => repository);
  for (const repository of new Set([...known.keys(), ...found.keys()])) {
    const next = found.get(repository)?.list() ?? [];
    const columns = next.map(({ code, count, example }) => [repository, code, count, example]);
    if (JSON.stringify(columns) === JSON.stringify(known.get(repository) ?? [])) continue;
    const database = catalog.writable();
    database.prepareWrite('DELETE FROM finding WHERE repository = ? AND code IN (?, ?)').run(repository, ...codes);
    addFindings(database, repository, next);
  }
};
