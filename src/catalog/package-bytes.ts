import { recordKey } from '../snapshots/record-history.ts';
import type { CatalogDatabase } from './database.ts';
import { findRepository } from './record-range.ts';

/** What an index says about the bytes of a package file. */
export interface PackageBytes {
  /** In lower-case hex; null if the index does not say. */
  readonly sha256: string | null;
  /** In bytes; 0 if the index does not say. */
  readonly size: number;
}

/**
 * Whether two indexes cannot mean the same file. What one of them leaves out counts neither way, so files of which only
 * weaker hashes are known differ only if their sizes do.
 */
export const areOtherBytes = (one: PackageBytes, other: PackageBytes): boolean =>
  (one.sha256 !== null && other.sha256 !== null && one.sha256 !== other.sha256) ||
  (one.size > 0 && other.size > 0 && one.size !== other.size);

/**
 * Each of these that another one contradicts, with the first that does, in the given order. Comparing each with a
 * single reference would not do: one that leaves something out contradicts nobody in that respect.
 */
export const pairOtherBytes = <One extends PackageBytes>(ordered: readonly One[]): [One, other: One][] => {
  // Mirrors agree, so there are far fewer contents than records, and each content is compared once.
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

// A catalog keeps 16 bytes of each digest. Digests do not compress, so whole ones would make the catalog that replicas
// take a fifteenth larger. Finding another file with the same 16 bytes takes 2^128 attempts, so they distinguish files
// just as well.
const keptDigits = 32;

/** The part of the stated bytes that a catalog keeps, for comparison with what it keeps of others. */
export const keptBytes = ({ sha256, size }: PackageBytes): PackageBytes => ({
  sha256: sha256 === null ? null : sha256.slice(0, keptDigits),
  size,
});

/** The kept part of a digest, as a column. */
export const digestColumn = ({ sha256 }: PackageBytes): Uint8Array | null =>
  sha256 === null ? null : Buffer.from(sha256.slice(0, keptDigits), 'hex');

/** The digits in such a column. */
export const readDigestColumn = (column: Uint8Array | null): string | null =>
  column === null ? null : Buffer.from(column).toString('hex');

/**
 * What is kept about the bytes of each record of a repository, which a catalog knows under one of these slugs, by
 * `recordKey`.
 */
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
