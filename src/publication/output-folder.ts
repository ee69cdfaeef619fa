import {
  type BigIntStats,
  constants,
  copyFileSync,
  type Dirent,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  opendirSync,
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
import { flushFiles } from './flush.ts';

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

/** Makes a folder; returns false where something stands in its place. */
const makeNew = (folder: string): boolean => {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return false;
  }
};

/** The bits of a mode that say who may do what. */
const permissions = 0o7777;

/** Names of a folder that are in memory at once. */
const namesAtOnce = 1024;

/** What is in a folder, in no order and a few at a time in memory: it may hold a million. */
function* readEntries(folder: string): Generator<Dirent> {
  const directory = opendirSync(folder, { bufferSize: namesAtOnce });
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) yield entry;
  } finally {
    directory.closeSync();
  }
}

/** How many files and folders are in a folder. */
export const countEntries = (folder: string): number => {
  let count = 0;
  for (const _ of readEntries(folder)) count++;
  return count;
};

/** The files below a folder, in no order and a few at a time in memory; those of folders that are left out not among them. */
export function* walkFiles(
  folder: string,
  below = '',
  isLeftOut: (folder: string) => boolean = () => false,
): Generator<string> {
  for (const entry of readEntries(path.join(folder, below))) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    if (!entry.isDirectory()) yield name;
    else if (!isLeftOut(name)) yield* walkFiles(folder, name, isLeftOut);
  }
}

/** The same in the order of their names, folder by folder. */
export function* listFiles(folder: string, below = ''): Generator<string> {
  // Folder by folder: Node's own recursive reading asks the system about each file once more.
  for (const entry of readdirSync(path.join(folder, below), { withFileTypes: true })) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) yield* listFiles(folder, name);
    else yield name;
  }
}

/** Whether a file waits for its name, has it, or has it on the disk. */
type FileState = 'held' | 'placed' | 'flushed';

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
  readonly #folders = new Set<string>();
  /** Those of them that were not there before: nothing is in them but what is placed from now on. */
  readonly #made = new Set<string>();
  /** How far each file is that is written now: of a million files one table, and not three. */
  readonly #placed = new Map<string, FileState>();
  #unflushed = 0;
  #held: HeldFiles | undefined;
  #own: Stats | undefined;
  #serial = 0;
  #keepsCopies: boolean;

  constructor(root: string) {
    this.root = path.resolve(root);
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
    this.#makeFolder(folder);
    if (this.#made.has(folder) && !this.#placed.has(file) && !this.#folders.has(target)) return undefined;
    return lstatSync(target, { throwIfNoEntry: false });
  }

  /** The same in whole numbers, and with times in nanoseconds. */
  lookUpExactly(file: string): BigIntStats | undefined {
    const target = this.resolve(file);
    this.#makeFolder(path.dirname(target));
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
    this.#makeFolder(this.#staging);
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
      this.#mark(file, 'placed');
    }
  }

  /** Forgets what was held, and ends holding. */
  drop(): void {
    this.#held = undefined;
    for (const [file, state] of this.#placed) if (state === 'held') this.#placed.delete(file);
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
    this.#mark(file, 'held');
  }

  #put(temporary: string, file: string): void {
    const target = this.resolve(file);
    this.#makeFolder(path.dirname(target));
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
    if (this.#placed.get(file) !== 'held') this.#mark(file, 'placed');
  }

  #mark(file: string, state: FileState): void {
    if (this.#placed.get(file) === 'placed') this.#unflushed--;
    if (state === 'placed') this.#unflushed++;
    this.#placed.set(file, state);
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
    if (this.#unflushed === 0) return;
    const placed = this.#placed;
    const resolve = (file: string) => this.resolve(file);
    // One at a time: of a million files the paths alone are hundreds of megabytes.
    await flushFiles(this.root, {
      size: this.#unflushed,
      *[Symbol.iterator]() {
        for (const [file, state] of placed) if (state === 'placed') yield resolve(file);
      },
    });
    for (const [file, state] of placed) if (state === 'placed') placed.set(file, 'flushed');
    this.#unflushed = 0;
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
      this.#forgetFolders();
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
    this.#forgetFolders();
    return true;
  }

  /** Removes the temporary files of this and of every earlier process, unless some are held; nobody else may be writing. */
  sweep(): void {
    if (this.held > 0) return;
    rmSync(path.join(this.root, stagingName), { recursive: true, force: true });
    this.#forgetFolders();
    if (lstatSync(this.root, { throwIfNoEntry: false }) === undefined) return;
    for (const name of readdirSync(this.root)) {
      if (isBeside(name)) rmSync(path.join(this.root, name), { recursive: true });
    }
  }

  #forgetFolders(): void {
    this.#folders.clear();
    this.#made.clear();
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

  #makeFolder(folder: string): void {
    if (this.#folders.has(folder)) return;
    const below = folder !== this.root;
    const parent = path.dirname(folder);
    if (below) this.#makeFolder(parent);
    // In a folder that was made now hardly anything is in the way.
    if (this.#made.has(parent) && makeNew(folder)) this.#made.add(folder);
    else this.#clearWay(folder);
    this.#folders.add(folder);
  }

  #clearWay(folder: string): void {
    const below = folder !== this.root;
    // The output folder itself may be a link: that is how whoever runs this has it.
    const present = below ? lstatSync(folder, { throwIfNoEntry: false }) : undefined;
    if (present?.isDirectory()) return;
    if (present !== undefined) unlinkSync(folder);
    const made = mkdirSync(folder, { recursive: !below });
    // Of the output folder itself it is not known before.
    if (below || made !== undefined) this.#made.add(folder);
  }
}
