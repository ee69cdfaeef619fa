import { hash } from 'node:crypto';
import { createWriteStream, lstatSync, rmSync, statSync } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolder } from '../disk/make-folder.ts';
import { readIfThere } from '../disk/regular-file.ts';
import { readContent } from '../publication/folder-content.ts';
import { isWithin } from '../publication/folder-paths.ts';
import { digestFile } from '../publication/inventory.ts';
import { OutputFolder } from '../publication/output-folder.ts';
import { isOutputOfBuilds } from '../publication/owner.ts';
import type { Destination, Tagged } from './destination.ts';
import type { LocalFile } from './local-publication.ts';
import { Conflict, UploadError } from './upload-error.ts';

// A lock that is held for moments, while the record is compared and replaced.
const latchName = '.debdex/latch';
/** A latch that has not changed for this many milliseconds was left by a process that was killed. */
const usualLatchMs = 10_000;

interface FolderOptions {
  /** After how many milliseconds without a change the latch of an upload counts as left by a killed one. */
  readonly latchMs?: number;
  /** Called with the reason, a sentence, if the latch is waited for longer than a tenth of that. */
  readonly onRetry?: (reason: string) => void;
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
const tagOf = (bytes: Buffer): string => hash('sha256', bytes);

const noRoom = (title: string): string =>
  `There is no more room in ${title} (the disk is full, has no inodes left, or a quota is met): make room`;
const notAllowed = (title: string): string =>
  `This user may not write to ${title}, or to something in it: give it the folder with all that is in it, or name another,`;
const noDisk = (title: string): string => `The disk or mount of ${title} fails: see to it`;

/** Advice for the operator, by the system's error code. */
const advices: Readonly<Record<string, (title: string) => string>> = {
  ENOSPC: noRoom,
  EDQUOT: noRoom,
  EROFS: (title) => `${title} is mounted read-only: mount it for writing, or name another folder,`,
  EACCES: notAllowed,
  EPERM: notAllowed,
  EFBIG: (title) =>
    `${title} takes no file as large as the catalog: use another file system, lift the limit (ulimit -f),`,
  EIO: noDisk,
  ESTALE: noDisk,
};

const vanished = (title: string): string =>
  `What this upload writes to ${title} is gone before it is complete: somebody removed the folder or something in it, or another upload has begun. See which, and upload again with --verify.`;

const assertApart = (folder: string, source: string): void => {
  if (!isWithin(folder, source) && !isWithin(source, folder)) return;
  throw new UploadError(
    `${folder} and ${source}, which is to be uploaded, are the same folder, or one lies in the other: name a destination beside it.`,
  );
};

/**
 * A folder on this machine, on another disk, or on a mount. Files appear by rename and in order, even if the upload is
 * killed.
 */
export class FolderDestination implements Destination {
  readonly title: string;
  readonly usualConcurrency = 8;
  readonly #output: OutputFolder;
  readonly #latchMs: number;
  readonly #onRetry: (reason: string) => void;

  /** @throws UploadError if the folder cannot be a destination of what is in `source` */
  constructor(folder: string, source: string, { latchMs = usualLatchMs, onRetry = () => {} }: FolderOptions = {}) {
    this.title = folder;
    this.#latchMs = latchMs;
    this.#onRetry = onRetry;
    this.#output = new OutputFolder(folder);
    assertApart(folder, source);
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false) {
      throw new UploadError(`${folder} is a file: name a folder.`);
    }
    if (isOutputOfBuilds(folder)) {
      throw new UploadError(
        `${folder} is the output folder of builds, which an upload would put into disorder: name another folder.`,
      );
    }
  }

  namesOf(file: string): readonly string[] {
    return [file];
  }

  everyNameOf(file: string): readonly string[] {
    return [file];
  }

  formOf(): string {
    return 'file';
  }

  async isEmpty(): Promise<boolean> {
    return readContent(this.#output.root).length === 0;
  }

  async begin(): Promise<void> {
    await this.#orTold(() => this.#output.sweep());
  }

  async read(name: string): Promise<Tagged | undefined> {
    const bytes = readIfThere(this.#output.resolve(name));
    return bytes && { bytes, tag: tagOf(bytes) };
  }

  async look(name: string, _: string, sha256: string): Promise<'same' | 'other' | 'none'> {
    const present = lstatSync(this.#output.resolve(name), { throwIfNoEntry: false });
    if (present?.isFile() !== true) return 'none';
    return digestFile(this.#output.resolve(name)) === sha256 ? 'same' : 'other';
  }

  async put(name: string, _: string, file: LocalFile): Promise<void> {
    await this.#orTold(async () => {
      const temporary = this.#output.temporary();
      if (file.bytes === undefined) await pipeline(file.open(), createWriteStream(temporary, { flags: 'wx' }));
      else await writeFile(temporary, file.bytes, { flag: 'wx' });
      this.#output.placeNoted(temporary, name);
    });
  }

  async replace(name: string, bytes: Buffer, tag: string | undefined): Promise<string> {
    return this.#orTold(async () => {
      makeFolder(path.dirname(this.#output.resolve(latchName)));
      await this.#latch();
      try {
        if ((await this.read(name))?.tag !== tag) throw new Conflict(name);
        this.#output.write(name, bytes);
        await this.#output.flush();
        return tagOf(bytes);
      } catch (error) {
        // Another upload has just begun, and has removed this one's half-written files.
        throw codeOf(error) === 'ENOENT' ? new Conflict(name) : error;
      } finally {
        rmSync(this.#output.resolve(latchName), { force: true });
      }
    });
  }

  isSure(): boolean {
    return true;
  }

  async remove(name: string): Promise<void> {
    await this.#orTold(() => rmSync(this.#output.resolve(name), { force: true }));
    this.#output.removeEmptyAbove(name);
  }

  async flush(): Promise<void> {
    await this.#orTold(() => this.#output.flush());
  }

  async close(): Promise<void> {}

  // Measured with our own clock: the clock of a share may differ, so a latch could seem a day old, or from tomorrow.
  async #latch(): Promise<void> {
    const latch = this.#output.resolve(latchName);
    let isTold = false;
    let watched: { readonly file: string; readonly since: number } | undefined;
    for (;;) {
      try {
        await (await open(latch, 'wx')).close();
        return;
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error;
        const present = statSync(latch, { throwIfNoEntry: false, bigint: true });
        const file = `${present?.ino} ${present?.mtimeNs}`;
        if (watched?.file !== file) watched = { file, since: performance.now() };
        const waited = performance.now() - watched.since;
        if (waited > this.#latchMs) rmSync(latch, { force: true });
        else await sleep(20);
        if (waited > this.#latchMs / 10 && !isTold) {
          isTold = true;
          this.#onRetry(
            `Another upload holds ${latch}, or was killed while it did: going on when it is gone, or after ${this.#latchMs / 1000} s without a change.`,
          );
        }
      }
    }
  }

  // Turns an error of a disk, a mount or a share into a sentence that says what to do.
  async #orTold<T>(work: () => T | Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      // What is read comes from open files.
      if (codeOf(error) === 'ENOENT') throw new UploadError(vanished(this.title), { cause: error });
      const advice = advices[codeOf(error) ?? ''];
      if (advice === undefined) throw error;
      throw new UploadError(
        `${advice(this.title)} and upload again: it goes on with what is there already. What was in force there still is.`,
        { cause: error },
      );
    }
  }
}
