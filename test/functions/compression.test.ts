import { expect, it } from 'vitest';
import { compressBytes } from '../../functions/node/compression.ts';

it.each([
  ['gzip', 'computed'],
  ['br', 'computed'],
  ['zstd', 'computed'],
  ['gzip', 'kept'],
  ['br', 'kept'],
  ['zstd', 'kept'],
] as const)('H6: what is compressed (%s, %s) holds no more memory than it counts for', async (encoding, effort) => {
  for (const size of [2000, 200_000]) {
    const body = Uint8Array.from({ length: size }, (_, index) => (index * index) % 251);
    const compressed = await compressBytes(body, encoding, effort);
    expect(compressed.length).toBeLessThan(size);
    expect(compressed.buffer.byteLength).toBe(compressed.length);
  }
});
