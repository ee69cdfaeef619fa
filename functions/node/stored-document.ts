import type { BigIntStats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { StoredDocument } from '../dependencies.ts';
import type { Encoding } from '../http/accept-header.ts';
import { createGate } from '../http/gate.ts';
import { type CompressedFiles, compressBytes, createDigest } from './compression.ts';

/** Smaller bodies, in bytes, are not worth compressing: they travel in one packet anyway. */
export const smallestCompressed = 1400;
/**
 * How many bytes are read from disk at a time while streaming. With the socket's own buffer, this is what a slow reader
 * holds.
 */
const chunkSize = 64 * 1024;

/** Whether an error of the file system means that there is no such file. */
export const isAbsent = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'EISDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '');

const tagOf = (digest: string, encoding: Encoding): string =>
  encoding === 'identity' ? `"${digest}"` : `"${digest}-${encoding}"`;

/** The digest in the names of a document and its compressed copies; see `createDigest`. */
export const digestOf = (body: Uint8Array): string => {
  const digest = createDigest();
  digest.update(body);
  return digest.end();
};

/**
 * How many pieces of files are read at a time. All that are there at once are written in one round of the event loop, in
 * which nothing else is answered, and of new connections each round takes one.
 */
const readsAtOnce = 4;
const reads = createGate(readsAtOnce);

const streamFile = (handle: FileHandle): ReadableStream<Uint8Array> =>
  new ReadableStream(
    {
      async pull(controller) {
        const { bytesRead, buffer } = await reads
          .pass('', () => handle.read(Buffer.allocUnsafe(chunkSize), 0, chunkSize))
          .catch(async (error: unknown) => {
            await handle.close();
            throw error;
          });
        if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead));
        await handle.close();
        controller.close();
      },
      cancel: () => handle.close(),
    },
    { highWaterMark: 0 },
  );

/** A document in all codings that were asked for so far, always including `identity`. */
export interface HeldDocument {
  readonly digest: string;
  readonly variants: Map<Encoding, StoredDocument>;
}

/** The memory that a document takes, in bytes. */
export const weigh = ({ variants }: HeldDocument): number =>
  [...variants.values()].reduce((sum, { body }) => sum + (body?.length ?? 0) + 512, 512);

/** A document whose bytes are in memory. */
export const inMemory = (body: Uint8Array, digest: string, encoding: Encoding = 'identity'): StoredDocument => ({
  etag: tagOf(digest, encoding),
  encoding,
  size: body.length,
  body,
  open: async () => new Blob([body as Uint8Array<ArrayBuffer>]).stream(),
});

/** A document that is read from its file on request. `isStill` tells whether the file is still the same. */
export const onDisk = (
  file: string,
  about: {
    readonly size: number;
    readonly digest: string;
    readonly encoding: Encoding;
    readonly isStill?: (now: BigIntStats) => boolean;
  },
): StoredDocument => ({
  etag: tagOf(about.digest, about.encoding),
  encoding: about.encoding,
  size: about.size,
  body: undefined,
  open: async () => {
    const handle = await open(file).catch((error: unknown) => {
      if (isAbsent(error)) return undefined;
      throw error;
    });
    if (handle === undefined) return undefined;
    if (about.isStill?.(await handle.stat({ bigint: true })) ?? true) return streamFile(handle);
    await handle.close();
    return undefined;
  },
});

/** A copy that is forgotten when it cannot be opened any more, because it was deleted to make room or made again. */
export const untilGone = (copy: StoredDocument, variants: HeldDocument['variants']): StoredDocument => ({
  ...copy,
  open: async () => {
    const stream = await copy.open();
    if (stream === undefined) variants.delete(copy.encoding);
    return stream;
  },
});

/** A document in place of its copy in this coding, which is asked for again the next time. */
const once = (whole: StoredDocument, encoding: Encoding, variants: HeldDocument['variants']): StoredDocument => ({
  ...whole,
  open: () => {
    variants.delete(encoding);
    return whole.open();
  },
});

/** The document in this coding, or uncompressed if that is not larger. `file` is its file on disk. */
export const makeVariant = async (
  { digest, variants }: HeldDocument,
  encoding: Encoding,
  { file, compressed }: { readonly file: string | undefined; readonly compressed: CompressedFiles | undefined },
): Promise<StoredDocument> => {
  // The size of a file is always known.
  const whole = variants.get('identity') as StoredDocument & { readonly size: number };
  if (encoding === 'identity' || whole.size < smallestCompressed) return whole;
  if (whole.body !== undefined) {
    const body = await compressBytes(whole.body, encoding, 'kept');
    return body.length < whole.size ? inMemory(body, digest, encoding) : whole;
  }
  if (compressed === undefined || file === undefined) return whole;
  const copy = await compressed.copy(file, { size: whole.size, digest }, encoding);
  // If the file was replaced meanwhile, it cannot be opened uncompressed either, and is described again.
  if (copy === undefined) return once(whole, encoding, variants);
  if (copy.size >= whole.size) return whole;
  return untilGone(onDisk(copy.file, { size: copy.size, digest, encoding }), variants);
};
