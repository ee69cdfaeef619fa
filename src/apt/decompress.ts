import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import type { Compression } from '../contract/compressions.ts';
import { decodeBzip2 } from './bzip2/stream.ts';
import { CodecError, type DecompressionCode } from './codec-error.ts';
import { Crumbs } from './crumbs.ts';
import { decodeLzma } from './lzma.ts';
import { createFrameScanner } from './zstd-frames.ts';

export type { Compression, DecompressionCode };

/** Thrown if a stream is faulty or exceeds a limit; `code` says why. */
export class DecompressionError extends Error {
  override name = 'DecompressionError';
  readonly code: DecompressionCode;

  constructor(code: DecompressionCode, compression: Compression, cause?: unknown) {
    super(`${compression}: ${code}`, { cause });
    this.code = code;
  }
}

/**
 * `maxRatio` is how many bytes may come out for each byte that goes in. The first MiB is exempt, because tiny files may
 * compress better.
 */
export interface DecompressionLimits {
  maxBytes: number;
  maxRatio: number;
}

type ByteSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
type Decoder = (source: AsyncIterable<Uint8Array>, onConsumed: (bytes: number) => void) => AsyncIterable<Uint8Array>;

const pieceBytes = 64 << 10;
const ratioExemptBytes = 1 << 20;
const bytesPerTurn = 1 << 20;

/**
 * Decompresses on demand in bounded memory: nothing is read from `source` before the reader has room for it, and a
 * reader that stops early ends both. Concatenated members count as one file. Throws DecompressionError; then what was
 * yielded before must not be used. An error of `source` passes through unchanged.
 */
export async function* decompress(
  source: ByteSource,
  compression: Compression,
  limits: DecompressionLimits,
): AsyncGenerator<Uint8Array> {
  let consumed = 0;
  let produced = 0;
  let turn = 0;
  const failed: { error?: unknown } = {};
  const pieces = cutIntoPieces(source, failed);
  const decoded = decoders[compression](pieces, (bytes) => {
    consumed = bytes;
  });
  try {
    for await (const chunk of decoded) {
      produced += chunk.length;
      if (produced > limits.maxBytes) throw new CodecError('too-large', `over ${limits.maxBytes} bytes`);
      if (compression !== 'plain' && produced > Math.max(ratioExemptBytes, consumed * limits.maxRatio)) {
        throw new CodecError('ratio', `over ${limits.maxRatio} bytes for each`);
      }
      yield chunk;
      turn += Math.max(chunk.length, pieceBytes / 4);
      if (turn > bytesPerTurn) {
        // A decoder that never waits would block every other stream.
        turn = 0;
        await nextTurn();
      }
    }
  } catch (error) {
    if ('error' in failed) throw failed.error;
    throw new DecompressionError(codeOf(error), compression, error);
  }
}

const decoders: Record<Compression, Decoder> = {
  gz: decodeGzip,
  zst: decodeZstd,
  bz2: decodeBzip2,
  xz: (source, onConsumed) => decodeLzma(source, 'xz', onConsumed),
  lzma: (source, onConsumed) => decodeLzma(source, 'lzma', onConsumed),
  plain: (source) => source,
};

/** With small pieces, what a decoder was given, and so the ratio, stays close to what it has used. */
async function* cutIntoPieces(source: ByteSource, failed: { error?: unknown }): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of source) {
      for (let at = 0; at < chunk.length; at += pieceBytes) yield chunk.subarray(at, at + pieceBytes);
    }
  } catch (error) {
    failed.error = error;
    throw error;
  }
}

const codeOf = (error: unknown): DecompressionCode => {
  if (error instanceof CodecError) return error.code;
  if (error instanceof Error && 'code' in error && error.code === 'Z_BUF_ERROR') return 'truncated';
  return 'corrupt';
};

async function* decodeGzip(
  source: AsyncIterable<Uint8Array>,
  onConsumed: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const decoder = createGunzip({ chunkSize: pieceBytes });
  const iterator = source[Symbol.asyncIterator]();
  let begun = false;
  let fed = 0;
  let contentEnd = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
      begun ||= fed === 0 && next.value[0] === 0x1f;
      const last = lastNonZero(next.value);
      if (last !== -1) contentEnd = fed + last + 1;
      fed += next.value.length;
      yield next.value;
    }
  }
  pipeline(Readable.from(counted(), { highWaterMark: 1 }), decoder).catch(() => {});
  try {
    for await (const chunk of decoder) {
      onConsumed(decoder.bytesWritten);
      yield chunk;
    }
    // The end may be padded with zeros (gzip(1)). Node's decoder stops at the first one, and ignores whatever follows.
    for await (const _ of counted());
  } catch (error) {
    const noHeader = error instanceof Error && error.message === 'incorrect header check';
    throw noHeader && begun ? new CodecError('trailing-garbage', error.message) : error;
  } finally {
    await iterator.return?.();
  }
  if (contentEnd > decoder.bytesWritten) throw new CodecError('trailing-garbage', 'bytes after the last member');
}

const lastNonZero = (bytes: Uint8Array): number => {
  let at = bytes.length - 1;
  while (at >= 0 && bytes[at] === 0) at -= 1;
  return at;
};

async function* decodeZstd(
  source: AsyncIterable<Uint8Array>,
  onConsumed: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const decoder = createZstdDecompress({ chunkSize: pieceBytes });
  const scanner = createFrameScanner();
  async function* frames(): AsyncGenerator<Uint8Array> {
    for await (const piece of source) {
      yield* scanner.split(piece);
      if (scanner.state() === 'garbage') {
        throw new CodecError(scanner.any() ? 'trailing-garbage' : 'corrupt', 'bytes that begin no frame');
      }
      if (scanner.state() === 'crumbs') throw new Crumbs('frames');
    }
    if (scanner.state() === 'inside' || !scanner.any()) {
      throw new CodecError('truncated', 'the input ends inside a frame');
    }
  }
  const done = pipeline(Readable.from(frames(), { highWaterMark: 1 }), decoder);
  done.catch(() => {});
  for await (const chunk of decoder) {
    onConsumed(decoder.bytesWritten);
    yield chunk;
  }
  await done;
}
