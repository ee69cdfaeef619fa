import type { CatalogDatabase } from './database.ts';

/** The order of repositories: of several that had a slug before, the first keeps it. */
export const bySlugOrder = 'ORDER BY ranking, slug';

/**
 * The rows of the table of repositories with their former slugs read. A slug leads to the repository that has it, or
 * else to the first in `bySlugOrder` that had it before: `aliases` names only those that lead to its own.
 *
 * @param rows all repositories in `bySlugOrder`; `aliases` is the JSON text of the table
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

/** Each of these repositories, by its slug and by its former ones. */
export const mapSlugs = <Row extends { readonly slug: string; readonly aliases: readonly string[] }>(
  settled: readonly Row[],
): ReadonlyMap<string, Row> =>
  new Map(settled.flatMap((row) => [row.slug, ...row.aliases].map((name) => [name, row] as const)));

/** The slug of the repository that has this one, or else of the first that had it before. */
export const readSlugs = (database: CatalogDatabase): ((slug: string) => string | undefined) => {
  const rows = database
    .prepare<[slug: string, aliases: string]>(`SELECT slug, aliases FROM repository ${bySlugOrder}`)
    .all();
  const bySlug = mapSlugs(settleAliases(rows.map(([slug, aliases]) => ({ slug, aliases }))));
  return (slug) => bySlug.get(slug)?.slug;
};
