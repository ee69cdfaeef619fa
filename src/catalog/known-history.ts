import { addressKey, slugKey, slugPattern } from '../contract/manifest.ts';
import { type RecordHistory, recordKey, type Sight } from '../snapshots/record-history.ts';
import type { Snapshot } from '../snapshots/snapshot.ts';
import type { CatalogDatabase } from './database.ts';
import { newsCode } from './news-codes.ts';
import { CatalogBuild } from './state-catalog.ts';

/** What a catalog knows of the past of a repository, in case its history is lost. */
export interface KnownHistory {
  readonly addedAt: string;
  readonly records: RecordHistory;
}

// A catalog of an earlier version did not record which records were news (all that came after the repository itself),
// nor which bytes changed.
const columnsOf = (database: CatalogDatabase): string => {
  const names = new Set(database.prepare<[string]>("SELECT name FROM pragma_table_info('record')").all().flat());
  const news = names.has('news') ? 'record.news' : 'first_seen != repository.added_at';
  return `${news}, ${names.has('changed_at') ? 'record.changed_at' : 'NULL'}`;
};

const readRows = (database: CatalogDatabase, slug: string, origin: Snapshot['origin']): KnownHistory | undefined => {
  const row = database
    .prepare<[addedAt: string, uri: string, suite: string]>(
      'SELECT added_at, uri, suite FROM repository WHERE slug = ?',
    )
    .get(slug);
  if (row === undefined) return undefined;
  const [addedAt, uri, suite] = row;
  const select = database.prepare<
    [name: string, version: string, architecture: string, seen: string, news: number, changedAt: string | null]
  >(
    `SELECT package, version, architecture, first_seen, ${columnsOf(database)}
     FROM repository JOIN record ON record.repository = repository.id WHERE slug = ?`,
  );
  const records = new Map<string, Sight>();
  for (const [name, version, architecture, seen, news, changedAt] of select.iterate(slug)) {
    const sight = { seen, news: news !== newsCode.known, goneAt: null, changedAt };
    records.set(recordKey(name, version, architecture), sight);
  }
  return { addedAt, records: { address: addressKey({ ...origin, uri, suite }), records } };
};

/** What the catalog in force, of any version, knows of the past of a repository under one of its slugs. */
export const readKnownHistory = (
  catalog: CatalogBuild,
  slugs: readonly string[],
  origin: Snapshot['origin'],
): KnownHistory | undefined => {
  const read = (database: CatalogDatabase) => {
    for (const slug of slugs) {
      const known = readRows(database, slug, origin);
      if (known) return known;
    }
    return undefined;
  };
  return read(catalog.database) ?? catalog.readFormer(read);
};

/**
 * All slugs, former ones included, of each repository in the catalog in force, of any version, by the `slugKey` of its
 * own. Empty if there is no catalog.
 */
export const readKnownSlugs = (state: string): ReadonlyMap<string, readonly string[]> => {
  const read = (database: CatalogDatabase) =>
    database.prepare<[slug: string, aliases: string]>('SELECT slug, aliases FROM repository').all();
  const catalog = new CatalogBuild(state);
  try {
    const rows = (catalog.before && read(catalog.before)) ?? catalog.readFormer(read) ?? [];
    return new Map(
      rows.map(([slug, aliases]) => [
        slugKey(slug),
        [slug, ...(JSON.parse(aliases) as string[])].filter((one) => slugPattern.test(one)),
      ]),
    );
  } catch {
    // A damaged catalog is built again, and says nothing.
    return new Map();
  } finally {
    catalog.discard();
  }
};
