import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type zlib from 'node:zlib';
import { createZstdDecompress, zstdCompressSync } from 'node:zlib';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { digestPieces } from '../../src/catalog/pieces.ts';
import { cutAtFrames } from '../../src/following/source.ts';
import { writeFramedCopy } from '../../src/publication/framed-copy.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { temporaryFolder } from '../support/folder.ts';

// What is counted is the same on every machine, as times are not.
const work = vi.hoisted(() => ({ compressed: 0 }));
vi.mock('node:zlib', async (load) => {
  const original = await load<typeof zlib>();
  const zstdCompress = (...[bytes, ...others]: Parameters<typeof zlib.zstdCompress>) => {
    work.compressed += Buffer.byteLength(bytes as Uint8Array);
    original.zstdCompress(bytes, ...others);
  };
  return { ...original, zstdCompress, default: { ...original, zstdCompress } };
});

const mebibyte = 2 ** 20;

/** Bytes that compress, of which no two pieces are alike. */
const compose = (length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += 4096) bytes.set(randomBytes(Math.min(1024, length - at)), at);
  return bytes;
};

/** A file that is written as one generation after the other. */
class Copies {
  readonly folder = temporaryFolder();
  readonly state = path.join(this.folder, 'state');
  readonly output = new OutputFolder(path.join(this.folder, 'out'));

  /** Writes the copy of these bytes under a name; returns how many bytes were compressed for it. */
  async write(bytes: Uint8Array, target: string): Promise<number> {
    const file = path.join(this.folder, 'plain');
    writeFileSync(file, bytes);
    work.compressed = 0;
    const { pieces } = await digestPieces(file);
    await writeFramedCopy(this.output, this.state, { file, pieces, target });
    return work.compressed;
  }

  read(target: string): Buffer {
    return readFileSync(this.output.resolve(target));
  }
}

const decompress = async (bytes: Uint8Array, pieceBytes: number): Promise<Buffer> => {
  const pieces: Uint8Array[] = [];
  async function* cut() {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }
  await pipeline(cut, cutAtFrames, createZstdDecompress(), async (plain: AsyncIterable<Uint8Array>) => {
    for await (const piece of plain) pieces.push(piece);
  });
  return Buffer.concat(pieces);
};

describe('a copy in frames', () => {
  let copies: Copies;
  beforeEach(() => {
    copies = new Copies();
  });

  it('compresses what changed, however large the rest is', async () => {
    for (const size of [3, 9]) {
      const bytes = compose(size * mebibyte + 1000);
      expect(await copies.write(bytes, `v2/${size}-1`)).toBe(bytes.length);
      bytes[2 * mebibyte + 7] = 1 + (bytes[2 * mebibyte + 7] ?? 0);
      expect(await copies.write(bytes, `v2/${size}-2`)).toBe(mebibyte);
      const longer = Buffer.concat([bytes, compose(2000)]);
      expect(await copies.write(longer, `v2/${size}-3`)).toBe(3000);
      expect((await decompress(copies.read(`v2/${size}-3`), 65_536)).equals(longer)).toBe(true);
    }
  });

  it('has the bytes that it has where nothing is known of the one before', async () => {
    const bytes = compose(3 * mebibyte);
    await copies.write(bytes, 'v2/1');
    bytes.fill(3, mebibyte, mebibyte + 10);
    await copies.write(bytes, 'v2/2');
    const afresh = new Copies();
    await afresh.write(bytes, 'v2/2');
    expect(copies.read('v2/2').equals(afresh.read('v2/2'))).toBe(true);
  });

  it.each(['lost', 'cut', 'other bytes', 'no note', 'a damaged note'])(
    'takes nothing of the one before that does not stand as it was written: %s',
    async (damage) => {
      const bytes = compose(2 * mebibyte);
      await copies.write(bytes, 'v2/1');
      const file = copies.output.resolve('v2/1');
      const note = path.join(copies.state, 'publication', 'frames.json');
      const whole = readFileSync(file);
      if (damage === 'lost') rmSync(file);
      if (damage === 'cut') writeFileSync(file, whole.subarray(0, -1));
      if (damage === 'no note') rmSync(note);
      if (damage === 'a damaged note') writeFileSync(note, readFileSync(note, 'utf8').slice(0, -10));
      if (damage === 'other bytes') {
        const other = Buffer.from(whole);
        other[1000] = 1 + (other[1000] ?? 0);
        writeFileSync(file, other);
      }
      expect(await copies.write(bytes, 'v2/2')).toBe(damage === 'other bytes' ? mebibyte : bytes.length);
      expect(copies.read('v2/2').equals(whole)).toBe(true);
    },
  );

  it('is flushed with all else before anything names it', async () => {
    await copies.write(compose(10), 'v2/1');
    expect(copies.output.hasPlaced('v2/1')).toBe(true);
  });

  it('is read in pieces of any size, and refused where it is cut or followed by something else', async () => {
    const bytes = compose(mebibyte + 5);
    await copies.write(bytes, 'v2/1');
    const written = copies.read('v2/1');
    for (const size of [1021, 65_536, written.length])
      expect((await decompress(written, size)).equals(bytes)).toBe(true);
    const odd = Buffer.concat([written, zstdCompressSync(Buffer.from('of another length')), written]);
    expect((await decompress(odd, 65_536)).length).toBe(2 * bytes.length + 17);
    for (const wrong of [written.subarray(0, -1), Buffer.concat([written, Buffer.from('something else')])])
      await expect(decompress(wrong, 65_536)).rejects.toThrow('frame');
  });
});
