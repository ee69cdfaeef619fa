import { existsSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { constants, createZstdCompress, zstdCompressSync } from 'node:zlib';
import { expect, it, vi } from 'vitest';
import { PublicationSource } from '../../src/following/source.ts';
import { createSourceFetcher } from '../../src/following/source-fetcher.ts';
import type { Fetcher } from '../../src/net/fetcher.ts';
import { FileOrigin } from '../support/built-publication.ts';
import { temporaryFolder } from '../support/folder.ts';
import { sha256 } from '../support/publication.ts';

const plain = Buffer.from('a catalog');

/** Takes a catalog that was compressed to be read with a window of so many bytes, as a power of two. */
const take = async (windowLog: number): Promise<string> => {
  const compress = createZstdCompress({ params: { [constants.ZSTD_c_windowLog]: windowLog } });
  // Of a text whose length is not known before, the whole window is announced.
  const compressed = Buffer.concat(
    await Readable.from([plain.subarray(0, 4), plain.subarray(4)])
      .pipe(compress)
      .toArray(),
  );
  const fetcher = { fetch: async () => ({ status: 200, body: Readable.from([compressed]) }) } as unknown as Fetcher;
  const folder = temporaryFolder();
  const into = { compressed: path.join(folder, 'compressed'), plain: path.join(folder, 'plain') };
  const announced = { sha256: sha256(plain), size: plain.length, compressed_size: compressed.length };
  const source = new PublicationSource('https://index.example', fetcher);
  await source.takeCatalog({ path: 'v2/catalog/a.zst', ...announced }, into);
  expect(existsSync(into.compressed)).toBe(true);
  return readFileSync(into.plain, 'utf8');
};

it('C2: a catalog that takes more memory to decompress than any that a build writes is refused', async () => {
  expect(await take(24)).toBe('a catalog');
  await expect(take(25)).rejects.toMatchObject({ kind: 'damaged' });
});

it('C2: of a catalog that decompresses to more than it says no more than that reaches the disk', async () => {
  const compressed = zstdCompressSync(Buffer.alloc(64 * 2 ** 20));
  const fetcher = { fetch: async () => ({ status: 200, body: Readable.from([compressed]) }) } as unknown as Fetcher;
  const folder = temporaryFolder();
  const into = { compressed: path.join(folder, 'compressed'), plain: path.join(folder, 'plain') };
  const size = 5 * 2 ** 20;
  const announced = { path: 'v2/catalog/a.zst', sha256: sha256('another'), size, compressed_size: compressed.length };
  const taking = new PublicationSource('https://index.example', fetcher).takeCatalog(announced, into);
  await expect(taking).rejects.toMatchObject({ kind: 'damaged' });
  expect(statSync(into.plain, { throwIfNoEntry: false })?.size ?? 0).toBeLessThanOrEqual(size);
});

it('a catalog may be under way for an hour to mirrors and replicas alike, however long an origin may take', async () => {
  const folder = temporaryFolder();
  writeFileSync(path.join(folder, 'catalog'), plain);
  const origin = await new FileOrigin(folder).open();
  const fetcher = createSourceFetcher(origin.address, { userAgent: 'test', proxies: undefined });
  const timers = vi.spyOn(globalThis, 'setTimeout');
  try {
    await new PublicationSource(origin.address, fetcher).take('catalog', path.join(folder, 'taken'));
    const longest = Math.max(...timers.mock.calls.map(([, milliseconds]) => milliseconds ?? 0));
    expect(longest).toBe(3_600_000);
  } finally {
    timers.mockRestore();
    await fetcher.close();
    await origin.close();
  }
});

/** A publication whose files are answered so. */
const answering = (answer: (path: string) => { readonly status?: number; readonly body?: string }) => {
  const fetch = async ({ pathname }: URL) => {
    const { status = 200, body = '' } = answer(pathname);
    return { status, body: Readable.from([Buffer.from(body)]), retryAfter: null };
  };
  return new PublicationSource('https://index.example', { fetch } as unknown as Fetcher);
};

it('P3: a file is gone where its host says so, by the status of a bucket that may not be listed too, and by no other', async () => {
  const file = () => path.join(temporaryFolder(), 'taken');
  for (const status of [403, 404, 410]) expect(await answering(() => ({ status })).take('a', file())).toBeUndefined();
  for (const [status, transient] of [
    [408, true],
    [429, true],
    [500, true],
    [503, true],
    [401, false],
    [451, false],
  ] as const) {
    const taking = answering(() => ({ status })).take('a', file());
    await expect(taking, `${status}`).rejects.toMatchObject({ kind: 'absent', transient });
  }
});

it('P2: a change list under the number of another one is none', async () => {
  const list = {
    ...{ format: 1, number: 3, date: '2026-05-01T00:00:00.000Z', previous: 2 },
    ...{ documents: { written: [], removed: [] }, packages: [] },
  };
  const body = JSON.stringify(list);
  const source = answering(() => ({ body }));
  expect(await source.readChanges(3)).toEqual({ list, bytes: body.length });
  expect(await source.readChanges(2)).toBeUndefined();
  expect(await answering(() => ({ body: '{}' })).readChanges(3)).toBeUndefined();
});

it('P3: a catalog that is as long as it says is taken, and none of another length; no file of either stays open', async () => {
  const compressed = zstdCompressSync(plain);
  const folder = temporaryFolder();
  const fetcher = { fetch: async () => ({ status: 200, body: Readable.from([compressed]) }) } as unknown as Fetcher;
  const takeAs = (name: string, size: number) => {
    const into = { compressed: path.join(folder, `${name}.zst`), plain: path.join(folder, name) };
    const announced = { path: 'v2/catalog/a.zst', sha256: sha256(plain), size, compressed_size: compressed.length };
    return new PublicationSource('https://index.example', fetcher).takeCatalog(announced, into);
  };
  expect(await takeAs('right', plain.length)).toBe(sha256(compressed));
  await expect(takeAs('longer', plain.length + 1)).rejects.toMatchObject({ kind: 'damaged' });
  await expect(takeAs('shorter', plain.length - 1)).rejects.toMatchObject({ kind: 'damaged' });
  const descriptors = existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd') : [];
  const open = descriptors.map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      return '';
    }
  });
  expect(open.filter((file) => file.startsWith(folder))).toEqual([]);
});
