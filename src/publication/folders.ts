import { existsSync, lstatSync, readFileSync, type Stats, utimesSync } from 'node:fs';
import path from 'node:path';
import { writeWholeFile } from '../disk/whole-file.ts';
import { isEntrance } from './entrances.ts';
import { listFiles } from './folder-entries.ts';
import type { OutputFolder } from './output-folder.ts';

/** What publishing changed, in files. */
export interface Published {
  /** The paths of all that is published now. */
  readonly files: ReadonlySet<string>;
  readonly written: number;
  readonly unchanged: number;
  readonly removed: number;
}

/** A built folder and where its files go below the output folder ("" is its top). */
export interface Staged {
  readonly folder: string;
  /** The paths of all that is in it, where whoever built it knows them: to look for them takes a fifth of publishing. */
  readonly files?: readonly string[];
  readonly prefix: string;
  /** Where a file of a path stands in it, where that is not at the same path. Then `files` are told. */
  readonly standsAt?: (file: string) => string;
  /** Whether who builds it puts a new file in the place of each that changes, so that one file may stand in both. */
  readonly replaced?: boolean;
}

/** Gives a staged file the time of the published one, so that the next run need not compare their bytes again. */
const markSame = (staged: string, { atime, mtime }: Stats): void => {
  try {
    utimesSync(staged, atime, mtime);
  } catch (error) {
    // The bundle of the pages may be somebody else's to change: then it is compared each time.
    if (!['EPERM', 'EACCES', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
};

/** Places what differs, whole files only, and keeps bytes and time stamps of what does not. */
class Publisher {
  written = 0;
  unchanged = 0;
  readonly kept = new Set<string>();
  readonly #output: OutputFolder;
  readonly #verify: boolean;
  readonly #copied: { readonly file: string; readonly time: Date }[] = [];
  /** Whether the disk may give files second names: as long as it was not tried in vain. */
  #knowsNames = true;

  constructor(output: OutputFolder, verify: boolean) {
    this.#output = output;
    this.#verify = verify;
  }

  publish({ from, to, replaced }: PlacedFile): void {
    this.kept.add(to);
    const present = this.#output.lookUp(to);
    if (replaced && present === undefined && this.#output.share(from, to)) {
      this.written++;
      return;
    }
    const staged = lstatSync(from);
    // In whole milliseconds, since a file system may keep fewer digits than another.
    const time = new Date(Math.floor(staged.mtimeMs));
    if (present?.isFile() && present.size === staged.size) {
      const sameTime = Math.floor(present.mtimeMs) === time.getTime();
      const isAsOwn = this.#output.isAsOwn(present);
      // Some disks number files by more digits than a number has, but one file has one time.
      const isOne = present.ino === staged.ino && present.dev === staged.dev && present.mtimeMs === staged.mtimeMs;
      // What is not one file though it may be was published by copying, or has been made again since.
      const mayBeOne = replaced && isAsOwn && !isOne && present.dev === staged.dev && this.#knowsNames;
      const isKnown = isOne || (sameTime && !mayBeOne && !this.#verify);
      const isSame = isKnown || readFileSync(from).equals(readFileSync(this.#output.resolve(to)));
      // Who may read it is looked at with all else that may have been altered.
      if (isSame && (isAsOwn || !this.#verify)) {
        if (mayBeOne) this.#knowsNames = this.#output.shareBack(to, from);
        if (!sameTime && !(mayBeOne && this.#knowsNames)) markSame(from, present);
        // Nobody knows whether what an earlier publishing left was flushed.
        if (this.#verify) this.#output.note(to);
        this.unchanged++;
        return;
      }
    }
    this.written++;
    if (replaced && this.#output.share(from, to)) return;
    // It may be copied in the very millisecond in which it was staged, and must not look as if it had been flushed.
    this.#output.copy(from, to, new Date(time.getTime() - 1));
    this.#copied.push({ file: this.#output.resolve(to), time });
  }

  /** Resolves when what was copied is on the disk; from then on its time says that it need not be compared again. */
  async flush(): Promise<void> {
    await this.#output.flush();
    for (const { file, time } of this.#copied) utimesSync(file, time, time);
  }
}

// Files that name others; the rest name nothing.
const naming = /\.(?:html|xml|atom|json)$/;

/**
 * The names of the files that others may name, kept from one publishing to the next. What else stands in the output
 * folder was left by one that was interrupted, and may itself name what never came.
 */
class NamedFiles {
  readonly #file: string;
  #text: string | undefined;

  constructor(file: string) {
    this.#file = file;
    this.#text = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  }

  /** Undefined where they were never noted, or the note is lost. */
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

/** The folders at the top in which such files are. */
const topsOf = (names: Iterable<string>): ReadonlySet<string> =>
  new Set([...names].filter((name) => name.includes('/')).map((name) => name.slice(0, name.indexOf('/'))));

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
  /** Whether to compare the bytes of files that have the same size and time. */
  readonly verify?: boolean;
  /**
   * Called when all is ready: it is to put in force what the pages are made of, when `placeNew` has given their names to
   * what nobody names yet, and to what was held before. What changes comes after, and names both.
   */
  readonly putInForce?: ((placeNew: () => void) => Promise<void>) | undefined;
  /** Called when everything new stands, unless nothing is, and before it is looked for what is to be removed. */
  readonly whenStanding?: (() => void) | undefined;
  /**
   * Called with the paths of all that is published when everything new stands and before anything is removed, so that
   * readers can let go of it; unless nothing is to be.
   */
  readonly beforeRemoval?: ((files: ReadonlySet<string>) => Promise<void>) | undefined;
}

/**
 * Publishes built folders into the output folder. In the folders at its top that the site has a part in, or had when it
 * was last published, files that were not built any more are removed; everything else in the output folder is left alone.
 *
 * Whenever this ends, nothing that can be reached names a missing file: first comes what names nothing, then the pages
 * that are new, which name each other but are named by nobody yet, then the pages that change, and last the entrances.
 * Where the output folder holds what is placed, nothing is before all of it is ready.
 */
export const publishFolders = async (
  output: OutputFolder,
  staged: readonly Staged[],
  {
    named: namedFile,
    verify = false,
    putInForce = async (placeNew) => placeNew(),
    whenStanding = () => {},
    beforeRemoval = async () => {},
  }: PublishOptions,
): Promise<Published> => {
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
    // In a folder that is made now nothing can have vanished, and of one that has none of them any more all has.
    const former = [...tops.union(topsOf(noted ?? []))].filter((top) =>
      lstatSync(output.resolve(top), { throwIfNoEntry: false })?.isDirectory(),
    );
    const turns = Map.groupBy(files, turnOf);
    const publisher = new Publisher(output, verify);
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
      if (turns.has('new')) named.write(new Set([...known, ...names]));
    });
    if (isHolding) output.release();
    else publishChanged();
    await publisher.flush();
    if (publisher.written > 0) whenStanding();

    const hasVanished = former.some((top) =>
      [...listFiles(output.root, top)].some((name) => !output.isPart(name, publisher.kept)),
    );
    let removed = 0;
    const prune = (top: string) => {
      removed += output.prune(top, (file) => output.isPart(file, publisher.kept));
    };
    if (hasVanished) {
      await beforeRemoval(publisher.kept);
      // Only the note tells that these were the site's.
      for (const top of former) if (!tops.has(top)) prune(top);
    }
    named.write(names);
    if (hasVanished) for (const top of former) prune(top);
    return { files: publisher.kept, written: publisher.written, unchanged: publisher.unchanged, removed };
  } finally {
    output.sweep();
  }
};
