import {
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
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

/** What publishing changed, in files. */
export interface Published {
  readonly written: number;
  readonly unchanged: number;
  readonly removed: number;
}

/** A built folder and where its files go below the output folder ("" is its top). */
export interface Staged {
  readonly folder: string;
  readonly prefix: string;
}

// A file is written under such a name and then renamed. One that is left over is removed by the next run.
const temporary = (file: string): string => path.join(path.dirname(file), `.${path.basename(file)}.next`);
const isTemporary = (name: string): boolean => name.startsWith('.') && name.endsWith('.next');

function* walk(folder: string, below = ''): Generator<string> {
  for (const entry of readdirSync(path.join(folder, below), { withFileTypes: true })) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) yield* walk(folder, name);
    else yield name;
  }
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

/** Copies what differs, whole files only, and keeps bytes and time stamps of what does not. */
class Publisher {
  written = 0;
  unchanged = 0;
  readonly kept = new Set<string>();
  readonly #out: string;
  readonly #folders = new Set<string>();

  readonly #verify: boolean;

  constructor(out: string, verify: boolean) {
    this.#out = out;
    this.#verify = verify;
  }

  publish(from: string, to: string): void {
    this.kept.add(to);
    // First, so that nothing is looked up through a link, or below what is a file still.
    this.#ensureFolder(path.dirname(to));
    const target = path.join(this.#out, to);
    const staged = lstatSync(from);
    // In whole milliseconds, since a file system may keep fewer digits than another.
    const time = new Date(Math.floor(staged.mtimeMs));
    const present = lstatSync(target, { throwIfNoEntry: false });
    if (present?.isFile() && present.size === staged.size) {
      const sameTime = Math.floor(present.mtimeMs) === time.getTime();
      if ((sameTime && !this.#verify) || readFileSync(from).equals(readFileSync(target))) {
        if (!sameTime) markSame(from, present);
        this.unchanged++;
        return;
      }
    }
    if (present?.isDirectory()) rmSync(target, { recursive: true });
    const next = temporary(target);
    rmSync(next, { force: true });
    copyFileSync(from, next, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    utimesSync(next, time, time);
    renameSync(next, target);
    this.written++;
  }

  /** Makes a folder and those above it. A file or symbolic link in its place is not followed but removed. */
  #ensureFolder(folder: string): void {
    if (folder === '.' || this.#folders.has(folder)) return;
    this.#ensureFolder(path.dirname(folder));
    const target = path.join(this.#out, folder);
    const present = lstatSync(target, { throwIfNoEntry: false });
    if (present !== undefined && !present.isDirectory()) unlinkSync(target);
    if (!present?.isDirectory()) mkdirSync(target);
    this.#folders.add(folder);
  }
}

// Removes the files below a folder that are not kept, and the folders that this leaves empty. Returns how many files.
const prune = (out: string, folder: string, kept: ReadonlySet<string>): number => {
  let removed = 0;
  const entries = readdirSync(path.join(out, folder), { withFileTypes: true });
  let left = entries.length;
  for (const entry of entries) {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      removed += prune(out, name, kept);
      if (!existsSync(path.join(out, name))) left--;
    } else if (!kept.has(name)) {
      unlinkSync(path.join(out, name));
      removed++;
      left--;
    }
  }
  if (left === 0) rmdirSync(path.join(out, folder));
  return removed;
};

// Where people and programs begin: everything else is found from there.
const entrances = new Set(['index.html', 'sitemap.xml', 'feed.atom', 'feed.json', 'pagefind/pagefind-entry.json']);
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
    writeFileSync(`${this.#file}.next`, text);
    renameSync(`${this.#file}.next`, this.#file);
  }
}

const listFiles = (staged: readonly Staged[]): PlacedFile[] =>
  staged.flatMap(({ folder, prefix }) =>
    [...walk(folder)].map((name) => ({
      from: path.join(folder, name),
      to: prefix === '' ? name : `${prefix}/${name}`,
    })),
  );

interface PlacedFile {
  readonly from: string;
  readonly to: string;
}

/** How to publish; see `publishFolders`. */
export interface PublishOptions {
  /** The file that keeps, from one publishing to the next, which files others may name. */
  readonly named: string;
  /** Whether to compare the bytes of files that have the same size and time. */
  readonly verify?: boolean;
  /** Called when everything new stands and before anything is removed, unless nothing is to be. */
  readonly beforeRemoval?: (() => Promise<void>) | undefined;
}

/**
 * Publishes built folders into the output folder. In the folders at its top that the site has a part in, files that
 * were not built any more are removed; everything else in the output folder is left alone.
 *
 * Whenever this ends, nothing that can be reached names a missing file: first comes what names nothing, then the pages
 * that are new, which name each other but are named by nobody yet, then the pages that change, and last the entrances.
 */
export const publishFolders = async (
  out: string,
  staged: readonly Staged[],
  { named: namedFile, verify = false, beforeRemoval = async () => {} }: PublishOptions,
): Promise<Published> => {
  mkdirSync(out, { recursive: true });
  for (const name of readdirSync(out)) if (isTemporary(name)) rmSync(path.join(out, name), { recursive: true });
  const files = listFiles(staged);
  const present = (name: string) => existsSync(path.join(out, name));
  const named = new NamedFiles(namedFile);
  const known = named.read() ?? new Set(present('index.html') ? files.map(({ to }) => to).filter(present) : []);
  const turnOf = ({ to }: PlacedFile): 'first' | 'new' | 'changed' | 'last' => {
    if (entrances.has(to)) return 'last';
    if (!naming.test(to)) return 'first';
    return known.has(to) && present(to) ? 'changed' : 'new';
  };
  const turns = Map.groupBy(files, turnOf);
  const publisher = new Publisher(out, verify);
  const publishAll = (turn: 'first' | 'new' | 'changed' | 'last') => {
    for (const { from, to } of turns.get(turn) ?? []) publisher.publish(from, to);
  };
  publishAll('first');
  publishAll('new');
  const names = files.map(({ to }) => to).filter((name) => naming.test(name));
  if (turns.has('new')) named.write(new Set([...known, ...names]));
  publishAll('changed');
  publishAll('last');

  const tops = new Set(files.filter(({ to }) => to.includes('/')).map(({ to }) => to.slice(0, to.indexOf('/'))));
  const hasVanished = [...tops].some((top) => [...walk(out, top)].some((name) => !publisher.kept.has(name)));
  let removed = 0;
  if (hasVanished) await beforeRemoval();
  named.write(names);
  if (hasVanished) for (const top of tops) removed += prune(out, top, publisher.kept);
  return { written: publisher.written, unchanged: publisher.unchanged, removed };
};
