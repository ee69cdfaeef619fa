import type { CatalogDatabase } from './database.ts';

/** The slug of the repository that has this one, or else of the first that had it before. */
export const prepareSlugs = (database: CatalogDatabase): ((slug: string) => string | undefined) => {
  const find = database.prepare<[slug: string]>(
    `SELECT slug FROM repository
     WHERE slug = ?1 OR EXISTS (SELECT 1 FROM json_each(aliases) WHERE json_each.value = ?1)
     ORDER BY slug != ?1, ranking, slug LIMIT 1`,
  );
  return (slug) => find.get(slug)?.[0];
};
