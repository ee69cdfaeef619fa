import type { CatalogDatabase } from './database.ts';

/** The order of repositories. If several had the same slug before, the first of them keeps it. */
export const bySlugOrder = 'ORDER BY ranking, slug';

/**
 * Parses the former slugs in rows of the table of repositories. A slug leads to the repository that has it, or else to
 * the first in `bySlugOrder` that formerly had it, so the resulting `aliases` contain only slugs that lead to that
 * repository.
 *
 * @param rows all repositories in `bySlugOrder`; `aliases` is the JSON text in the table
 */
export const settleAliases = <Row extends { readonly slug: string; readonly aliases: string }>(
  rows: readonly Row[],
): (Omit<Row, 'aliases'> & { readonly aliases: readonly string[] })[] => {
  const taken = new Set(rows.map(({ slug }) => slug));
  return rows.map((row) => {
    const aliases = (JSON.parse(row.aliases) as string[]).filter((alias) => !taken.has(alias));
    for (const alias of aliases) taken.add(alias);
    return { ...row, aliases };
  });
};

/** These repositories by their slugs, including former ones. */
export const mapSlugs = <Row extends { readonly slug: string; readonly aliases: readonly string[] }>(
  settled: readonly Row[],
): ReadonlyMap<string, Row> =>
  new Map(settled.flatMap((row) => [row.slug, ...row.aliases].map((name) => [name, row] as const)));

/** What the rows of each repository were made from, by its slug: texts that differ where any of it does. */
export const readSources = (database: CatalogDatabase): Map<string, string> =>
  new Map(database.prepare<[string, string]>('SELECT slug, source FROM repository').all());

/**
 * Returns a function that gives the slug of the repository that has this slug, or else of the first that formerly had
 * it.
 */
export const readSlugs = (database: CatalogDatabase): ((slug: string) => string | undefined) => {
  const rows = database
    .prepare<[slug: string, aliases: string]>(`SELECT slug, aliases FROM repository ${bySlugOrder}`)
    .all();
  const bySlug = mapSlugs(settleAliases(rows.map(([slug, aliases]) => ({ slug, aliases }))));
  return (slug) => bySlug.get(slug)?.slug;
};
