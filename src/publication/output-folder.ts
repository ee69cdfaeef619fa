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

// Temporary files live in one folder of their own, so that a crash leaves its remains where the next build sweeps them
// and nothing half-written ever has a public name.
const stagingName = '.staging';

/** The record of compressed copies. Where it stands, files may have such copies beside them. */
export const copiesRecord = '.debdex/copies.txt';

// Where a folder below the output lies on another disk: nothing can be renamed from one disk to another, so the file is
// copied to such a name beside its own first. Not made of its own, which may be as long as a disk allows.
const besideOf = (file: string): string => path.join(path.dirname(file), `.${threadId}.next`);
const isBeside = (name: string): boolean => name.startsWith('.') && name.endsWith('.next');

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** The bits of a mode that say who may do what. */
const permissions = 0o7777;

/** Files that wait for their names, in order: the numbers that their temporary names are, and what they will be. */
interface HeldFiles {
  readonly serials: number[];
  readonly files: string[];
}

/**
 * The output folder, and the only way anything gets there: documents, pages, search index, drawings and the mark of its
 * owner. A file appears whole, by rename, and is flushed with all others of the build before anything says that it is
 * there. So whenever a build ends (killed, or by a full disk) there are whole files, of it or of the one before, and
 * what it left half-written is swept by the next.
 */
export class OutputFolder {
  readonly root: string;
  // Of this thread alone: several write into one output folder at once.
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

  /** The path on this disk of a file's path below the output folder, which has "/" between segments. */
  resolve(file: string): string {
    // Joining what needs no joining took a tenth of a build in which nothing changed.
    if (path.sep === '/') return file === '' ? this.root : `${this.root}/${file}`;
    return path.join(this.root, ...file.split('/'));
  }

  /** What stands in the place of a file, nothing behind a link; undefined where nothing does. */
  lookUp(file: string): Stats | undefined {
    const target = this.resolve(file);
    const folder = path.dirname(target);
    // First, so that nothing is looked up through a link, or below what is a file still.
    this.#folders.make(folder);
    if (this.#folders.isNew(folder) && !this.#placed.has(file) && !this.#folders.has(target)) return undefined;
    return lstatSync(target, { throwIfNoEntry: false });
  }

  /** The same in whole numbers, and with times in nanoseconds. */
  lookUpExactly(file: string): BigIntStats | undefined {
    const target = this.resolve(file);
    this.#folders.make(path.dirname(target));
    return lstatSync(target, { throwIfNoEntry: false, bigint: true });
  }

  /** Writes one whole file, as of this time where one is given. */
  write(file: string, content: string | Uint8Array, time?: Date): void {
    const temporary = this.temporary();
    writeFileSync(temporary, content);
    if (time !== undefined) utimesSync(temporary, time, time);
    this.place(temporary, file);
    this.note(file);
  }

  /** Writes one whole file with the content of another, which stays. Its owner and mode are those of what is written here. */
  copy(source: string, file: string, time?: Date): void {
    this.write(file, readFileSync(source), time);
  }

  /**
   * Gives another file a second name here, so that it need not be copied and takes no room twice: who changes it has to
   * put a new file in its place. Returns false where that cannot be: on another disk or one that knows no such names, and
   * where the other is no file that those may read who may read what is written here.
   */
  share(source: string, file: string): boolean {
    const given = lstatSync(source);
    if (!given.isFile() || !this.isAsOwn(given)) return false;
    // What is new appears whole by itself; what stands there gives way by rename.
    const isNew = !this.isHolding && this.lookUp(file) === undefined && !this.#keepsCopies;
    const name = isNew ? this.resolve(file) : this.temporary();
    try {
      linkSync(source, name);
    } catch (error) {
      // Some systems say so by one word and some by another, and copying fails by itself where there is nothing to copy.
      if (codeOf(error) === 'ENOENT') throw error;
      return false;
    }
    if (!isNew) this.place(name, file);
    this.note(file);
    return true;
  }

  /**
   * Puts a file of this folder, by a second name, in the place of another that has the same content, so that it takes no
   * room twice. Returns false where that cannot be.
   */
  shareBack(file: string, other: string): boolean {
    const name = besideOf(other);
    try {
      rmSync(name, { force: true });
      linkSync(this.resolve(file), name);
      renameSync(name, other);
      return true;
    } catch {
      // What is left of it belongs to no build, and whoever builds there removes it.
      return false;
    }
  }

  /** Whether a file has the owner and the mode of what is written here. */
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

  /** The name of a new temporary file. */
  temporary(): string {
    this.#folders.make(this.#staging);
    return path.join(this.#staging, `${this.#serial++}`);
  }

  /**
   * From now on what is placed keeps its temporary name until `release`: a build that fails before has changed nothing
   * that is published. What is looked up meanwhile is what stands there still.
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
   * Gives what was held its public names in the order in which it was placed, the first so many, or all; with all of
   * them, holding ends.
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

  /** Forgets what was held, and ends holding. */
  drop(): void {
    this.#held = undefined;
    this.#placed.forgetHeld();
    this.sweep();
  }

  /**
   * Gives a temporary file of this folder its public name. What stands in the way of it or of its folders goes: a page of
   * a former build, or a link, through which it would be written outside (C9).
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

  #put(temporary: string, file: string): void {
    const target = this.resolve(file);
    this.#folders.make(path.dirname(target));
    if (this.#keepsCopies) this.#removeCopies(file);
    try {
      renameSync(temporary, target);
    } catch (error) {
      if (codeOf(error) === 'EXDEV') this.#carry(temporary, target);
      else if (lstatSync(target, { throwIfNoEntry: false })?.isDirectory()) {
        rmSync(target, { recursive: true });
        renameSync(temporary, target);
      } else throw error;
    }
  }

  /** Whether files may have compressed copies beside them; then whatever replaces a file removes its copies first. */
  get keepsCopies(): boolean {
    return this.#keepsCopies;
  }

  /** Has compressed copies kept with the files, by every process and thread that writes here after this. */
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

  /** Whether a file is one of those that are published, or the compressed copy of one, where copies are kept. */
  isPart(file: string, published: ReadonlySet<string>): boolean {
    if (published.has(file)) return true;
    const copied = this.#keepsCopies ? fileOfCopy(file) : undefined;
    return copied !== undefined && published.has(copied);
  }

  /** Takes a file for one that `flush` is to flush; to be called of what was placed, or another thread writes. */
  note(file: string): void {
    // What is held cannot be flushed yet, and is noted when it gets its name.
    if (!this.#placed.isHeld(file)) this.#placed.mark(file, 'placed');
  }

  /** Whether this has given a file its name, or was told that another thread has. */
  hasPlaced(file: string): boolean {
    return this.#placed.has(file);
  }

  /**
   * Resolves when everything written so far is on the disk, so that what is noted afterwards may say so. One flush for
   * all of it: what a power cut leaves without it is of another size or time than was noted, and is written again.
   */
  async flush(): Promise<void> {
    await this.#placed.flush(this.root, (file) => this.resolve(file));
  }

  /**
   * Removes the files below one of its folders that are not kept (all of them, unless told otherwise), and the folders
   * that this leaves empty. Returns how many files.
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
    // What goes is removed when all was read: what a system lists while a folder changes is not said.
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

  /** Removes a folder if nothing is in it; returns whether it is gone. */
  removeEmpty(folder: string): boolean {
    try {
      rmdirSync(this.resolve(folder));
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') return false;
    }
    this.#folders.forget();
    return true;
  }

  /** Removes the temporary files of this and of every earlier process, unless some are held; nobody else may be writing. */
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
    renameSync(beside, target);
    rmSync(temporary);
  }
}
