import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import {
  brotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gzip,
  zstdCompress,
} from 'node:zlib';
import { newestFirst } from '../../src/disk/newest-first.ts';
import type { Encoding } from '../http/accept-header.ts';

type Coding = Exclude<Encoding, 'identity'>;

/** How hard to compress: what is kept is compressed once and read often, what is computed is used once. */
type Effort = 'kept' | 'computed';

const levels = {
  kept: { gzip: 6, br: 5, zstd: 6 },
  computed: { gzip: 1, br: 1, zstd: 1 },
} as const;

const optionsOf = (effort: Effort) => ({
  gzip: { level: levels[effort].gzip },
  br: { params: { [constants.BROTLI_PARAM_QUALITY]: levels[effort].br } },
  zstd: { params: { [constants.ZSTD_c_compressionLevel]: levels[effort].zstd } },
});

const gzipBytes = promisify<Uint8Array, object, Buffer<ArrayBuffer>>(gzip);
const brotliBytes = promisify<Uint8Array, object, Buffer<ArrayBuffer>>(brotliCompress);
const zstdBytes = promisify<Uint8Array, object, Buffer<ArrayBuffer>>(zstdCompress);

const compress = (body: Uint8Array, encoding: Coding, effort: Effort): Promise<Buffer<ArrayBuffer>> => {
  const options = optionsOf(effort);
  if (encoding === 'gzip') return gzipBytes(body, options.gzip);
  return encoding === 'br' ? brotliBytes(body, options.br) : zstdBytes(body, options.zstd);
};

/** Compresses bytes outside the main thread. The result is in memory of exactly its own size. */
export const compressBytes = async (
  body: Uint8Array,
  encoding: Coding,
  effort: Effort,
): Promise<Uint8Array<ArrayBuffer>> => {
  const compressed = await compress(body, encoding, effort);
  // A small result is a part of a buffer of 16 KiB, which would stay in memory with it.
  return compressed.length === compressed.buffer.byteLength ? compressed : new Uint8Array(compressed);
};

const createCompressor = (encoding: Coding): Transform => {
  const options = optionsOf('kept');
  if (encoding === 'gzip') return createGzip(options.gzip);
  return encoding === 'br' ? createBrotliCompress(options.br) : createZstdCompress(options.zstd);
};

/** The most bytes of compressed copies on disk. Beyond that the oldest are deleted. */
const mostKept = 2 ** 30;

/** Larger files, in bytes, take seconds to compress, so that others do not wait for them. */
const longFile = 8 * 2 ** 20;

/** How long, in milliseconds, no copies are made after one could not be written, as on a full disk. */
const restTime = 60_000;

/** The digest of a file's content in entity tags and names of copies: 132 bits of SHA-256 in 22 characters. */
export const createDigest = () => {
  const hash = createHash('sha256');
  return {
    update: (chunk: Uint8Array): void => void hash.update(chunk),
    end: (): string => hash.digest('base64url').slice(0, 22),
  };
};

/** A compressed copy of a file, and its size in bytes. */
interface Copy {
  readonly file: string;
  readonly size: number;
}

/** Compressed copies of large files, in a folder of their own, named after the content that they were made of. */
export interface CompressedFiles {
  /**
   * The path and size of the copy in this coding of a file of this size whose content has this digest (see
   * `createDigest`). Undefined if the file has changed meanwhile: copies are made one after another, so this may have to
   * wait. Undefined also if it cannot be written, as on a full disk, or had to make room for others at once.
   */
  copy(file: string, of: { size: number; digest: string }, encoding: Coding): Promise<Copy | undefined>;
}

const isGone = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
const unlessGone = (error: unknown): undefined => {
  if (!isGone(error)) throw error;
};

// Copies of before the clock was set back are the first to go: else every copy that is made in a full folder would be
// removed at once.
const dropOldest = async (folder: string): Promise<void> => {
  const names = (await readdir(folder).catch(unlessGone)) ?? [];
  const files = await Promise.all(
    names.map(async (name) => {
      const file = path.join(folder, name);
      const { size, mtimeMs } = await stat(file).catch(() => ({ size: 0, mtimeMs: 0 }));
      return { file, size, mtimeMs };
    }),
  );
  let total = 0;
  for (const { file, size } of newestFirst(files, ({ mtimeMs }) => mtimeMs)) {
    total += size;
    if (total > mostKept) await rm(file, { force: true });
  }
};

/**
 * Compressed copies below `folder`. They are made one after another, but short ones beside a long one, so that they use two
 * cores at most. `report` is told why one could not be written, at most once a minute.
 */
export const createCompressedFiles = (folder: string, report: (error: unknown) => void = () => {}): CompressedFiles => {
  let restsUntil = Number.NEGATIVE_INFINITY;
  const under = new Map<string, ReturnType<CompressedFiles['copy']>>();
  let lastShort: Promise<unknown> = Promise.resolve();
  let lastLong = lastShort;

  const make = async (source: string, digest: string, target: string, encoding: Coding) => {
    const made = await stat(target).catch(() => undefined);
    if (made !== undefined) return { file: target, size: made.size };
    if (performance.now() < restsUntil) return undefined;
    await mkdir(folder, { recursive: true });
    const temporary = `${target}.${process.pid}.part`;
    const read = createDigest();
    const observe = async function* (chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        read.update(chunk);
        yield chunk;
      }
    };
    try {
      await pipeline(
        createReadStream(source),
        observe,
        createCompressor(encoding),
        createWriteStream(temporary, { flags: 'w' }),
      );
      if (read.end() !== digest) return undefined;
      // Another server of this folder that needed room may have removed it, before or after it has its name.
      await rename(temporary, target).catch(unlessGone);
    } finally {
      await rm(temporary, { force: true });
    }
    await dropOldest(folder);
    const kept = await stat(target).catch(unlessGone);
    return kept && { file: target, size: kept.size };
  };

  const makeIfPossible: typeof make = async (...wanted) => {
    try {
      return await make(...wanted);
    } catch (cause) {
      // The file is gone, or is being replaced.
      if (isGone(cause)) throw cause;
      restsUntil = performance.now() + restTime;
      report(
        new Error(`No compressed copies can be written to ${folder}: large files are sent as they are`, { cause }),
      );
      return undefined;
    }
  };

  return {
    copy: (file, { size, digest }, encoding) => {
      const target = path.join(folder, `${digest}.${encoding}`);
      const running = under.get(target);
      if (running !== undefined) return running;
      const isLong = size > longFile;
      const before = isLong ? lastLong : lastShort;
      const work = before
        .then(() => makeIfPossible(file, digest, target, encoding))
        .finally(() => under.delete(target));
      under.set(target, work);
      const ended = work.catch(() => undefined);
      if (isLong) lastLong = ended;
      else lastShort = ended;
      return work;
    },
  };
};
