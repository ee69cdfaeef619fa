import { recordKey } from '../snapshots/record-history.ts';
import type { CatalogDatabase } from './database.ts';
import { findRepository } from './record-range.ts';

/** What an index says of the bytes of a package file. */
export interface PackageBytes {
  /** Lower case hexadecimal digits; null where the index does not say. */
  readonly sha256: string | null;
  /** 0 where the index does not say. */
  readonly size: number;
}

/**
 * Whether two indexes cannot mean the same file: what one of them leaves out speaks for neither, so that files of which
 * only older hashes are known differ by their size alone.
 */
export const areOtherBytes = (one: PackageBytes, other: PackageBytes): boolean =>
  (one.sha256 !== null && other.sha256 !== null && one.sha256 !== other.sha256) ||
  (one.size > 0 && other.size > 0 && one.size !== other.size);

/** The bytes of each record of the repository that a catalog knows under one of these slugs, by `recordKey`. */
export const readPackageBytes = (database: CatalogDatabase, slugs: readonly string[]): Map<string, PackageBytes> => {
  const found = slugs.map((slug) => findRepository(database, slug)).find((one) => one !== undefined);
  const bytes = new Map<string, PackageBytes>();
  if (found === undefined) return bytes;
  const rows = database.prepare<
    [name: string, version: string, architecture: string, sha256: string | null, size: number]
  >('SELECT package, version, architecture, sha256, size FROM record WHERE id >= ? AND id < ?');
  for (const [name, version, architecture, sha256, size] of rows.iterate(...found.range))
    bytes.set(recordKey(name, version, architecture), { sha256, size });
  return bytes;
};
