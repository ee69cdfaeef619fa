import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { xzAsync } from 'node-liblzma/wasm';
import { beforeAll, describe, expect, it } from 'vitest';
import { areCrumbs, Crumbs } from '../../src/apt/crumbs.ts';
import { type Compression, DecompressionError, decompress } from '../../src/apt/decompress.ts';
import { StreamSeams } from '../../src/apt/several-streams.ts';
import { decompressAll } from '../support/decompress-all.ts';
import { bzip2Zeros, emptyBzip2, lzmaZeros, numbers, small, smallText, threeBlocks } from './compressed.ts';

const vectors = new URL('../../../shared/vectors/xz/', import.meta.url);
const limits = { maxBytes: 1 << 30, maxRatio: 1000 };
const codecs = Object.keys(small) as (keyof typeof small)[];

const codeOf = async (bytes: Uint8Array[], compression: Compression, own = limits): Promise<string> => {
  try {
    let size = 0;
    for await (const chunk of decompress(bytes, compression, own)) size += chunk.length;
    return `accepted ${size}`;
  } catch (error) {
    if (error instanceof DecompressionError) return error.code;
    throw error;
  }
};

const textOf = async (bytes: Uint8Array, compression: Compression): Promise<string> =>
  Buffer.from(await decompressAll(bytes, compression, limits)).toString();

const bytewise = (bytes: Uint8Array): Uint8Array[] => [...bytes].map((byte) => Uint8Array.of(byte));

describe.each(codecs)('decompress %s', (codec) => {
  const bytes = small[codec];

  it('reads a file, in whatever pieces it arrives', async () => {
    expect(await textOf(bytes, codec)).toBe(smallText);
    expect(await codeOf(bytewise(bytes), codec)).toBe(`accepted ${smallText.length}`);
  });

  it('V4: refuses a stream truncated at any byte', async () => {
    for (let length = 0; length < bytes.length; length += 1) {
      expect(await codeOf([bytes.subarray(0, length)], codec), `${length} bytes`).toBe('truncated');
      // Byte by byte it takes as many steps as there are bytes: those of the middle are alike, and the end is not.
      if (length % 6 === 0 || length > bytes.length - 16) {
        expect(await codeOf(bytewise(bytes.subarray(0, length)), codec), `${length} bytes`).toBe('truncated');
      }
    }
  });

  it('V4: refuses trailing garbage', async () => {
    const code = codec === 'xz' || codec === 'lzma' ? /^(corrupt|truncated)$/ : /^trailing-garbage$/;
    // The decoder of gzip stops at zeros and reads no further; the garbage may come long after.
    for (const garbage of ['garbage!garbage!', 'trash', '\0\0\0\0garbage!', `${'\0'.repeat(300_000)}garbage!`]) {
      expect(await codeOf([bytes, Buffer.from(garbage)], codec)).toMatch(code);
      expect(await codeOf([Buffer.concat([bytes, Buffer.from(garbage)])], codec)).toMatch(code);
    }
  });

  it('V4: refuses another format and plain text', async () => {
    for (const other of codecs) {
      if (other !== codec) expect(await codeOf([small[other]], codec), other).toMatch(/corrupt|truncated/);
    }
    expect(await codeOf([Buffer.from('<!DOCTYPE html><html><body>Not found</body></html>')], codec)).toBe('corrupt');
  });

  it.skipIf(codec === 'lzma')('V4: never takes a changed byte for the text', async () => {
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 0x10;
      const text = await textOf(changed, codec).catch((error) => (error as DecompressionError).code);
      expect([smallText, 'truncated', 'corrupt', 'too-large', 'trailing-garbage'], `byte ${at}`).toContain(text);
    }
  });

  it.skipIf(codec === 'lzma')('V4: accepts concatenated members, and none of them truncated', async () => {
    const three = Buffer.concat([bytes, bytes, bytes]);
    expect(await textOf(three, codec)).toBe(smallText.repeat(3));
    expect(await codeOf(bytewise(three), codec)).toBe(`accepted ${3 * smallText.length}`);
    for (let cut = 1; cut < bytes.length; cut += 1) {
      // Where the last of them begins and where it ends. Of those between, the test of one file looks at each.
      if (cut >= 16 && cut < bytes.length - 20 && cut % 6 !== 0) continue;
      expect(await codeOf([three.subarray(0, three.length - cut)], codec), `${cut} less`).toBe('truncated');
    }
  });

  it('C2: stops at the limit of bytes', async () => {
    const exact = smallText.length;
    expect(await codeOf([bytes], codec, { ...limits, maxBytes: exact })).toBe(`accepted ${exact}`);
    expect(await codeOf([bytes], codec, { ...limits, maxBytes: exact - 1 })).toBe('too-large');
  });

  it('passes on an error of its source as it is', async () => {
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield bytes.subarray(0, 10);
      throw new RangeError('the connection broke');
    }
    const reading = (async () => {
      for await (const chunk of decompress(failing(), codec, limits)) expect(chunk.length).toBeGreaterThan(0);
    })();
    await expect(reading).rejects.toThrow(new RangeError('the connection broke'));
  });
});

describe('C2: a file of crumbs, each of which costs a decoder as much as a large piece,', () => {
  const pieces = {
    zst: zstdCompressSync(''),
    'zst skipped': Buffer.from('502a4d1800000000', 'hex'),
    bz2: Buffer.from(emptyBzip2),
  };

  it.each(Object.entries(pieces))('is refused before it is read on: %s', async (name, piece) => {
    const codec = name.startsWith('zst') ? 'zst' : 'bz2';
    let pulled = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (const chunk = Buffer.concat(Array<Uint8Array>(1000).fill(piece)); pulled < 2000; pulled++) yield chunk;
    }
    const reading = (async () => {
      for await (const _ of decompress(endless(), codec, limits));
    })();
    await expect(reading).rejects.toMatchObject({
      code: 'corrupt',
      cause: expect.any(Crumbs),
    });
    expect(pulled).toBeLessThan(1000);
  });

  it('is none where a frame has a kilobyte and more, or there are few', async () => {
    const frame = zstdCompressSync(randomBytes(1500));
    const many = Array<Uint8Array>(1100).fill(frame);
    expect(await codeOf(many, 'zst')).toBe(`accepted ${1100 * 1500}`);
    expect(await codeOf(Array<Uint8Array>(900).fill(zstdCompressSync('a')), 'zst')).toBe('accepted 900');
    // Of so many that those which any file may have count for little: to read them would take long.
    expect([areCrumbs(200_000, 200_000 * 1024), areCrumbs(200_000, 200_000 * 1000)]).toEqual([false, true]);
  });
});

const zerosIn = async (codec: keyof typeof small): Promise<{ member: Uint8Array; size: number }> => {
  const zeros = Buffer.alloc(8 << 20);
  if (codec === 'gz') return { member: gzipSync(zeros), size: zeros.length };
  if (codec === 'zst') return { member: zstdCompressSync(zeros), size: zeros.length };
  if (codec === 'xz') return { member: await xzAsync(zeros, { preset: 0 }), size: zeros.length };
  return codec === 'bz2' ? { member: bzip2Zeros, size: 45_000_000 } : { member: lzmaZeros, size: 4_000_000 };
};

describe.each(codecs)('a bomb in %s', (codec) => {
  let zeros: Awaited<ReturnType<typeof zerosIn>>;
  beforeAll(async () => {
    zeros = await zerosIn(codec);
  });

  it('C2: stops at the ratio and at the limit of bytes, soon and in little memory', async () => {
    const { member, size } = zeros;
    const whole = 10e9;
    const count = codec === 'lzma' ? 1 : Math.ceil(whole / size);
    let pulled = 0;
    let closed = 0;
    function* bomb(): Generator<Uint8Array> {
      try {
        for (let index = 0; index < count; index += 1) {
          pulled += member.length;
          yield member;
        }
      } finally {
        closed += 1;
      }
    }
    const before = process.memoryUsage().rss;
    for (const [own, code] of [
      [{ maxBytes: 1e12, maxRatio: 100 }, 'ratio'],
      [{ maxBytes: 3_000_000, maxRatio: 1e9 }, 'too-large'],
    ] as const) {
      let produced = 0;
      const reading = (async () => {
        for await (const chunk of decompress(bomb(), codec, own)) {
          produced += chunk.length;
          // Without its limit a bomb would be read for minutes.
          if (produced >= 64e6) break;
        }
      })();
      await expect(reading).rejects.toMatchObject({ code });
    }
    await expect.poll(() => closed).toBe(2);
    // bzip2 is read ahead by the most that two blocks can take.
    if (codec !== 'lzma') expect(pulled).toBeLessThan(codec === 'bz2' ? 10e6 : 8 * member.length + (1 << 20));
    // What the process takes for being at work at all is a hundredth of it.
    expect(process.memoryUsage().rss - before).toBeLessThan(whole / 50);
  });

  it('takes no more from its source than its reader makes room for, and lets go of it when the reader stops', async () => {
    const { member } = zeros;
    const read = () => {
      const source = { pulled: 0, closed: false };
      async function* endless(): AsyncGenerator<Uint8Array> {
        try {
          for (;;) {
            for (let at = 0; at < member.length; at += 1000) {
              const piece = member.subarray(at, at + 1000);
              source.pulled += piece.length;
              yield piece;
            }
          }
        } finally {
          source.closed = true;
        }
      }
      return { source, reading: decompress(endless(), codec, { maxBytes: 1e12, maxRatio: 1e9 }) };
    };
    const { source, reading } = read();
    expect((await reading.next()).done).toBe(false);
    // Another reader goes on, and so has this one had the time to.
    const other = read();
    const readOn = async (pieces: number) => {
      for (let piece = 0; piece < pieces; piece += 1) expect((await other.reading.next()).done).toBe(false);
    };
    await readOn(10);
    const settled = source.pulled;
    await readOn(10);
    expect(source.pulled).toBe(settled);
    expect(source.pulled).toBeLessThan(codec === 'bz2' ? 6e6 : 1 << 20);
    for (const one of [reading, other.reading]) await one.return(undefined);
    await expect.poll(() => [source.closed, other.source.closed]).toEqual([true, true]);
  });
});

describe('the streams of a compressed file', () => {
  it('are noticed where APT reads only the first of them, in whatever pieces they arrive', () => {
    const areSeveral = (codec: Compression, chunks: Iterable<Uint8Array>): boolean => {
      const seams = new StreamSeams(codec);
      for (const chunk of chunks) seams.update(chunk);
      return seams.found;
    };
    for (const codec of codecs) {
      const isFirstAlone = codec === 'xz' || codec === 'bz2';
      const two = Buffer.concat([small[codec], small[codec]]);
      expect(areSeveral(codec, [small[codec]]), codec).toBe(false);
      expect(areSeveral(codec, bytewise(small[codec])), codec).toBe(false);
      expect(areSeveral(codec, bytewise(two)), codec).toBe(isFirstAlone);
      for (let cut = 0; cut <= two.length; cut++) {
        expect(areSeveral(codec, [two.subarray(0, cut), two.subarray(cut)]), `${codec} ${cut}`).toBe(isFirstAlone);
      }
    }
    expect(areSeveral('bz2', [emptyBzip2, small.bz2])).toBe(true);
  });
});

describe('single formats', () => {
  it('plain: passes bytes on up to the limit', async () => {
    expect(await textOf(Buffer.from('abc'), 'plain')).toBe('abc');
    expect(await textOf(Buffer.alloc(0), 'plain')).toBe('');
    expect(await codeOf([Buffer.alloc(10)], 'plain', { maxBytes: 9, maxRatio: 1 })).toBe('too-large');
  });

  it('gz: takes zeros for padding', async () => {
    expect(await textOf(Buffer.concat([small.gz, Buffer.alloc(70_000)]), 'gz')).toBe(smallText);
  });

  it('xz: takes zeros in fours for padding between and after streams', async () => {
    const padded = Buffer.concat([small.xz, Buffer.alloc(4), small.xz, Buffer.alloc(8)]);
    expect(await textOf(padded, 'xz')).toBe(smallText.repeat(2));
    expect(await codeOf([small.xz, Buffer.alloc(3)], 'xz')).toMatch(/corrupt|truncated/);
  });

  it('zst: skips skippable frames wherever they are and however they are cut', async () => {
    const skippable = Buffer.from('5b2a4d1805000000ffffffffff', 'hex');
    const empty = Buffer.from('502a4d1800000000', 'hex');
    const bytes = Buffer.concat([empty, skippable, small.zst, skippable, small.zst, empty]);
    expect(await textOf(bytes, 'zst')).toBe(smallText.repeat(2));
    expect(await codeOf(bytewise(bytes), 'zst')).toBe(`accepted ${2 * smallText.length}`);
    expect(await codeOf([bytes.subarray(0, -1)], 'zst')).toBe('truncated');
    expect(await codeOf([skippable], 'zst')).toBe('truncated');
  });

  it('zst: reads frames of many blocks, and of none', async () => {
    // Three blocks of at most 128 KB.
    const text = Buffer.alloc(300_000, 'Package: a\nVersion: 1\n\n');
    const bytes = Buffer.concat([zstdCompressSync(text), zstdCompressSync(''), zstdCompressSync(text)]);
    expect(
      Buffer.compare(await decompressAll(bytes, 'zst', { ...limits, maxRatio: 1e9 }), Buffer.concat([text, text])),
    ).toBe(0);
    for (let length = 0; length < bytes.length; length += 1) {
      const boundary =
        length === zstdCompressSync(text).length || length === bytes.length - zstdCompressSync(text).length;
      if (!boundary) expect(await codeOf([bytes.subarray(0, length)], 'zst'), String(length)).toBe('truncated');
    }
  });

  it('bz2: reads several blocks, long codes, and empty files', async () => {
    const stanzas = Array.from({ length: 20_000 }, (_, index) => `Package: p${index % 7}\n\n`).join('');
    expect(await textOf(threeBlocks, 'bz2')).toBe(stanzas);
    expect(await textOf(numbers, 'bz2')).toBe(`${Array.from({ length: 400 }, (_, index) => index + 1).join(' ')} `);
    expect(await textOf(Buffer.concat([emptyBzip2, numbers, emptyBzip2]), 'bz2')).toHaveLength(1492);
    // A byte of every kind of its parts: each costs reading all of it, and the small stream is changed at every byte.
    for (let at = 0; at < threeBlocks.length; at += at < 60 ? 1 : 7) {
      const changed = Buffer.from(threeBlocks);
      changed[at] = (changed[at] ?? 0) ^ 0x41;
      const text = await textOf(changed, 'bz2').catch((error) => error.code);
      if (text !== stanzas) expect(text, `byte ${at}`).toMatch(/^(corrupt|truncated|trailing-garbage|ratio)$/);
    }
  });

  it('C2: refuses a dictionary larger than memory allows before it is needed', async () => {
    const header = Buffer.from(lzmaZeros);
    header.writeUInt32LE(0xffffffff, 1);
    expect(await codeOf([header], 'lzma')).toBe('too-large');
  });

  it.skipIf(!existsSync(vectors))('V4: agrees with the xz project on all of its files (in ../shared)', async () => {
    const rows = readFileSync(new URL('expected.tsv', vectors), 'utf8').trim().split('\n');
    for (const row of rows) {
      const [file = '', verdict, , sha256] = row.split('\t');
      const bytes = readFileSync(new URL(file, vectors));
      if (verdict === 'ok') {
        const result = await decompressAll(bytes, 'xz', limits);
        expect(createHash('sha256').update(result).digest('hex'), file).toBe(sha256);
      } else {
        expect(await codeOf([bytes], 'xz'), file).toMatch(/corrupt|truncated/);
        expect(await codeOf(bytewise(bytes), 'xz'), file).toMatch(/corrupt|truncated/);
      }
    }
    expect(rows.length).toBeGreaterThan(60);
  });
});
