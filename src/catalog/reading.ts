import { compareVersions } from '../apt/version.ts';
import { type Finding, FindingCounter } from '../contract/findings.ts';
import type { LandingRecord } from '../contract/records.ts';
import type { SigningState } from '../contract/signing-states.ts';
import type { CatalogDatabase } from './database.ts';
import { completeRecord } from './record-list.ts';
import { findRepository } from './record-range.ts';
import { bySlugOrder, settleAliases } from './repository-slugs.ts';

interface Repository {
  readonly slug: string;
  readonly quality: number;
  readonly embedded: string;
}

interface Row {
  readonly repository: Repository;
  readonly latest: boolean;
  readonly version: string;
  readonly architecture: string;
  readonly json: string;
}

/** All repositories by their numbers, or those that a condition with one value is true of. */
const readRepositories = (
  database: CatalogDatabase,
  ...[condition, value]: [] | [condition: string, value: string]
): Map<number, Repository> => {
  const all = 'SELECT id, slug, ranking, embedded FROM repository';
  const rows = database
    .prepare<[id: number, slug: string, ranking: number, embedded: string]>(
      condition === undefined ? all : `${all} WHERE ${condition}`,
    )
    .all(...(value === undefined ? [] : [value]));
  return new Map(rows.map(([id, slug, quality, embedded]) => [id, { slug, quality, embedded }]));
};

/** What is known of the repository of a record, by the number in its row. Throws if the catalog has no such repository. */
export const ownerIn = <Known>(repositories: ReadonlyMap<number, Known>, number: number): Known => {
  const owner = repositories.get(number);
  if (owner === undefined) throw new Error(`catalog: a record belongs to no repository (${number})`);
  return owner;
};

/** Compares by code unit, not by locale, so that the order is the same on every machine. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** What determines the place of a record in the answer of a package lookup. */
export interface LookupKey {
  readonly repository: { readonly slug: string; readonly quality: number };
  readonly latest: boolean;
  readonly version: string;
  readonly architecture: string;
}

/** The order of decisions, section 4, "Package lookup". Two spellings of an equal version are ordered by their text. */
export const lookupOrder = (a: LookupKey, b: LookupKey): number =>
  Number(b.latest) - Number(a.latest) ||
  a.repository.quality - b.repository.quality ||
  compareVersions(b.version, a.version) ||
  compareText(a.repository.slug, b.repository.slug) ||
  compareText(a.architecture, b.architecture) ||
  compareText(b.version, a.version);

/** What determines the place of a record within its package in the list of a repository. */
export type ListKey = Pick<LookupKey, 'version' | 'architecture'>;

/** The order of decisions, section 4, "Repository packages", within one package. */
export const listOrder = (a: ListKey, b: ListKey): number =>
  compareVersions(b.version, a.version) ||
  compareText(a.architecture, b.architecture) ||
  compareText(b.version, a.version);

const completed = (row: Row): string => completeRecord(row.json, row.repository.embedded);

const columns = 'package, repository, latest, version, architecture, record.json';
type Columns = [string, number, number, string, string, string];

/** Groups rows that are ordered by package identifier. */
function* groups(rows: Iterable<Columns>, repositories: ReadonlyMap<number, Repository>): Generator<[string, Row[]]> {
  let current: string | undefined;
  let group: Row[] = [];
  for (const row of rows) {
    const [name, number, latest, version, architecture, json] = row;
    if (current !== undefined && name !== current) {
      yield [current, group];
      group = [];
    }
    current = name;
    group.push({ repository: ownerIn(repositories, number), latest: latest === 1, version, architecture, json });
  }
  if (current !== undefined) yield [current, group];
}

/** The records of one package as JSON texts, in lookup order, with only a few in memory at a time. */
export function* readPackageRecords(database: CatalogDatabase, name: string): Generator<string> {
  // Not all: this is asked for each package of that many records.
  const repositories = readRepositories(database, 'id IN (SELECT repository FROM record WHERE package = ?)', name);
  const keys = database
    .prepare<[number, number, number, string, string]>(
      'SELECT id, repository, latest, version, architecture FROM record WHERE package = ?',
    )
    .all(name)
    .map(([id, number, latest, version, architecture]) => {
      const repository = ownerIn(repositories, number);
      return { id, repository, latest: latest === 1, version, architecture };
    })
    .sort(lookupOrder);
  const select = database.prepare<[string]>('SELECT json FROM record WHERE id = ?');
  for (const { id, repository } of keys) yield completeRecord(select.get(id)?.[0] ?? '', repository.embedded);
}

const inOrder = (rows: Row[]): string[] => (rows.length > 1 ? rows.sort(lookupOrder) : rows).map(completed);

/**
 * Prepares lookups of single packages in a catalog that does not change meanwhile. The returned function gives the
 * records of a package as JSON texts, in lookup order; none if the catalog does not have it.
 */
export const prepareLookup = (database: CatalogDatabase): ((name: string) => string[]) => {
  const repositories = readRepositories(database);
  const select = database.prepare<Columns>(`SELECT ${columns} FROM record WHERE package = ?`);
  return (name) => {
    for (const [, rows] of groups(select.all(name), repositories)) return inOrder(rows);
    return [];
  };
};

/** Up to this many packages, one query each is faster; for more, one scan is. */
export const fewPackages = 2000;

/** The identifiers of packages to be read. It is iterated only if it has at most `fewPackages` of them. */
type WantedPackages = Pick<ReadonlySet<string>, 'size' | 'has'> & Iterable<string>;

/** A package with more records than this is read and written piece by piece. */
const mostAtOnce = 200;

/** Those of these packages that have too many records to be in memory at once, with the number of their records. */
export const readLongPackages = (database: CatalogDatabase, packages: WantedPackages): [string, number][] => {
  if (packages.size <= fewPackages) {
    const select = database.prepare<[number]>('SELECT count(*) FROM record WHERE package = ?');
    const counts = Array.from(packages, (name): [string, number] => [name, select.get(name)?.[0] ?? 0]);
    return counts.filter(([, count]) => count > mostAtOnce);
  }
  return database
    .prepare<[name: string, count: number]>(
      `SELECT package, count(*) FROM record GROUP BY package HAVING count(*) > ${mostAtOnce}`,
    )
    .all()
    .filter(([name]) => packages.has(name));
};

/**
 * The records of each of these packages that the catalog has, as JSON texts in lookup order: `[identifier, records]`.
 */
export function* readPackages(
  database: CatalogDatabase,
  packages: WantedPackages,
): Generator<[name: string, records: string[]]> {
  if (packages.size <= fewPackages) {
    const recordsOf = prepareLookup(database);
    for (const name of packages) {
      const records = recordsOf(name);
      if (records.length > 0) yield [name, records];
    }
    return;
  }
  const repositories = readRepositories(database);
  const select = database.prepare<Columns>(`SELECT ${columns} FROM record ORDER BY package`);
  for (const [name, rows] of groups(select.iterate(), repositories)) {
    if (packages.has(name)) yield [name, inOrder(rows)];
  }
}

// One query for a few hundred rows costs a tenth of a query for each.
const rowsAtOnce = 200;

/**
 * The records of one repository as JSON texts, in the order of its packages document. A generator, because a large
 * repository has too many to be in memory at once.
 */
export function* readRepositoryRecords(database: CatalogDatabase, slug: string): Generator<string> {
  const found = findRepository(database, slug);
  if (found === undefined) return;
  // Not all: a build asks this for each.
  const repositories = readRepositories(database, 'slug = ?', slug);
  // Only numbers are sorted, and rows are fetched one by one, so that texts stay out of the sorter.
  const order = database.prepare<[number]>('SELECT id FROM record WHERE id >= ? AND id < ? ORDER BY package');
  const ids = order.all(...found.range);
  const select = database.prepare<Columns>(
    `SELECT ${columns} FROM json_each(?) AS wanted CROSS JOIN record ON record.id = wanted.value ORDER BY wanted.key`,
  );
  function* rows(): Generator<Columns> {
    for (let start = 0; start < ids.length; start += rowsAtOnce) {
      yield* select.all(JSON.stringify(ids.slice(start, start + rowsAtOnce).flat()));
    }
  }
  for (const [, group] of groups(rows(), repositories)) {
    if (group.length > 1) group.sort(listOrder);
    for (const one of group) yield completed(one);
  }
}

/**
 * Every package identifier of the catalog, in order; for a part, as many as it says, after the identifier that it
 * names.
 */
export function* readPackageIdentifiers(
  database: CatalogDatabase,
  { after, most }: { readonly after: string; readonly most: number } = { after: '', most: -1 },
): Generator<string> {
  const select = database.prepare<[string]>(
    'SELECT DISTINCT package FROM record WHERE package > ? ORDER BY package LIMIT ?',
  );
  for (const [name] of select.iterate(after, most)) yield name;
}

/** How many packages the catalog has. */
export const countPackages = (database: CatalogDatabase): number =>
  database.prepare<[number]>('SELECT count(DISTINCT package) FROM record').get()?.[0] ?? 0;

export interface RepositoryRow {
  readonly slug: string;
  readonly ranking: number;
  readonly packageCount: number;
  /** Former slugs by which it is still found; never the slug of another repository. */
  readonly aliases: readonly string[];
  /** JSON text of the public repository record. */
  readonly record: string;
}

/** Every repository, by ranking and then slug. */
export const readRepositoryRows = (database: CatalogDatabase): RepositoryRow[] => {
  const rows = database
    .prepare<[slug: string, ranking: number, packageCount: number, aliases: string, record: string]>(
      `SELECT slug, ranking, package_count, aliases, record FROM repository ${bySlugOrder}`,
    )
    .all();
  return settleAliases(
    rows.map(([slug, ranking, packageCount, aliases, record]) => ({ slug, ranking, packageCount, aliases, record })),
  );
};

/**
 * The counts in the landing document, and when an origin last changed, as of `now`; undefined if the catalog is empty. A
 * change after that was seen under a clock that was ahead: it counts only where there is no other.
 */
export const readStatistics = (database: CatalogDatabase, now: Date): LandingRecord['statistics'] | undefined => {
  const packages = countPackages(database);
  const [repositories = 0, versions = 0, updated = null] =
    database
      .prepare<[number, number, string | null]>(
        `SELECT count(*), coalesce(sum(package_count), 0),
           coalesce(max(changed_at) FILTER (WHERE changed_at <= ?), max(changed_at)) FROM repository`,
      )
      .get(now.toISOString()) ?? [];
  return updated === null ? undefined : { repositories, packages, versions, updated };
};

/** The findings of one repository, and how its Release is signed. */
export interface RepositoryFindings {
  readonly slug: string;
  readonly signing: { readonly state: SigningState; readonly signers: readonly string[] };
  /** Ordered by code. */
  readonly findings: readonly Finding[];
}

type FindingColumns = [code: Finding['code'], count: number, example: string];
const toFinding = ([code, count, example]: FindingColumns): Finding => ({ code, count, example });

/** The findings of every repository, by slug. */
export const readRepositoryFindings = (database: CatalogDatabase): RepositoryFindings[] => {
  const select = database.prepare<FindingColumns>(
    'SELECT code, count, example FROM finding WHERE repository = ? ORDER BY code',
  );
  const rows = database
    .prepare<[id: number, slug: string, signing: string]>('SELECT id, slug, signing FROM repository ORDER BY slug')
    .all();
  return rows.map(([id, slug, signing]) => ({
    slug,
    signing: JSON.parse(signing),
    findings: select.all(id).map(toFinding),
  }));
};

/** The findings of all repositories, added up, and how many stanzas were read. */
export const readFindings = (database: CatalogDatabase): { findings: Finding[]; stanzas: number } => {
  const counter = new FindingCounter();
  const rows = database
    .prepare<FindingColumns>('SELECT code, count, example FROM finding ORDER BY code, repository')
    .all();
  counter.addAll(rows.map(toFinding));
  const [stanzas = 0] = database.prepare<[number]>('SELECT coalesce(sum(stanzas), 0) FROM repository').get() ?? [];
  return { findings: counter.list(), stanzas };
};
