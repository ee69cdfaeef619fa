import { type BigIntStats, createReadStream } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import path from 'node:path';
import { apiRoot } from '../../src/contract/paths.ts';
import { type Documents, type StoredDocument, Unavailable } from '../dependencies.ts';
import type { Encoding } from '../http/accept-header.ts';
import { ByteCache } from './byte-cache.ts';
import { type CompressedFiles, compressBytes, createDigest } from './compression.ts';

/** Files up to this size, in bytes, are held in memory while they are asked for; larger ones are streamed. */
const largestInMemory = 512 * 1024;
/** Smaller bodies, in bytes, are not worth compressing: they travel in one packet anyway. */
const smallestCompressed = 1400;
/** Bytes read from disk at a time while streaming; with the socket's own buffer, what a slow reader costs. */
const chunkSize = 64 * 1024;

/** What tells two states of a file apart. Every write is a rename, so a new state is a new inode. */
const identityOf = ({ dev, ino, size, mtimeNs }: BigIntStats): string => `${dev}-${ino}-${size}-${mtimeNs}`;

const isAbsent = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'EISDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '');

const tagOf = (digest: string, encoding: Encoding): string =>
  encoding === 'identity' ? `"${digest}"` : `"${digest}-${encoding}"`;

const digestOf = (body: Uint8Array): string => {
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

interface Held {
  readonly identity: string;
  readonly digest: string;
  readonly variants: Map<Encoding, StoredDocument>;
}

const weigh = ({ variants }: Held): number =>
  [...variants.values()].reduce((sum, { body }) => sum + (body?.length ?? 0) + 512, 512);

export interface DocumentsOptions {
  /** The output folder. */
  readonly folder: string;
  /** Where compressed copies of large files go; without it those are sent as they are. */
  readonly compressed?: CompressedFiles;
  /** The most bytes of files to hold in memory. */
  readonly memory: number;
}

/** The published files of an output folder on disk. What is on disk at the moment of asking is what is answered. */
export const createDocuments = ({ folder, compressed, memory }: DocumentsOptions): Documents => {
  const held = new ByteCache<Held>(memory, weigh);

  const inMemory = (body: Uint8Array, digest: string, encoding: Encoding): StoredDocument => ({
    etag: tagOf(digest, encoding),
    encoding,
    size: body.length,
    body,
    open: async () => new Blob([body as Uint8Array<ArrayBuffer>]).stream(),
  });

  const onDisk = (
    file: string,
    size: number,
    digest: string,
    encoding: Encoding,
    identity?: string,
  ): StoredDocument => ({
    etag: tagOf(digest, encoding),
    encoding,
    size,
    body: undefined,
    open: async () => {
      const handle = await open(file).catch((error: unknown) => {
        if (isAbsent(error)) return undefined;
        throw error;
      });
      if (handle === undefined) return undefined;
      if (identity === undefined || identityOf(await handle.stat({ bigint: true })) === identity) {
        return streamFile(handle);
      }
      await handle.close();
      return undefined;
    },
  });

  const readWhole = async (file: string): Promise<Held> => {
    const handle = await open(file);
    try {
      const identity = identityOf(await handle.stat({ bigint: true }));
      const body = await handle.readFile();
      const digest = digestOf(body);
      return { identity, digest, variants: new Map([['identity', inMemory(body, digest, 'identity')]]) };
    } finally {
      await handle.close();
    }
  };

  const describeLarge = async (file: string, stats: BigIntStats): Promise<Held> => {
    const digest = createDigest();
    for await (const chunk of createReadStream(file, { highWaterMark: 256 * 1024 })) digest.update(chunk);
    const identity = identityOf(stats);
    const text = digest.end();
    const whole = onDisk(file, Number(stats.size), text, 'identity', identity);
    return { identity, digest: text, variants: new Map([['identity', whole]]) };
  };

  // Replaced while it was being hashed: the digest may be of neither state.
  const describeSettled = async (file: string, stats: BigIntStats): Promise<Held> => {
    const described = await describeLarge(file, stats);
    const now = await stat(file, { bigint: true });
    return identityOf(now) === described.identity ? described : describeSettled(file, now);
  };

  const describing = new Map<string, Promise<Held>>();
  const describe = (file: string, stats: BigIntStats): Promise<Held> => {
    const key = `${file}\0${identityOf(stats)}`;
    const running = describing.get(key);
    if (running !== undefined) return running;
    const work = (stats.size <= largestInMemory ? readWhole(file) : describeSettled(file, stats)).finally(() =>
      describing.delete(key),
    );
    describing.set(key, work);
    return work;
  };

  const makeVariant = async (file: string, { digest, variants }: Held, encoding: Encoding): Promise<StoredDocument> => {
    const whole = variants.get('identity') as StoredDocument;
    if (encoding === 'identity' || whole.size < smallestCompressed) return whole;
    if (whole.body !== undefined) {
      const body = await compressBytes(whole.body, encoding, 'kept');
      return body.length < whole.size ? inMemory(body, digest, encoding) : whole;
    }
    if (compressed === undefined) return whole;
    const copy = await compressed.copy(file, digest, encoding);
    // Of a file that was replaced meanwhile, not even the whole can be opened any more: it is described anew.
    if (copy === undefined || copy.size >= whole.size) return whole;
    const document = onDisk(copy.file, copy.size, digest, encoding);
    return {
      ...document,
      open: async () => {
        const stream = await document.open();
        // The copy had to make room for others: make it anew.
        if (stream === undefined) variants.delete(encoding);
        return stream;
      },
    };
  };

  // Without the API's folder nothing is published at all, and "unknown package" would be a lie that a CDN keeps.
  const assertPublished = async (): Promise<void> => {
    await stat(path.join(folder, apiRoot)).catch((cause: unknown) => {
      throw new Unavailable('The output folder cannot be read', { cause });
    });
  };

  const read: Documents['read'] = async (name, encoding) => {
    const file = path.join(folder, name);
    if (path.relative(folder, file).startsWith('..') || name.includes('\0')) return undefined;
    try {
      const stats = await stat(file, { bigint: true });
      if (!stats.isFile()) return undefined;
      const known = held.get(name);
      const described = known?.identity === identityOf(stats) ? known : await describe(file, stats);
      const variant = described.variants.get(encoding) ?? (await makeVariant(file, described, encoding));
      // A cache counts what it holds when it is set, so what grew is set anew.
      if (known !== described || !described.variants.has(encoding)) {
        held.delete(name);
        described.variants.set(encoding, variant);
        held.set(name, described);
      }
      return variant;
    } catch (error) {
      if (!isAbsent(error)) {
        throw error instanceof Unavailable ? error : new Unavailable(`${name} cannot be read`, { cause: error });
      }
      await assertPublished();
      return undefined;
    }
  };

  return { read };
};
