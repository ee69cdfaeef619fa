import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeFolderName, encodeFolderName } from '../contract/filenames.ts';
import { slugPattern } from '../contract/manifest.ts';
import { depictionsName } from '../depictions/kept-depiction.ts';
import { readRegularFile } from '../disk/regular-file.ts';
import { DepictionStore } from './depiction-store.ts';
import { HistoryStore } from './history.ts';
import {
  type Attempts,
  attemptsSchema,
  noAttempts,
  type Snapshot,
  type SnapshotFile,
  snapshotSchema,
} from './snapshot.ts';
import {
  createTemporary,
  isMissing,
  isRefused,
  isTemporary,
  isUnreadable,
  moveDurably,
  removeTemporaries,
  syncDirectory,
  writeAtomically,
} from './snapshot-files.ts';

/** `damaged`: the store does not contain what it wrote. `missing`: it never had it. `slug`: not a valid slug. */
export type SnapshotErrorCode = 'damaged' | 'missing' | 'slug';

/** The store cannot return what it was asked for. The evidence is in `cause`. */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError';
  readonly code: SnapshotErrorCode;

  constructor(code: SnapshotErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Received bytes that no snapshot refers to yet. */
export interface StagedFile {
  readonly path: string;
  readonly sha256: string;
  readonly size: number;
  /** Reads the bytes again, in chunks. */
  read(): AsyncIterable<Uint8Array>;
  /** Removes them, unless a write has kept them. */
  discard(): Promise<void>;
}

// The folder's name contains the version of the format, so that another format has a folder of its own.
const formatVersion = 'v1';
const metaName = 'meta.json';
const attemptsName = 'attempts.json';
const contentName = /^[0-9a-f]{64}$/;
const readBytes = 1 << 18;

/**
 * The bytes of a file of this size, in chunks. One byte more is asked for, by which a longer file is noticed. Without an
 * end each chunk has room for `readBytes`, and so has the one that finds the end: of an index of a few kilobytes half a
 * megabyte in each reading, for which garbage is collected all the time.
 */
const streamBytes = (path: string, size: number): AsyncIterable<Uint8Array> =>
  createReadStream(path, { highWaterMark: readBytes, end: size });

const isPresent = async (path: string, size: number): Promise<boolean> => {
  try {
    const found = await stat(path);
    return found.isFile() && found.size === size;
  } catch {
    return false;
  }
};

const filesOf = (snapshot: Snapshot): SnapshotFile[] =>
  [snapshot.release, snapshot.packages, snapshot.packagesOfAll, snapshot.signature].filter((file) => file !== null);

/**
 * The last good data of every repository: a folder for each with its index files, named by hash, `meta.json` (the
 * snapshot, written after the files that it names) and `attempts.json`. One process at a time may write; any number may
 * read.
 */
export class SnapshotStore {
  /** What is known besides the snapshots and outlives them. */
  readonly history: HistoryStore;
  /** Kept native depictions, below the folder of each snapshot. */
  readonly depictions: DepictionStore;
  readonly #root: string;

  /** Neither folder needs to exist yet. */
  constructor(directory: string, historyDirectory: string) {
    this.#root = join(directory, formatVersion);
    this.depictions = new DepictionStore(this.#root);
    this.history = new HistoryStore(historyDirectory);
  }

  /**
   * The last good snapshot, or undefined if there is none. Its `checkedAt` includes later confirmations. Throws
   * `SnapshotError` `damaged` if its description cannot be read or a file that it names is missing.
   */
  async read(slug: string): Promise<Snapshot | undefined> {
    const folder = this.#folder(slug);
    let snapshot: Snapshot;
    try {
      snapshot = snapshotSchema.parse(JSON.parse((await readRegularFile(join(folder, metaName))).toString()));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw new SnapshotError('damaged', `the snapshot of ${slug} cannot be read`, { cause: error });
    }
    for (const file of filesOf(snapshot)) {
      if (!(await isPresent(join(folder, file.sha256), file.size))) {
        throw new SnapshotError('damaged', `the snapshot of ${slug} has lost its ${file.path}`);
      }
    }
    const { succeededAt } = await this.readAttempts(slug).catch(() => noAttempts);
    // Recorded after each success, so this is the later one, whatever the clock said.
    const checkedAt = succeededAt ?? snapshot.checkedAt;
    // A folder that was adopted from a former slug still contains that slug.
    return { ...snapshot, slug, checkedAt };
  }

  /** The bytes of a file of a snapshot. Throws `SnapshotError` if they are missing or not what was written. */
  async readFile(slug: string, file: SnapshotFile): Promise<Uint8Array> {
    let bytes: Buffer;
    try {
      bytes = await readRegularFile(join(this.#folder(slug), file.sha256));
    } catch (error) {
      throw new SnapshotError('missing', `the store has no ${file.path} of ${slug}`, { cause: error });
    }
    if (createHash('sha256').update(bytes).digest('hex') !== file.sha256) {
      throw new SnapshotError('damaged', `the ${file.path} of ${slug} is not what was stored`);
    }
    return bytes;
  }

  /**
   * Reads a file of a snapshot as `readFile` does, in chunks and bounded memory. What was read is good when the end is
   * reached; where the bytes are gone or not what was written it ends with `SnapshotError`.
   */
  async *streamFile(slug: string, file: SnapshotFile): AsyncGenerator<Uint8Array, void, void> {
    const hash = createHash('sha256');
    try {
      for await (const chunk of streamBytes(join(this.#folder(slug), file.sha256), file.size)) {
        hash.update(chunk);
        yield chunk;
      }
    } catch (error) {
      throw new SnapshotError('missing', `the store has no ${file.path} of ${slug}`, { cause: error });
    }
    if (hash.digest('hex') !== file.sha256) {
      throw new SnapshotError('damaged', `the ${file.path} of ${slug} is not what was stored`);
    }
  }

  /** Checks that a file of a snapshot exists and is as it was written. Throws `SnapshotError` if not. */
  async checkFile(slug: string, file: SnapshotFile): Promise<void> {
    for await (const _ of this.streamFile(slug, file));
  }

  /** The slugs for which there may be a folder, sorted. Not each has a snapshot. Other files there are ignored. */
  async list(): Promise<string[]> {
    try {
      const entries = await readdir(this.#root, { withFileTypes: true });
      return entries
        .flatMap((entry) => (entry.isDirectory() ? (decodeFolderName(entry.name) ?? []) : []))
        .filter((slug) => slugPattern.test(slug))
        .sort();
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  /** Receives bytes into the store, in bounded memory. An error of `chunks` passes through and leaves nothing. */
  async stage(slug: string, chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<StagedFile> {
    const folder = this.#folder(slug);
    await mkdir(folder, { recursive: true });
    const { path, handle } = await createTemporary(folder);
    const hash = createHash('sha256');
    let size = 0;
    try {
      for await (const chunk of chunks) {
        hash.update(chunk);
        size += chunk.length;
        await handle.writeFile(chunk);
      }
      await handle.close();
    } catch (error) {
      await handle.close().catch(() => {});
      await rm(path, { force: true });
      throw error;
    }
    return {
      path,
      size,
      sha256: hash.digest('hex'),
      read: () => streamBytes(path, size),
      discard: () => rm(path, { force: true }),
    };
  }

  /**
   * Makes `snapshot` the last good one. Its files come from `staged`, or are shared with the last snapshot. Whenever
   * the process stops, readers find either snapshot, complete. Throws `SnapshotError` `missing` if a file is in
   * neither.
   */
  async write(snapshot: Snapshot, staged: readonly StagedFile[]): Promise<void> {
    const folder = this.#folder(snapshot.slug);
    await mkdir(folder, { recursive: true });
    // Two files may have the same bytes: if all packages are for every architecture, both indexes do.
    for (const file of new Map(filesOf(snapshot).map((one) => [one.sha256, one])).values()) {
      const target = join(folder, file.sha256);
      const source = staged.find(({ sha256 }) => sha256 === file.sha256);
      if (source) await moveDurably(source.path, target);
      else if (!(await isPresent(target, file.size))) {
        throw new SnapshotError('missing', `there are no bytes for ${file.path} of ${snapshot.slug}`);
      }
    }
    await syncDirectory(folder);
    const text = `${JSON.stringify(snapshotSchema.parse(snapshot), null, 1)}\n`;
    await writeAtomically(join(folder, metaName), text, { durable: true });
    await this.#sweep(folder, snapshot);
  }

  /** Forgets a repository: its snapshot, its files, its attempts. */
  async remove(slug: string): Promise<void> {
    const folder = this.#folder(slug);
    await rm(join(folder, metaName), { force: true });
    await rm(folder, { recursive: true, force: true });
  }

  /**
   * Removes the repositories that are not in `kept` and that nobody has tried to crawl since `unused`, so that a line
   * accidentally lost from a manifest costs nothing until then. Returns their slugs.
   */
  async removeUnused(kept: ReadonlySet<string>, unused: Date): Promise<string[]> {
    const removed: string[] = [];
    for (const slug of await this.list()) {
      if (kept.has(slug)) continue;
      const { succeededAt, failedAt } = await this.readAttempts(slug).catch(() => noAttempts);
      const last =
        [succeededAt, failedAt]
          .filter((moment) => moment !== null)
          .sort()
          .at(-1) ?? (await this.#attemptsWrittenAt(slug));
      if (last !== undefined && last >= unused.toISOString()) continue;
      if (!(await this.#isOurs(slug))) continue;
      await this.remove(slug);
      removed.push(slug);
    }
    return removed;
  }

  /**
   * Transfers what is stored under a former slug of a repository to its present one, unless that already has a
   * snapshot. Returns whether there was anything to transfer.
   */
  async adopt(slug: string, former: string): Promise<boolean> {
    const isThere = async (name: string) => (await this.read(name).catch(() => undefined)) !== undefined;
    if (!(await isThere(former)) || (await isThere(slug)) || !(await this.#isOurs(slug))) return false;
    await rm(this.#folder(slug), { recursive: true, force: true });
    await rename(this.#folder(former), this.#folder(slug));
    return true;
  }

  // If the record of attempts is damaged or may not be read, the time of its file still tells of the last one.
  async #attemptsWrittenAt(slug: string): Promise<string | undefined> {
    const written = await stat(join(this.#folder(slug), attemptsName)).catch(() => undefined);
    return written?.mtime.toISOString();
  }

  // A folder of somebody else that happens to have the name of a slug must not be removed.
  async #isOurs(slug: string): Promise<boolean> {
    const names = await readdir(this.#folder(slug)).catch(() => []);
    return names.every(
      (name) => [metaName, attemptsName, depictionsName].includes(name) || contentName.test(name) || isTemporary(name),
    );
  }

  /** Removes what an interrupted visit left behind. */
  async removeTemporary(slug: string): Promise<void> {
    await removeTemporaries(this.#folder(slug));
    await this.history.removeTemporary(slug);
  }

  /**
   * What is remembered of the attempts to crawl a repository; `noAttempts` if nothing is. Throws the error of the system
   * if it may not be read: it would be written anew, without what the operator accepted.
   */
  async readAttempts(slug: string): Promise<Attempts> {
    const path = join(this.#folder(slug), attemptsName);
    try {
      return attemptsSchema.parse(JSON.parse((await readRegularFile(path)).toString()));
    } catch (error) {
      if (isRefused(error) && !isUnreadable(error)) throw error;
      // Losing it costs one early request and a word of the operator, so a damaged file or disk is no error.
      return noAttempts;
    }
  }

  async writeAttempts(slug: string, attempts: Attempts): Promise<void> {
    const folder = this.#folder(slug);
    await mkdir(folder, { recursive: true });
    const text = `${JSON.stringify(attemptsSchema.parse(attempts))}\n`;
    await writeAtomically(join(folder, attemptsName), text, { durable: false });
  }

  async #sweep(folder: string, snapshot: Snapshot): Promise<void> {
    const kept = new Set(filesOf(snapshot).map((file) => file.sha256));
    for (const name of await readdir(folder)) {
      if (isTemporary(name) || (contentName.test(name) && !kept.has(name))) {
        await rm(join(folder, name), { force: true });
      }
    }
  }

  #folder(slug: string): string {
    if (!slugPattern.test(slug)) {
      throw new SnapshotError('slug', `no repository has the slug ${JSON.stringify(slug)}`);
    }
    return join(this.#root, encodeFolderName(slug));
  }
}

/** Opens the store of last good data, with its history, below a state folder that need not exist yet. */
export const openStore = (state: string): SnapshotStore =>
  new SnapshotStore(join(state, 'snapshots'), join(state, 'history'));
