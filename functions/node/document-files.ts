import { type BigIntStats, createReadStream } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { copyPath } from '../../src/contract/compressed-paths.ts';
import { apiRoot } from '../../src/contract/paths.ts';
import { type Documents, type StoredDocument, Unavailable } from '../dependencies.ts';
import type { Encoding } from '../http/accept-header.ts';
import { ByteCache } from './byte-cache.ts';
import { type CompressedFiles, createDigest } from './compression.ts';
import {
  digestOf,
  type HeldDocument,
  inMemory,
  isAbsent,
  makeVariant,
  onDisk,
  smallestCompressed,
  untilGone,
  weigh,
} from './stored-document.ts';

/** Files up to this size, in bytes, are held in memory while they are requested. Larger ones are streamed. */
const largestInMemory = 512 * 1024;

/** Distinguishes two states of a file. Every write is a rename, so a new state has a new inode. */
const identityOf = ({ dev, ino, size, mtimeNs }: BigIntStats): string => `${dev}-${ino}-${size}-${mtimeNs}`;

/** A file as it was described, with the state that the description belongs to. */
interface HeldFile extends HeldDocument {
  readonly identity: string;
}

export interface DocumentsOptions {
  /** The output folder. */
  readonly folder: string;
  /** Keeps compressed copies of large files. Without it they are sent uncompressed. */
  readonly compressed?: CompressedFiles;
  /** The most bytes of files to hold in memory. */
  readonly memory: number;
}

/**
 * The compressed copy that was published with this state of a file; undefined if there is none, or the file has
 * changed.
 */
const findPublishedCopy = async (
  file: string,
  { identity, digest, variants }: HeldFile,
  encoding: Encoding,
): Promise<StoredDocument | undefined> => {
  if (encoding === 'identity' || encoding === 'zstd') return undefined;
  if ((variants.get('identity')?.size ?? 0) < smallestCompressed) return undefined;
  const copy = copyPath(file, encoding);
  try {
    const stats = await stat(copy, { bigint: true });
    const body = stats.size <= largestInMemory ? await readFile(copy) : undefined;
    // A copy is deleted before its file is replaced, and published after it. So if the file has not changed, the copy
    // belongs to it.
    if (identityOf(await stat(file, { bigint: true })) !== identity) return undefined;
    if (body !== undefined) return inMemory(body, digest, encoding);
    const isStill = (now: BigIntStats) => identityOf(now) === identityOf(stats);
    return untilGone(onDisk(copy, { size: Number(stats.size), digest, encoding, isStill }), variants);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
};

/** The published files of an output folder. Answers always come from what is on disk at that moment. */
export const createDocuments = ({ folder, compressed, memory }: DocumentsOptions): Documents => {
  const held = new ByteCache<HeldFile>(memory, weigh);

  const readWhole = async (file: string): Promise<HeldFile> => {
    const handle = await open(file);
    try {
      const identity = identityOf(await handle.stat({ bigint: true }));
      const body = await handle.readFile();
      const digest = digestOf(body);
      return { identity, digest, variants: new Map([['identity', inMemory(body, digest)]]) };
    } finally {
      await handle.close();
    }
  };

  const describeLarge = async (file: string, stats: BigIntStats): Promise<HeldFile> => {
    const digest = createDigest();
    for await (const chunk of createReadStream(file, { highWaterMark: 256 * 1024 })) digest.update(chunk);
    const identity = identityOf(stats);
    const text = digest.end();
    const whole = onDisk(file, {
      size: Number(stats.size),
      digest: text,
      encoding: 'identity',
      isStill: (now) => identityOf(now) === identity,
    });
    return { identity, digest: text, variants: new Map([['identity', whole]]) };
  };

  // If the file was replaced while it was hashed, the digest may belong to neither state.
  const describeSettled = async (file: string, stats: BigIntStats): Promise<HeldFile> => {
    const described = await describeLarge(file, stats);
    const now = await stat(file, { bigint: true });
    return identityOf(now) === described.identity ? described : describeSettled(file, now);
  };

  const describing = new Map<string, Promise<HeldFile>>();
  const describe = (file: string, stats: BigIntStats): Promise<HeldFile> => {
    const key = `${file}\0${identityOf(stats)}`;
    const running = describing.get(key);
    if (running !== undefined) return running;
    const work = (stats.size <= largestInMemory ? readWhole(file) : describeSettled(file, stats)).finally(() =>
      describing.delete(key),
    );
    describing.set(key, work);
    return work;
  };

  // Without the API's folder nothing is published at all. "Unknown package" would then be wrong, and a CDN would keep
  // it.
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
      const variant =
        described.variants.get(encoding) ??
        (await findPublishedCopy(file, described, encoding)) ??
        (await makeVariant(described, encoding, { file, compressed }));
      // The cache measures a value when it is set, so a value that has grown is set again.
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
