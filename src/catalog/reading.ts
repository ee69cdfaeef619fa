import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { compareVersions } from '../apt/version.ts';
import { type Finding, FindingCounter } from '../contract/findings.ts';
import type { LandingRecord } from '../contract/records.ts';
import type { SigningState } from '../contract/signing.ts';
import { completeRecord, listRecords, type RecordList } from './record.ts';
import { endRecordId, firstRecordId } from './schema.ts';

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

const readRepositories = (database: DatabaseSync): Map<number, Repository> => {
  const rows = database.prepare('SELECT id, slug, ranking, embedded FROM repository').all();
  return new Map(
    rows.map((row) => [
      row.id as number,
      { slug: row.slug as string, quality: row.ranking as number, embedded: row.embedded as string },
    ]),
  );
};

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** What decides where a record stands in the answer of a package lookup. */
export interface LookupKey {
  readonly repository: { readonly slug: string; readonly quality: number };
  readonly latest: boolean;
  readonly version: string;
  readonly architecture: string;
}

/** Decisions, section 4, "Package lookup". Two spellings of an equal version stay apart by their text. */
export const lookupOrder = (a: LookupKey, b: LookupKey): number =>
  Number(b.latest) - Number(a.latest) ||
  a.repository.quality - b.repository.quality ||
  compareVersions(b.version, a.version) ||
  compareText(a.repository.slug, b.repository.slug) ||
  compareText(a.architecture, b.architecture) ||
  compareText(b.version, a.version);

// Decisions, section 4, "Repository packages", within one package identifier.
const listOrder = (a: Row, b: Row): number =>
  compareVersions(b.version, a.version) ||
  compareText(a.architecture, b.architecture) ||
  compareText(b.version, a.version);

const completed = (row: Row): string => completeRecord(row.json, row.repository.embedded);

const columns = 'package, repository, latest, version, architecture, record.json';
type Columns = [string, number, number, string, string, string];

/** Groups rows that come ordered by package identifier. */
function* groups(rows: Iterable<unknown>, repositories: ReadonlyMap<number, Repository>): Generator<[string, Row[]]> {
  let current: string | undefined;
  let group: Row[] = [];
  for (const row of rows) {
    const [name, number, latest, version, architecture, json] = row as Columns;
    if (current !== undefined && name !== current) {
      yield [current, group];
      group = [];
    }
    current = name;
    const repository = repositories.get(number);
    if (repository === undefined) throw new Error(`catalog: a record belongs to no repository (${number})`);
    group.push({ repository, latest: latest === 1, version, architecture, json });
  }
  if (current !== undefined) yield [current, group];
}

// One query each is quicker for a few packages, one scan for many.
const fewPackages = 2000;

/**
 * The records, as JSON texts in lookup order, of each of these packages that the catalog holds:
 * `[identifier, records]`.
 */
export function* readPackages(
  database: DatabaseSync,
  packages: ReadonlySet<string>,
): Generator<[name: string, records: string[]]> {
  const repositories = readRepositories(database);
  const inOrder = (rows: Row[]) => (rows.length > 1 ? rows.sort(lookupOrder) : rows).map(completed);
  if (packages.size <= fewPackages) {
    const select = database.prepare(`SELECT ${columns} FROM record WHERE package = ?`);
    select.setReturnArrays(true);
    for (const name of packages) {
      for (const [, rows] of groups(select.all(name), repositories)) yield [name, inOrder(rows)];
    }
    return;
  }
  const select = database.prepare(`SELECT ${columns} FROM record ORDER BY package`);
  select.setReturnArrays(true);
  for (const [name, rows] of groups(select.iterate(), repositories)) {
    if (packages.has(name)) yield [name, inOrder(rows)];
  }
}

// One query for several hundred rows costs a tenth of as many queries for one.
const rowsAtOnce = 500;

/**
 * The records of one repository as JSON texts, in the order of its packages document. A generator, since those of a
 * large repository are more than should be in memory at once.
 */
export function* readRepositoryRecords(database: DatabaseSync, slug: string): Generator<string> {
  const row = database.prepare('SELECT id, ranking FROM repository WHERE slug = ?').get(slug);
  if (row === undefined) return;
  const { id, ranking } = row as { id: number; ranking: number };
  const repositories = readRepositories(database);
  // Sorting the numbers alone and fetching row by row keeps the texts out of the sorter.
  const order = database.prepare('SELECT id FROM record WHERE id >= ? AND id < ? ORDER BY package');
  order.setReturnArrays(true);
  const ids = order.all(firstRecordId(ranking, id), endRecordId(ranking, id)) as unknown as [number][];
  const select = database.prepare(
    `SELECT ${columns} FROM json_each(?) AS wanted CROSS JOIN record ON record.id = wanted.value ORDER BY wanted.key`,
  );
  select.setReturnArrays(true);
  function* rows(): Generator<unknown> {
    for (let start = 0; start < ids.length; start += rowsAtOnce) {
      yield* select.all(JSON.stringify(ids.slice(start, start + rowsAtOnce).flat()));
    }
  }
  for (const [, group] of groups(rows(), repositories)) {
    if (group.length > 1) group.sort(listOrder);
    for (const one of group) yield completed(one);
  }
}

/** Every package identifier of the catalog, in order. */
export function* readPackageIdentifiers(database: DatabaseSync): Generator<string> {
  const select = database.prepare('SELECT DISTINCT package FROM record ORDER BY package');
  select.setReturnArrays(true);
  for (const row of select.iterate()) yield (row as unknown as [string])[0];
}

export interface RepositoryRow {
  readonly slug: string;
  readonly ranking: number;
  readonly packageCount: number;
  /** Former slugs, under which it is still found; never one that another repository has. */
  readonly aliases: readonly string[];
  /** JSON text of the public repository record. */
  readonly record: string;
}

/** Every repository, by ranking and then slug. */
export const readRepositoryRows = (database: DatabaseSync): RepositoryRow[] => {
  const rows = database
    .prepare(
      'SELECT slug, ranking, package_count AS packageCount, aliases, record FROM repository ORDER BY ranking, slug',
    )
    .all() as unknown as (Omit<RepositoryRow, 'aliases'> & { aliases: string })[];
  const taken = new Set(rows.map(({ slug }) => slug));
  return rows.map((row) => {
    const aliases = (JSON.parse(row.aliases) as string[]).filter((alias) => !taken.has(alias));
    for (const alias of aliases) taken.add(alias);
    return { ...row, aliases };
  });
};

/** The counts of the landing document; undefined where the catalog is empty. */
export const readStatistics = (database: DatabaseSync): LandingRecord['statistics'] | undefined => {
  const { packages } = database.prepare('SELECT count(DISTINCT package) AS packages FROM record').get() as {
    packages: number;
  };
  const { repositories, versions, updated } = database
    .prepare(
      `SELECT count(*) AS repositories, coalesce(sum(package_count), 0) AS versions, max(changed_at) AS updated
       FROM repository`,
    )
    .get() as { repositories: number; versions: number; updated: string | null };
  return updated === null ? undefined : { repositories, packages, versions, updated };
};

export type LatestPriority = 'default' | 'bootstrap';

/**
 * A reader of the one record that a multi lookup answers for each identifier (decisions, section 4): the latest one, of
 * bootstrap repositories first where asked, then by ranking, version, slug and architecture. In the order asked;
 * unknown identifiers are left out.
 */
export const prepareLatest = (
  database: DatabaseSync,
): ((names: readonly string[], priority: LatestPriority) => RecordList) => {
  const select = database.prepare(
    `SELECT package, version, architecture, record.json, slug, ranking, bootstrap, embedded
     FROM json_each(?) AS wanted
     CROSS JOIN record ON record.package = wanted.value
     CROSS JOIN repository ON repository.id = record.repository
     WHERE latest = 1`,
  );
  return (names, priority) => {
    const best = new Map<string, LatestRow>();
    for (const row of select.all(JSON.stringify(names)) as unknown as LatestRow[]) {
      const other = best.get(row.package);
      if (other === undefined || latestOrder(row, other, priority) < 0) best.set(row.package, row);
    }
    const rows = names.map((name) => best.get(name)).filter((row) => row !== undefined);
    return listRecords(
      rows.map(({ json, embedded }) => [json, embedded] as const),
      (embedded) => embedded,
    );
  };
};

interface LatestRow {
  readonly package: string;
  readonly version: string;
  readonly architecture: string;
  readonly json: string;
  readonly slug: string;
  readonly ranking: number;
  readonly bootstrap: number;
  readonly embedded: string;
}

const latestOrder = (a: LatestRow, b: LatestRow, priority: LatestPriority): number =>
  (priority === 'bootstrap' ? b.bootstrap - a.bootstrap : 0) ||
  a.ranking - b.ranking ||
  compareVersions(b.version, a.version) ||
  compareText(a.slug, b.slug) ||
  compareText(a.architecture, b.architecture);

/** A digest of all that the catalog was built from: it changes when the index does. */
export const readBuildDigest = (database: DatabaseSync): string => {
  const rows = database.prepare('SELECT source FROM repository ORDER BY slug').all();
  return hash('sha256', rows.map((row) => row.source).join('\n')).slice(0, 16);
};

/** What was found about one repository, and how its Release is signed. */
export interface RepositoryFindings {
  readonly slug: string;
  readonly signing: { readonly state: SigningState; readonly signers: readonly string[] };
  /** Ordered by code. */
  readonly findings: readonly Finding[];
}

/** The findings of every repository, by slug. */
export const readRepositoryFindings = (database: DatabaseSync): RepositoryFindings[] => {
  const select = database.prepare('SELECT code, count, example FROM finding WHERE repository = ? ORDER BY code');
  const rows = database.prepare('SELECT id, slug, signing FROM repository ORDER BY slug').all();
  return rows.map((row) => ({
    slug: row.slug as string,
    signing: JSON.parse(row.signing as string),
    findings: select.all(row.id as number) as unknown as Finding[],
  }));
};

/** The findings of all repositories, added up, and the number of stanzas that were read. */
export const readFindings = (database: DatabaseSync): { findings: Finding[]; stanzas: number } => {
  const counter = new FindingCounter();
  const rows = database.prepare('SELECT code, count, example FROM finding ORDER BY code, repository').all();
  counter.addAll(rows as unknown as Finding[]);
  const { stanzas } = database.prepare('SELECT coalesce(sum(stanzas), 0) AS stanzas FROM repository').get() as {
    stanzas: number;
  };
  return { findings: counter.list(), stanzas };
};
