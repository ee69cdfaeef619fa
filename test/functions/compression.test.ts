import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { compressBytes, createCompressedFiles, createDigest } from '../../functions/node/compression.ts';
import { temporaryFolder } from '../support/folder.ts';

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

it('H4: a copy that another server of the folder removes before it has its name is none, and no error', async () => {
  const folder = temporaryFolder();
  const source = path.join(folder, 'source');
  const copies = path.join(folder, 'copies');
  const bytes = randomBytes(2 ** 23);
  writeFileSync(source, bytes);
  const digest = createDigest();
  digest.update(bytes);
  const of = { size: bytes.length, digest: digest.end() };
  const reported: unknown[] = [];
  const files = createCompressedFiles(copies, (error) => reported.push(error));
  const making = files.copy(source, of, 'gzip');
  const halfMade = () => (existsSync(copies) ? readdirSync(copies).find((name) => name.endsWith('.part')) : undefined);
  while (halfMade() === undefined) await setImmediate();
  rmSync(path.join(copies, halfMade() ?? ''));
  expect(await making).toBeUndefined();
  expect(reported).toEqual([]);
  expect((await files.copy(source, of, 'gzip'))?.size).toBeGreaterThan(0);
});

it('H4: no copy is kept of a file that has changed since its digest was computed', async () => {
  const folder = temporaryFolder();
  const copies = path.join(folder, 'copies');
  const source = path.join(folder, 'source');
  writeFileSync(source, 'after');
  const of = { size: 'before'.length, digest: 'digest-of-what-it-was' };
  expect(await createCompressedFiles(copies).copy(source, of, 'gzip')).toBeUndefined();
  expect(readdirSync(copies)).toEqual([]);
});

it('H6: where no copy can be written, as on a full disk, that is told once, and not tried for each file', async () => {
  const folder = temporaryFolder();
  const copies = path.join(folder, 'no-folder');
  writeFileSync(copies, '');
  const reported: unknown[] = [];
  const files = createCompressedFiles(copies, (error) => reported.push(error));
  for (const name of ['one', 'two', 'three']) {
    const source = path.join(folder, name);
    writeFileSync(source, name);
    expect(await files.copy(source, { size: name.length, digest: name }, 'gzip')).toBeUndefined();
  }
  expect(reported).toMatchObject([{ message: expect.stringContaining('No compressed copies can be written to') }]);
});
