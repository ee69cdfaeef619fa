import { createHash, type Hash, hash } from 'node:crypto';

/** The hashes of the Release format, weakest first. MD5 and SHA-1 no longer prove anything. */
export const hashAlgorithms = ['md5', 'sha1', 'sha256', 'sha512'] as const;
export type HashAlgorithm = (typeof hashAlgorithms)[number];

/** Length of each hash in hex digits. */
export const hexLength: Readonly<Record<HashAlgorithm, number>> = { md5: 32, sha1: 40, sha256: 64, sha512: 128 };

const strongAlgorithms: readonly HashAlgorithm[] = ['sha256', 'sha512'];

/** Size in bytes and hashes in lower-case hex: only those hashes that were requested, or that an origin lists. */
export type Digests = { size: number } & { [algorithm in HashAlgorithm]?: string };

/** SHA-256 in lower-case hex; a string counts as its UTF-8 bytes. */
export const sha256Hex = (bytes: Uint8Array | string): string => hash('sha256', bytes, 'hex');

/** Hashes and counts bytes as they pass. `result` may be called once, at the end. */
export const createDigests = (
  algorithms: readonly HashAlgorithm[],
): {
  update(chunk: Uint8Array): void;
  result(): Digests;
} => {
  const hashes = algorithms.map((algorithm): [HashAlgorithm, Hash] => [algorithm, createHash(algorithm)]);
  let size = 0;
  return {
    update(chunk) {
      size += chunk.length;
      for (const [, running] of hashes) running.update(chunk);
    },
    result() {
      const digests: Digests = { size };
      for (const [algorithm, running] of hashes) digests[algorithm] = running.digest('hex');
      return digests;
    },
  };
};

/** The hashes to compute for `checkDigests` with this entry: all strong ones that it lists, or else the weak ones. */
export const algorithmsFor = (listed: Omit<Digests, 'size'>): HashAlgorithm[] => {
  const present = hashAlgorithms.filter((algorithm) => listed[algorithm] !== undefined);
  const strong = present.filter((algorithm) => strongAlgorithms.includes(algorithm));
  return strong.length > 0 ? strong : present;
};

/** A difference between what Release lists and what was received. */
export interface DigestMismatch {
  algorithm: 'size' | HashAlgorithm;
  expected: string;
  actual: string;
}

/**
 * Compares what was received with what Release lists. The size and every listed hash of `algorithmsFor` must agree; a
 * hash that is listed but was not computed counts as a mismatch. `strong` says whether there was a strong hash among
 * them.
 */
export const checkDigests = (
  listed: Digests,
  actual: Digests,
): { strong: boolean; mismatch: DigestMismatch | null } => {
  const algorithms = algorithmsFor(listed);
  const strong = algorithms.some((algorithm) => strongAlgorithms.includes(algorithm));
  if (listed.size !== actual.size) {
    return { strong, mismatch: { algorithm: 'size', expected: String(listed.size), actual: String(actual.size) } };
  }
  for (const algorithm of algorithms) {
    const expected = listed[algorithm] ?? '';
    const found = actual[algorithm] ?? '';
    if (expected !== found) return { strong, mismatch: { algorithm, expected, actual: found } };
  }
  return { strong, mismatch: null };
};
