import type { BigIntStats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { StoredDocument } from '../dependencies.ts';
import type { Encoding } from '../http/accept-header.ts';
import { type CompressedFiles, compressBytes, createDigest } from './compression.ts';

/** Smaller bodies, in bytes, are not worth compressing: they travel in one packet anyway. */
export const smallestCompressed = 1400;
/** Bytes read from disk at a time while streaming; with the socket's own buffer, what a slow reader costs. */
const chunkSize = 64 * 1024;

/** Whether an error of the file system says that there is no such file. */
export const isAbsent = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'EISDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '');

const tagOf = (digest: string, encoding: Encoding): string =>
  encoding === 'identity' ? `"${digest}"` : `"${digest}-${encoding}"`;

/** The digest by which a document and its compressed copies are known; see `createDigest`. */
export const digestOf = (body: Uint8Array): string => {
  const digest = createDigest();
  digest.update(body);
  return digest.end();
};

const streamFile = (handle: FileHandle): ReadableStream<Uint8Array> =>
  new ReadableStream(
    {
      async pull(controller) {
        const chunk = Buffer.allocUnsafe(chunkSize);
        const { bytesRead } = await handle.read(chunk, 0, chunkSize).catch(async (error: unknown) => {
          await handle.close();
          throw error;
        });
        if (bytesRead > 0) return controller.enqueue(chunk.subarray(0, bytesRead));
        await handle.close();
        controller.close();
      },
      cancel: () => handle.close(),
    },
    { highWaterMark: 0 },
  );

/** A document in the codings that were asked for so far; the whole of it is among them. */
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

/** A document that is read from a file when it is asked for, unless `isStill` says that this is another by now. */
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

/** A copy that is looked for anew once it had to make room for others, or was made anew. */
export const untilGone = (copy: StoredDocument, variants: HeldDocument['variants']): StoredDocument => ({
  ...copy,
  open: async () => {
    const stream = await copy.open();
    if (stream === undefined) variants.delete(copy.encoding);
    return stream;
  },
});

/** The document in this coding; the whole of it where that does not make it smaller. `file` is where that is read from. */
export const makeVariant = async (
  { digest, variants }: HeldDocument,
  encoding: Encoding,
  { file, compressed }: { readonly file: string | undefined; readonly compressed: CompressedFiles | undefined },
): Promise<StoredDocument> => {
  // A file has its size.
  const whole = variants.get('identity') as StoredDocument & { readonly size: number };
  if (encoding === 'identity' || whole.size < smallestCompressed) return whole;
  if (whole.body !== undefined) {
    const body = await compressBytes(whole.body, encoding, 'kept');
    return body.length < whole.size ? inMemory(body, digest, encoding) : whole;
  }
  if (compressed === undefined || file === undefined) return whole;
  const copy = await compressed.copy(file, digest, encoding);
  // Of a file that was replaced meanwhile, not even the whole can be opened any more: it is described anew.
  if (copy === undefined || copy.size >= whole.size) return whole;
  return untilGone(onDisk(copy.file, { size: copy.size, digest, encoding }), variants);
};
