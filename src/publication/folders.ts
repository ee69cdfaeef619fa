import { existsSync, lstatSync, readFileSync, type Stats, utimesSync } from 'node:fs';
import path from 'node:path';
import { writeWholeFile } from '../disk/whole-file.ts';
import { isEntrance } from './entrances.ts';
import { listFiles } from './folder-entries.ts';
import type { FoldersAhead } from './folders-ahead.ts';
import type { OutputFolder } from './output-folder.ts';
import { type KnownFolder, SizeCounter } from './size.ts';

/** The changes of a publishing, in files. */
export interface Published {
  /** The paths of all published files. */
  readonly files: ReadonlySet<string>;
  /** The top-level folders that contain nothing but these files, with the sizes of those. */
  readonly folders: readonly KnownFolder[];
  readonly written: number;
  readonly unchanged: number;
  readonly removed: number;
}

/** A built folder, and where its files go below the output folder ("" is its top). */
export interface Staged {
  readonly folder: string;
  /** The paths of all files in it, if the builder knows them: searching for them takes a fifth of publishing. */
  readonly files?: readonly string[];
  readonly prefix: string;
  /** Maps the path of a file to where it is in the folder, if that differs. Then `files` must be given. */
  readonly standsAt?: (file: string) => string;
  /**
   * Whether the builder replaces changed files rather than modifying them, so that a file may be hard-linked into the
   * output.
   */
  readonly replaced?: boolean;
}

/** Gives a staged file the time of the published one, so that the next run need not compare their bytes again. */
const markSame = (staged: string, { atime, mtime }: Stats): void => {
  try {
    utimesSync(staged, atime, mtime);
  } catch (error) {
    // The bundle of the pages may belong to somebody else. Then the bytes are compared each time.
    if (!['EPERM', 'EACCES', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
};

/** The top-level folder that contains a file; undefined if none does. */
const topOf = (file: string): string | undefined => {
  const end = file.indexOf('/');
  return end < 0 ? undefined : file.slice(0, end);
};

/** Publishes whole files that differ, and keeps the bytes and time stamps of those that do not. */
class Publisher {
  written = 0;
  unchanged = 0;
  readonly kept = new Set<string>();
  /** By top-level folder. */
  readonly sizes = new Map<string, SizeCounter>();
  readonly #output: OutputFolder;
  readonly #verify: boolean;
  readonly #copied: { readonly file: string; readonly time: Date }[] = [];
  /** Whether the disk may support hard links: true until an attempt fails. */
  #knowsNames = true;

  constructor(output: OutputFolder, verify: boolean) {
    this.#output = output;
    this.#verify = verify;
  }

  /** Leaves a published file that is as it was built. Returns false for any other, which has to be published. */
  keep({ from, to, replaced }: PlacedFile): boolean {
    const present = this.#output.find(to);
    if (!present?.isFile()) return false;
    const staged = lstatSync(from);
    if (present.size !== staged.size) return false;
    const sameTime = Math.floor(present.mtimeMs) === Math.floor(staged.mtimeMs);
    const isAsOwn = this.#output.isAsOwn(present);
    // Some disks have inode numbers that exceed the precision of a number, but a single file also has a single time.
    const isOne = present.ino === staged.ino && present.dev === staged.dev && present.mtimeMs === staged.mtimeMs;
    // If the two could be one file and are not, it was published by copying, or was made again since.
    const mayBeOne = replaced && isAsOwn && !isOne && present.dev === staged.dev && this.#knowsNames;
    const isKnown = isOne || (sameTime && !mayBeOne && !this.#verify);
    const isSame = isKnown || readFileSync(from).equals(readFileSync(this.#output.resolve(to)));
    // Permissions are only checked together with everything else that may have been altered.
    if (!isSame || (!isAsOwn && this.#verify)) return false;
    if (mayBeOne) this.#knowsNames = this.#output.shareBack(to, from);
    else if (!sameTime) markSame(from, present);
    // It is unknown whether files of an interrupted publishing were flushed.
    if (this.#verify) this.#output.note(to);
    this.#take(to, staged);
    this.unchanged++;
    return true;
  }

  publish({ from, to, replaced }: PlacedFile): void {
    const staged = lstatSync(from);
    this.#take(to, staged);
    this.written++;
    if (replaced && this.#output.share(from, to, staged)) return;
    // In whole milliseconds, because file systems store times with different precision.
    const time = new Date(Math.floor(staged.mtimeMs));
    // It may be copied in the same millisecond in which it was staged, and must not look as if it had been flushed.
    this.#output.copy(from, to, new Date(time.getTime() - 1));
    this.#copied.push({ file: this.#output.resolve(to), time });
  }

  #take(file: string, { size }: Stats): void {
    if (!this.kept.has(file)) this.#count(file, size);
    this.kept.add(file);
  }

  #count(file: string, bytes: number): void {
    const top = topOf(file);
    if (top === undefined) return;
    const counter = this.sizes.get(top) ?? new SizeCounter();
    this.sizes.set(top, counter);
    counter.add(file, bytes);
  }

  /** Resolves when the copied files are on disk. After that their time shows that they need not be compared again. */
  async flush(): Promise<void> {
    await this.#output.flush();
    for (const { file, time } of this.#copied) utimesSync(file, time, time);
  }
}

// Files that name other files. All others name none.
const naming = /\.(?:html|xml|atom|json)$/;

/**
 * The names of the files that others may name, kept from one publishing to the next. Any other file in the output
 * folder was left by an interrupted publishing, and may itself name files that never came.
 */
class NamedFiles {
  readonly #file: string;
  #text: string | undefined;

  constructor(file: string) {
    this.#file = file;
    this.#text = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  }

  /** Undefined if they were never recorded, or the record is lost. */
  read(): ReadonlySet<string> | undefined {
    return this.#text === undefined ? undefined : new Set(this.#text.split('\n'));
  }

  write(names: Iterable<string>): void {
    const text = [...names].join('\n');
    if (text === this.#text) return;
    this.#text = text;
    writeWholeFile(this.#file, text);
  }
}

/** The top-level folders that contain such files. */
const topsOf = (names: Iterable<string>): ReadonlySet<string> =>
  new Set([...names].map(topOf).filter((top) => top !== undefined));

interface PlacedFile {
  readonly from: string;
  readonly to: string;
  readonly replaced: boolean;
}

const listPlaced = (staged: readonly Staged[]): PlacedFile[] =>
  staged.flatMap(({ folder, files = [...listFiles(folder)], prefix, standsAt = (file) => file, replaced = false }) =>
    files.map((name) => ({
      from: path.join(folder, standsAt(name)),
      to: prefix === '' ? name : `${prefix}/${name}`,
      replaced,
    })),
  );

/** How to publish; see `publishFolders`. */
export interface PublishOptions {
  /** The file that keeps, from one publishing to the next, which files others may name. */
  readonly named: string;
  /** Whether to compare the bytes of files with the same size and time. */
  readonly verify?: boolean;
  /**
   * Called when all is prepared. It has to put what the pages are made from into force, after `placeNew` has given
   * their names to new files, which nothing names yet, and to files that were held before. Changed files, which name
   * both, come afterwards.
   */
  readonly putInForce?: ((placeNew: () => void) => Promise<void>) | undefined;
  /** What made folders of these files before they were built. */
  readonly ahead?: FoldersAhead;
  /** Called when all new files exist, unless there are none, and before removable files are searched for. */
  readonly whenStanding?: (() => void) | undefined;
  /**
   * Called with the paths of all published files when everything new exists and before anything is removed, so that
   * readers can release old files; not called if nothing is to be removed.
   */
  readonly beforeRemoval?: ((files: ReadonlySet<string>) => Promise<void>) | undefined;
}

/**
 * Publishes built folders into the output folder. In its top-level folders in which the site has files, or had when it
 * was last published, files that were not built are removed. Everything else in the output folder is left alone.
 *
 * Whenever this ends, nothing reachable names a missing file: first come files that name nothing, then new pages, which
 * name each other but are not named by others yet, then changed pages, and last the entrances. If the output folder
 * holds placed files back, none appears before all are prepared.
 */
export const publishFolders = async (
  output: OutputFolder,
  staged: readonly Staged[],
  {
    named: namedFile,
    verify = false,
    ahead,
    putInForce = async (placeNew) => placeNew(),
    whenStanding = () => {},
    beforeRemoval = async () => {},
  }: PublishOptions,
): Promise<Published> => {
  const made = ahead?.place();
  output.sweep();
  try {
    const files = listPlaced(staged);
    const present = (name: string) => existsSync(output.resolve(name));
    const named = new NamedFiles(namedFile);
    const noted = named.read();
    const known = noted ?? new Set(present('index.html') ? files.map(({ to }) => to).filter(present) : []);
    const turnOf = ({ to }: PlacedFile): 'first' | 'new' | 'changed' | 'last' => {
      if (isEntrance(to)) return 'last';
      if (!naming.test(to)) return 'first';
      return known.has(to) && present(to) ? 'changed' : 'new';
    };
    const tops = topsOf(files.map(({ to }) => to));
    // A folder that is made now cannot have lost files, and one that no longer has any files of the site has lost all.
    const former = [...tops.union(topsOf(noted ?? []))].filter(
      (top) => made?.has(top) !== true && lstatSync(output.resolve(top), { throwIfNoEntry: false })?.isDirectory(),
    );
    const publisher = new Publisher(output, verify);
    // Nearly all are as they were, except where nothing was.
    const isNew = ({ to }: PlacedFile) => made?.has(topOf(to) ?? '') === true;
    const turns = Map.groupBy(
      files.filter((file) => isNew(file) || !publisher.keep(file)),
      turnOf,
    );
    const publishAll = (turn: 'first' | 'new' | 'changed' | 'last') => {
      for (const file of turns.get(turn) ?? []) publisher.publish(file);
    };
    const publishChanged = () => {
      publishAll('changed');
      publishAll('last');
    };
    publishAll('first');
    publishAll('new');
    const names = files.map(({ to }) => to).filter((name) => naming.test(name));
    const unnamed = output.held;
    const isHolding = output.isHolding;
    if (isHolding) publishChanged();
    await putInForce(() => {
      output.release(unnamed);
      // Also pages that stand as they were built, which an interrupted publishing left.
      if (names.some((name) => !known.has(name))) named.write(new Set([...known, ...names]));
    });
    if (isHolding) output.release();
    else publishChanged();
    await publisher.flush();
    if (publisher.written > 0) whenStanding();

    // The others are not gone through again: most of the time only parts of the search index vanish.
    const vanishing = former.filter((top) =>
      listFiles(output.root, top).some((name) => !output.isPart(name, publisher.kept)),
    );
    let removed = 0;
    const prune = (top: string) => {
      removed += output.prune(top, (file) => output.isPart(file, publisher.kept));
    };
    if (vanishing.length > 0) {
      await beforeRemoval(publisher.kept);
      // Only the note shows that these were the site's.
      for (const top of vanishing) if (!tops.has(top)) prune(top);
    }
    named.write(names);
    for (const top of vanishing) if (tops.has(top)) prune(top);
    const { kept, sizes, written, unchanged } = publisher;
    const folders = [...sizes].map(([folder, { size }]) => ({ folder, ...size }));
    return { files: kept, folders, written, unchanged, removed };
  } finally {
    output.sweep();
  }
};
