import { compareVersions } from '../apt/version.ts';
import type { CatalogDatabase, SqlValue } from './database.ts';
import { compareText } from './reading.ts';
import { listRecords, type RecordList, type RecordPiece, readyText } from './record-list.ts';

export type LatestPriority = 'default' | 'bootstrap';

type LatestColumns<Found extends SqlValue[]> = [
  name: string,
  version: string,
  architecture: string,
  slug: string,
  ranking: number,
  bootstrap: number,
  ...found: Found,
];

/**
 * Finds the latest record of each identifier, and of it these columns; see prepareLatest for which, and in which order.
 */
const prepareFound = <Found extends SqlValue[]>(
  database: CatalogDatabase,
  columns: string,
): ((names: readonly string[], priority: LatestPriority) => Found[]) => {
  const select = database.prepare<LatestColumns<Found>>(
    `SELECT package, version, architecture, slug, ranking, bootstrap, ${columns}
     FROM json_each(?) AS wanted
     CROSS JOIN record ON record.package = wanted.value
     CROSS JOIN repository ON repository.id = record.repository
     WHERE latest = 1`,
  );
  return (names, priority) => {
    const best = new Map<string, LatestRow & { readonly found: Found }>();
    for (const [name, version, architecture, slug, ranking, bootstrap, ...found] of select.all(JSON.stringify(names))) {
      const row = { name, version, architecture, slug, ranking, bootstrap, found };
      const other = best.get(name);
      if (other === undefined || latestOrder(row, other, priority) < 0) best.set(name, row);
    }
    return names.map((name) => best.get(name)?.found).filter((found) => found !== undefined);
  };
};

/**
 * A reader of the one record that a multi lookup answers for each identifier (decisions, section 4): the latest one, of
 * bootstrap repositories first where asked, then by ranking, version, slug and architecture. In the order asked;
 * unknown identifiers are left out.
 */
export const prepareLatest = (
  database: CatalogDatabase,
): ((names: readonly string[], priority: LatestPriority) => RecordList) => {
  const find = prepareFound<[json: RecordPiece, embedded: string]>(database, `${readyText}, embedded`);
  return (names, priority) => listRecords(find(names, priority), (embedded) => embedded);
};

/** The same as the number of the record. */
export const prepareLatestNumbers = (database: CatalogDatabase): ((names: readonly string[]) => number[]) => {
  const find = prepareFound<[id: number]>(database, 'record.id');
  return (names) => find(names, 'default').flat();
};

interface LatestRow {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  readonly slug: string;
  readonly ranking: number;
  readonly bootstrap: number;
}

const latestOrder = (a: LatestRow, b: LatestRow, priority: LatestPriority): number =>
  (priority === 'bootstrap' ? b.bootstrap - a.bootstrap : 0) ||
  a.ranking - b.ranking ||
  compareVersions(b.version, a.version) ||
  compareText(a.slug, b.slug) ||
  compareText(a.architecture, b.architecture);
