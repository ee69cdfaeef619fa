import type { CatalogDatabase } from './database.ts';

/** Says which packages, and which versions of them, are in the catalog. */
export interface KnownVersions {
  hasPackage(id: string): boolean;
  /** The versions of a package in all repositories. */
  versionsOf(id: string): ReadonlySet<string>;
}

/** Prepares the statements for an open catalog. */
export const prepareKnownVersions = (database: CatalogDatabase): KnownVersions => {
  const one = database.prepare<[number]>('SELECT 1 FROM record WHERE package = ? LIMIT 1');
  const versions = database.prepare<[string]>('SELECT version FROM record WHERE package = ?');
  return {
    hasPackage: (id) => one.get(id) !== undefined,
    versionsOf: (id) => new Set(versions.all(id).map(([version]) => version)),
  };
};
