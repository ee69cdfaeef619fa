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
import type { Encoding } from '../http/accept-header.ts';

type Coding = Exclude<Encoding, 'identity'>;

/** How hard to try: what is kept is compressed once and read often, what is computed only once. */
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

/** The bytes in a coding, in memory of their own size. The work is done outside the main thread. */
export const compressBytes = async (
  body: Uint8Array,
  encoding: Coding,
  effort: Effort,
): Promise<Uint8Array<ArrayBuffer>> => {
  const compressed = await compress(body, encoding, effort);
  // What is small comes as a part of 16 KiB, and would hold all of that for as long as it is kept.
  return compressed.length === compressed.buffer.byteLength ? compressed : new Uint8Array(compressed);
};

const createCompressor = (encoding: Coding): Transform => {
  const options = optionsOf('kept');
  if (encoding === 'gzip') return createGzip(options.gzip);
  return encoding === 'br' ? createBrotliCompress(options.br) : createZstdCompress(options.zstd);
};

/** The most bytes of compressed copies kept on disk; the ones made longest ago go first. */
const mostKept = 2 ** 30;

/** The digest of a file's content that tags and copies are named after: 132 bits of SHA-256, in 22 characters. */
export const createDigest = () => {
  const hash = createHash('sha256');
  return {
    update: (chunk: Uint8Array): void => void hash.update(chunk),
    end: (): string => hash.digest('base64url').slice(0, 22),
  };
};

/** Compressed copies of large files, in a folder of their own, named after the content they were made of. */
export interface CompressedFiles {
  /**
   * The path and size of the copy in this coding of a file whose content has this digest (see `createDigest`). Undefined
   * where the file has other content by now, since copies wait for each other.
   */
  copy(file: string, digest: string, encoding: Coding): Promise<{ file: string; size: number } | undefined>;
}

const dropOldest = async (folder: string): Promise<void> => {
  const names = await readdir(folder);
  const files = await Promise.all(
    names.map(async (name) => {
      const file = path.join(folder, name);
      const { size, mtimeMs } = await stat(file).catch(() => ({ size: 0, mtimeMs: 0 }));
      return { file, size, mtimeMs };
    }),
  );
  let total = 0;
  for (const { file, size } of files.sort((a, b) => b.mtimeMs - a.mtimeMs)) {
    total += size;
    if (total > mostKept) await rm(file, { force: true });
  }
};

/** Compressed copies below `folder`, made one after another so that they take one core at most. */
export const createCompressedFiles = (folder: string): CompressedFiles => {
  const under = new Map<string, ReturnType<CompressedFiles['copy']>>();
  let last: Promise<unknown> = Promise.resolve();

  const make = async (source: string, digest: string, target: string, encoding: Coding) => {
    const made = await stat(target).catch(() => undefined);
    if (made !== undefined) return { file: target, size: made.size };
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
      await rename(temporary, target);
    } finally {
      await rm(temporary, { force: true });
    }
    const { size } = await stat(target);
    await dropOldest(folder);
    return { file: target, size };
  };

  return {
    copy: (file, digest, encoding) => {
      const target = path.join(folder, `${digest}.${encoding}`);
      const running = under.get(target);
      if (running !== undefined) return running;
      const work = last.then(() => make(file, digest, target, encoding)).finally(() => under.delete(target));
      under.set(target, work);
      last = work.catch(() => undefined);
      return work;
    },
  };
};
