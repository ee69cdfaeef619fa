import { compareVersions } from '../apt/version.ts';
import type { CatalogDatabase } from './database.ts';
import { compareText } from './reading.ts';
import { listRecords, type RecordList, type RecordPiece, readyText } from './record-list.ts';

export type LatestPriority = 'default' | 'bootstrap';

/**
 * A reader of the one record that a multi lookup answers for each identifier (decisions, section 4): the latest one, of
 * bootstrap repositories first where asked, then by ranking, version, slug and architecture. In the order asked;
 * unknown identifiers are left out.
 */
export const prepareLatest = (
  database: CatalogDatabase,
): ((names: readonly string[], priority: LatestPriority) => RecordList) => {
  const select = database.prepare<LatestColumns>(
    `SELECT package, version, architecture, ${readyText}, slug, ranking, bootstrap, embedded
     FROM json_each(?) AS wanted
     CROSS JOIN record ON record.package = wanted.value
     CROSS JOIN repository ON repository.id = record.repository
     WHERE latest = 1`,
  );
  return (names, priority) => {
    const best = new Map<string, LatestRow>();
    for (const columns of select.all(JSON.stringify(names))) {
      const row = toLatestRow(columns);
      const other = best.get(row.name);
      if (other === undefined || latestOrder(row, other, priority) < 0) best.set(row.name, row);
    }
    const rows = names.map((name) => best.get(name)).filter((row) => row !== undefined);
    return listRecords(
      rows.map(({ json, embedded }) => [json, embedded] as const),
      (embedded) => embedded,
    );
  };
};

type LatestColumns = [
  name: string,
  version: string,
  architecture: string,
  json: RecordPiece,
  slug: string,
  ranking: number,
  bootstrap: number,
  embedded: string,
];

const toLatestRow = ([name, version, architecture, json, slug, ranking, bootstrap, embedded]: LatestColumns) => ({
  name,
  version,
  architecture,
  json,
  slug,
  ranking,
  bootstrap,
  embedded,
});
type LatestRow = ReturnType<typeof toLatestRow>;

const latestOrder = (a: LatestRow, b: LatestRow, priority: LatestPriority): number =>
  (priority === 'bootstrap' ? b.bootstrap - a.bootstrap : 0) ||
  a.ranking - b.ranking ||
  compareVersions(b.version, a.version) ||
  compareText(a.slug, b.slug) ||
  compareText(a.architecture, b.architecture);
