import { hash } from 'node:crypto';
import type { CatalogDatabase } from './database.ts';

/** A digest of everything that the catalog was built from. It changes whenever the index does. */
export const readBuildDigest = (database: CatalogDatabase): string => {
  const rows = database.prepare<[string]>('SELECT source FROM repository ORDER BY slug').all();
  return hash('sha256', rows.flat().join('\n')).slice(0, 16);
};
