import {
  type BigIntStats,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { threadId } from 'node:worker_threads';
import { codings, copyPath, fileOfCopy } from '../contract/compressed-paths.ts';
import { readEntries } from './folder-entries.ts';
import { KnownFolders } from './known-folders.ts';
import { PlacedFiles } from './placed-files.ts';

// Temporary files are in one separate folder, so that the next build can remove what a crash leaves, and nothing
// half-written ever has a public name.
const stagingName = '.staging';

/** The record of compressed copies. If it exists, files may have such copies beside them. */
export const copiesRecord = '.debdex/copies.txt';

// For a folder below the output that is on another disk: files cannot be renamed across disks, so a file is first
// copied to such a name beside its place. The name is not derived from the file's own, which may be as long as a disk
// allows.
const besideOf = (file: string): string => path.join(path.dirname(file), `.${threadId}.next`);
const isBeside = (name: string): boolean => name.startsWith('.') && name.endsWith('.next');

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** Renames a file. Removes a folder that is in its place. */
const renameOver = (from: string, to: string): void => {
  try {
    renameSync(from, to);
  } catch (error) {
    // To another disk nothing is renamed, whatever is there.
    if (codeOf(error) === 'EXDEV' || !lstatSync(to, { throwIfNoEntry: false })?.isDirectory()) throw error;
    rmSync(to, { recursive: true });
    renameSync(from, to);
  }
};

/** The permission bits of a mode. */
const permissions = 0o7777;

/** Files that wait for their names, in order: the numbers in their temporary names, and their future names. */
interface HeldFiles {
  readonly serials: number[];
  readonly files: string[];
}

/**
 * The output folder, and the only way to write to it: documents, pages, search index, drawings and the mark of its
 * owner. A file appears whole, by rename, and is flushed with all others of the build before anything refers to it. So
 * whenever a build ends (even killed, or by a full disk) there are only whole files, from it or from the last one, and
 * the next build removes its temporary files.
 */
export class OutputFolder {
  readonly root: string;
  // Belongs to this thread: several threads write to one output folder at the same time.
  readonly #staging: string;
  readonly #folders: KnownFolders;
  readonly #placed = new PlacedFiles();
  #held: HeldFiles | undefined;
  #own: Stats | undefined;
  #serial = 0;
  #keepsCopies: boolean;

  constructor(root: string) {
    this.root = path.resolve(root);
    this.#folders = new KnownFolders(this.root);
    this.#keepsCopies = existsSync(this.resolve(copiesRecord));
    this.#staging = path.join(this.root, stagingName, `${process.pid}-${threadId}`);
  }

  /** The path on this disk of a path below the output folder, which has "/" between segments. */
  resolve(file: string): string {
    // Joining paths unnecessarily took a tenth of a build in which nothing changed.
    if (path.sep === '/') return file === '' ? this.root : `${this.root}/${file}`;
    return path.join(this.root, ...file.split('/'));
  }

  /** What is at the place of a file, without following links; undefined if nothing is. */
  lookUp(file: string): Stats | undefined {
    const target = this.resolve(file);
    const folder = path.dirname(target);
    // This comes first, so that nothing is looked up through a link, or below something that is still a file.
    this.#folders.make(folder);
    if (this.#folders.isNew(folder) && !this.#placed.has(file) && !this.#folders.has(target)) return undefined;
    return lstatSync(target, { throwIfNoEntry: false });
  }

  /** The same, but nothing is made or removed: undefined also if something is in the way of its folder. */
  find(file: string): Stats | undefined {
    const target = this.resolve(file);
    return this.#folders.isThere(path.dirname(target)) ? lstatSync(target, { throwIfNoEntry: false }) : undefined;
  }

  /** What `lookUp` finds, with integers, and with times in nanoseconds. */
  lookUpExactly(file: string): BigIntStats | undefined {
    const target = this.resolve(file);
    this.#folders.make(path.dirname(target));
    return lstatSync(target, { throwIfNoEntry: false, bigint: true });
  }

  /** Writes one whole file, with this time if one is given. */
  write(file: string, content: string | Uint8Array, time?: Date): void {
    const temporary = this.temporary();
    writeFileSync(temporary, content);
    if (time !== undefined) utimesSync(temporary, time, time);
    this.placeNoted(temporary, file);
  }

  /**
   * Writes one whole file with the content of another, which stays. It gets the owner and mode of files that are
   * written here.
   */
  copy(source: string, file: string, time?: Date): void {
    this.write(file, readFileSync(source), time);
  }

  /**
   * Makes a hard link to another file here, so that it need not be copied or stored twice. Whoever changes that file
   * has to replace it. Returns false if that is impossible: on another disk or one without hard links, and if the other
   * file's readers are not those of files that are written here. `given` is what is at the source.
   */
  share(source: string, file: string, given = lstatSync(source)): boolean {
    if (!given.isFile() || !this.isAsOwn(given)) return false;
    // A new name appears at once; an existing file is replaced by rename.
    const isNew = !this.isHolding && !this.#keepsCopies && this.lookUp(file) === undefined;
    const name = isNew ? this.resolve(file) : this.temporary();
    try {
      linkSync(source, name);
    } catch {
      // Systems report this in different ways, and copying will fail by itself if there is nothing to copy.
      return false;
    }
    if (!isNew) this.place(name, file);
    this.note(file);
    return true;
  }

  /**
   * Replaces another file with the same content by a hard link to a file of this folder, so that it is stored only
   * once. Returns false if that is impossible.
   */
  shareBack(file: string, other: string): boolean {
    const name = besideOf(other);
    try {
      rmSync(name, { force: true });
      linkSync(this.resolve(file), name);
      renameSync(name, other);
      return true;
    } catch {
      // Whatever is left of it belongs to no build, and the next build there removes it.
      return false;
    }
  }

  /** Whether a file has the owner and mode of files that are written here. */
  isAsOwn({ mode, uid, gid }: Stats): boolean {
    if (this.#own === undefined) {
      const temporary = this.temporary();
      writeFileSync(temporary, '');
      this.#own = lstatSync(temporary);
      rmSync(temporary);
    }
    const own = this.#own;
    return (mode & permissions) === (own.mode & permissions) && uid === own.uid && gid === own.gid;
  }

  /** A name for a new temporary file. */
  temporary(): string {
    this.#folders.make(this.#staging);
    return path.join(this.#staging, `${this.#serial++}`);
  }

  /**
   * From now on placed files keep their temporary names until `release`, so that a build that fails before has changed
   * nothing that is published. Meanwhile a lookup finds the present files.
   */
  hold(): void {
    this.#held ??= { serials: [], files: [] };
  }

  get isHolding(): boolean {
    return this.#held !== undefined;
  }

  /** How many files wait for `release`. */
  get held(): number {
    return this.#held?.files.length ?? 0;
  }

  /**
   * Gives held files their public names in the order in which they were placed: the first `count`, or all, which ends
   * holding.
   */
  release(count = Number.POSITIVE_INFINITY): void {
    const held = this.#held;
    if (held === undefined) return;
    const files = held.files.splice(0, count);
    const serials = held.serials.splice(0, count);
    if (count === Number.POSITIVE_INFINITY) this.#held = undefined;
    for (const [index, file] of files.entries()) {
      this.#put(path.join(this.#staging, `${serials[index]}`), file);
      this.#placed.mark(file, 'placed');
    }
  }

  /** Forgets the held files, and ends holding. */
  drop(): void {
    this.#held = undefined;
    this.#placed.forgetHeld();
    this.sweep();
  }

  /**
   * Gives a temporary file of this folder its public name. Replaces whatever is in the way of it or of its folders: a
   * page of an earlier build, or a link, through which it would be written outside (C9).
   */
  place(temporary: string, file: string): void {
    if (this.#held === undefined) {
      this.#put(temporary, file);
      return;
    }
    this.#held.serials.push(Number(path.basename(temporary)));
    this.#held.files.push(file);
    this.#placed.mark(file, 'held');
  }

  /** The same, and notes it for `flush`. */
  placeNoted(temporary: string, file: string): void {
    this.place(temporary, file);
    this.note(file);
  }

  #put(temporary: string, file: string): void {
    const target = this.resolve(file);
    this.#folders.make(path.dirname(target));
    if (this.#keepsCopies) this.#removeCopies(file);
    try {
      renameOver(temporary, target);
    } catch (error) {
      if (codeOf(error) !== 'EXDEV') throw error;
      this.#carry(temporary, target);
    }
  }

  /** Whether files may have compressed copies beside them. If so, whatever replaces a file removes its copies first. */
  get keepsCopies(): boolean {
    return this.#keepsCopies;
  }

  /** From now on all processes and threads that write here take compressed copies into account. */
  keepCopies(): void {
    if (this.#keepsCopies) return;
    this.write(copiesRecord, '');
    this.#keepsCopies = true;
  }

  /** To be called when no file has a copy any more. */
  endCopies(): void {
    rmSync(this.resolve(copiesRecord), { force: true });
    this.#keepsCopies = false;
  }

  /** Whether a file is one of those published or, if copies are kept, the compressed copy of one. */
  isPart(file: string, published: ReadonlySet<string>): boolean {
    if (published.has(file)) return true;
    const copied = this.#keepsCopies ? fileOfCopy(file) : undefined;
    return copied !== undefined && published.has(copied);
  }

  /** Notes a file for `flush`. To be called for a file that was placed before, or that another thread writes. */
  note(file: string): void {
    // A held file cannot be flushed yet. It is noted when it gets its name.
    if (!this.#placed.isHeld(file)) this.#placed.mark(file, 'placed');
  }

  /** Whether this object has given a file its name, or was told that another thread has. */
  hasPlaced(file: string): boolean {
    return this.#placed.has(file);
  }

  /**
   * Resolves when everything that was written so far is on disk, so that later notes may rely on it. All of it is
   * flushed at once: without that, a power cut leaves files with another size or time than was recorded, which are then
   * written again.
   */
  async flush(): Promise<void> {
    await this.#placed.flush(this.root, (file) => this.resolve(file));
  }

  /**
   * Removes the files below one of its folders that are not kept (by default all), and folders that become empty.
   * Returns how many files.
   */
  prune(folder: string, isKept: (file: string) => boolean = () => false): number {
    const present = lstatSync(this.resolve(folder), { throwIfNoEntry: false });
    if (present === undefined) return 0;
    if (!present.isDirectory()) {
      unlinkSync(this.resolve(folder));
      return 1;
    }
    let removed = 0;
    let left = 0;
    // Files are removed after the whole folder was read: it is undefined what a system lists while a folder changes.
    const [folders, files]: [string[], string[]] = [[], []];
    for (const entry of readEntries(this.resolve(folder))) {
      left++;
      const name = `${folder}/${entry.name}`;
      if (entry.isDirectory()) folders.push(name);
      else if (!isKept(name)) files.push(name);
    }
    for (const name of folders) {
      removed += this.prune(name, isKept);
      if (lstatSync(this.resolve(name), { throwIfNoEntry: false }) === undefined) left--;
    }
    for (const name of files) {
      rmSync(this.resolve(name));
      removed++;
      left--;
    }
    if (left === 0) {
      rmdirSync(this.resolve(folder));
      this.#folders.forget();
    }
    return removed;
  }

  /** Removes the folders above a file that are empty, the innermost first. */
  removeEmptyAbove(file: string): void {
    for (let folder = path.posix.dirname(file); folder !== '.'; folder = path.posix.dirname(folder)) {
      try {
        rmdirSync(this.resolve(folder));
      } catch (error) {
        if (codeOf(error) !== 'ENOENT') return;
      }
      this.#folders.forget();
    }
  }

  /**
   * Removes the temporary files of this and all earlier processes, unless some are held. Nobody else may be writing.
   */
  sweep(): void {
    if (this.held > 0) return;
    rmSync(path.join(this.root, stagingName), { recursive: true, force: true });
    this.#folders.forget();
    if (lstatSync(this.root, { throwIfNoEntry: false }) === undefined) return;
    for (const name of readdirSync(this.root)) {
      if (isBeside(name)) rmSync(path.join(this.root, name), { recursive: true });
    }
  }

  #removeCopies(file: string): void {
    if (fileOfCopy(file) !== undefined) return;
    for (const coding of codings) rmSync(this.resolve(copyPath(file, coding)), { force: true });
  }

  #carry(temporary: string, target: string): void {
    const beside = besideOf(target);
    rmSync(beside, { recursive: true, force: true });
    copyFileSync(temporary, beside, constants.COPYFILE_EXCL);
    renameOver(beside, target);
    rmSync(temporary);
  }
}
