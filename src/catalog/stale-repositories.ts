import type { CatalogDatabase, WritableDatabase } from './database.ts';

/** The slugs of the repositories that the last build could not read, so that earlier data is shown. */
export const readStale = (database: CatalogDatabase): string[] =>
  database
    .prepare<[slug: string]>('SELECT slug FROM repository WHERE stale = 1 ORDER BY slug')
    .all()
    .map(([slug]) => slug);

/** Records which repositories those are. Writes only if they have changed. */
export const writeStale = (
  catalog: { readonly database: CatalogDatabase; writable(): WritableDatabase },
  stale: ReadonlySet<string>,
): void => {
  const known = new Set(readStale(catalog.database));
  const rows = catalog.database.prepare<[slug: string]>('SELECT slug FROM repository').all();
  const turned = rows.filter(([slug]) => stale.has(slug) !== known.has(slug));
  if (turned.length === 0) return;
  const update = catalog.writable().prepareWrite('UPDATE repository SET stale = ? WHERE slug = ?');
  for (const [slug] of turned) update.run(stale.has(slug) ? 1 : 0, slug);
};
