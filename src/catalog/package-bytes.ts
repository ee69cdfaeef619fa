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

/**
 * Each of these that another one contradicts, and the first that does so, in the order given. Each cannot be compared
 * with one of them alone: of what one leaves out, it contradicts nobody.
 */
export const pairOtherBytes = <One extends PackageBytes>(ordered: readonly One[]): [One, other: One][] => {
  // Mirrors agree, so there are far fewer contents than records: each is compared once.
  const contents = new Map<string, One>();
  const keyOf = ({ sha256, size }: PackageBytes) => `${sha256} ${size}`;
  for (const one of ordered) {
    const key = keyOf(one);
    if (!contents.has(key)) contents.set(key, one);
  }
  if (contents.size < 2) return [];
  const firsts = [...contents.values()];
  const others = new Map([...contents].map(([key, one]) => [key, firsts.find((other) => areOtherBytes(one, other))]));
  return ordered.flatMap((one): [One, One][] => {
    const other = others.get(keyOf(one));
    return other === undefined ? [] : [[one, other]];
  });
};

// A catalog keeps 16 bytes of each digest. Digests do not compress: whole ones would make the catalog that replicas take a
// fifteenth larger; and another file with the same 16 takes 2^128 attempts, so it tells as many files apart.
const keptDigits = 32;

/** What a catalog keeps of the bytes that an index states, to be compared with what it keeps of others. */
export const keptBytes = ({ sha256, size }: PackageBytes): PackageBytes => ({
  sha256: sha256 === null ? null : sha256.slice(0, keptDigits),
  size,
});

/** What it keeps of a digest, as its column. */
export const digestColumn = ({ sha256 }: PackageBytes): Uint8Array | null =>
  sha256 === null ? null : Buffer.from(sha256.slice(0, keptDigits), 'hex');

/** What such a column holds, in digits. */
export const readDigestColumn = (column: Uint8Array | null): string | null =>
  column === null ? null : Buffer.from(column).toString('hex');

/** What is kept of the bytes of each record of the repository that a catalog knows under one of these slugs, by `recordKey`. */
export const readPackageBytes = (database: CatalogDatabase, slugs: readonly string[]): Map<string, PackageBytes> => {
  const found = slugs.map((slug) => findRepository(database, slug)).find((one) => one !== undefined);
  const bytes = new Map<string, PackageBytes>();
  if (found === undefined) return bytes;
  const rows = database.prepare<
    [name: string, version: string, architecture: string, digest: Uint8Array | null, size: number]
  >('SELECT package, version, architecture, digest, size FROM record WHERE id >= ? AND id < ?');
  for (const [name, version, architecture, digest, size] of rows.iterate(...found.range))
    bytes.set(recordKey(name, version, architecture), { sha256: readDigestColumn(digest), size });
  return bytes;
};
