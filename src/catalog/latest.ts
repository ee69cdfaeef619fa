import { compareVersions } from '../apt/version.ts';
import type { CatalogDatabase, SqlValue } from './database.ts';
import { compareText } from './reading.ts';
import { listRecords, type RecordList, type RecordPiece, readyText } from './record-list.ts';

export type LatestPriority = 'default' | 'bootstrap';

type LatestColumns<Found extends SqlValue[]> = [
  name: string,
  version: string,
  architecture: string,
  repository: number,
  ...found: Found,
];

/** What is needed of a repository for each of its records. It is read once, because thousands of records share it. */
interface Owner {
  readonly slug: string;
  readonly ranking: number;
  readonly bootstrap: number;
  /** JSON: the repository inside a package record. */
  readonly embedded: string;
}

interface LatestRow<Found> {
  readonly version: string;
  readonly architecture: string;
  readonly owner: Owner;
  readonly found: Found;
}

/**
 * Finds these columns of the latest record of each identifier. prepareLatest says which record that is, and in which
 * order they come.
 */
const prepareFound = <Found extends SqlValue[]>(
  database: CatalogDatabase,
  columns: string,
): ((names: readonly string[], priority: LatestPriority) => LatestRow<Found>[]) => {
  const owners = new Map(
    database
      .prepare<[number, string, number, number, string]>(
        'SELECT id, slug, ranking, bootstrap, embedded FROM repository',
      )
      .all()
      .map(([id, slug, ranking, bootstrap, embedded]): [number, Owner] => [id, { slug, ranking, bootstrap, embedded }]),
  );
  const select = database.prepare<LatestColumns<Found>>(
    `SELECT package, version, architecture, repository, ${columns}
     FROM json_each(?) AS wanted
     CROSS JOIN record ON record.package = wanted.value
     WHERE latest = 1`,
  );
  return (names, priority) => {
    const best = new Map<string, LatestRow<Found>>();
    for (const [name, version, architecture, repository, ...found] of select.all(JSON.stringify(names))) {
      const owner = owners.get(repository);
      if (owner === undefined) continue;
      const row = { version, architecture, owner, found };
      const other = best.get(name);
      if (other === undefined || latestOrder(row, other, priority) < 0) best.set(name, row);
    }
    return names.map((name) => best.get(name)).filter((row) => row !== undefined);
  };
};

/**
 * Reads the record that a multi lookup answers for each identifier (decisions, section 4): the latest one, from
 * bootstrap repositories first if requested, then by ranking, version, slug and architecture. The order is that of the
 * identifiers; unknown ones are left out.
 */
export const prepareLatest = (
  database: CatalogDatabase,
): ((names: readonly string[], priority: LatestPriority) => RecordList) => {
  const find = prepareFound<[json: RecordPiece]>(database, readyText);
  return (names, priority) => {
    const rows = find(names, priority).map(({ owner, found: [json] }) => [json, owner] as const);
    return listRecords(rows, ({ embedded }) => embedded);
  };
};

/** The same, but only the numbers of the records. */
export const prepareLatestNumbers = (database: CatalogDatabase): ((names: readonly string[]) => number[]) => {
  const find = prepareFound<[id: number]>(database, 'record.id');
  return (names) => find(names, 'default').flatMap(({ found }) => found);
};

const latestOrder = (a: LatestRow<unknown>, b: LatestRow<unknown>, priority: LatestPriority): number =>
  (priority === 'bootstrap' ? b.owner.bootstrap - a.owner.bootstrap : 0) ||
  a.owner.ranking - b.owner.ranking ||
  compareVersions(b.version, a.version) ||
  compareText(a.owner.slug, b.owner.slug) ||
  compareText(a.architecture, b.architecture);
