import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { Compression } from '../../src/contract/compressions.ts';
import { countRecords, inspectIndex } from '../../src/crawl/inspect.ts';
import type { Received } from '../../src/crawl/visit.ts';

const stanza = 'Package: a\nVersion: 1\nArchitecture: all\nFilename: a.deb\n\n';
const limits = { maxBytes: 2 ** 30, maxRatio: 1000 };
const over = new Error('the visit is over');

/** Pieces of an index without end, which a visit is over after ten of. */
const begin = () => {
  const visit = new AbortController();
  const pieces: Readonly<Partial<Record<Compression, Uint8Array>>> = {
    plain: Buffer.from(stanza.repeat(1000)),
    gz: gzipSync(stanza.repeat(1000)),
  };
  let read = 0;
  async function* chunks(compression: Compression) {
    // The end is that of the test, where nothing else ends it.
    for (; read < 1000; read++) {
      if (read === 10) visit.abort(over);
      yield pieces[compression] ?? new Uint8Array();
    }
  }
  return { signal: visit.signal, chunks, read: () => read };
};

it.each<Compression>(['plain', 'gz'])(
  'C7: an index is read no further than the visit lasts: %s',
  async (compression) => {
    const counting = begin();
    await expect(countRecords(counting.chunks(compression), compression, limits, counting.signal)).rejects.toBe(over);
    expect(counting.read()).toBeLessThan(20);

    const inspecting = begin();
    let isHead = true;
    const read = () => {
      if (!isHead) return inspecting.chunks(compression);
      isHead = false;
      return begin().chunks(compression);
    };
    const received = {
      path: '/Packages',
      file: { size: 1, read },
      encoding: null,
      framed: true,
    } as unknown as Received;
    const candidate = { compression, path: '/Packages', listed: undefined, listedText: undefined };
    await expect(inspectIndex(candidate, received, limits, inspecting.signal)).rejects.toBe(over);
    expect(inspecting.read()).toBeLessThan(20);
  },
);
