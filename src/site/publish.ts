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
  unlinkSync,
  utimesSync,
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
  /** Which of its files to publish; the others are removed from it. All of them where this is left out. */
  readonly wanted?: (name: string) => boolean;
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

/** Copies what differs, whole files only, and keeps bytes and time stamps of what does not. */
class Publisher {
  written = 0;
  unchanged = 0;
  readonly kept = new Set<string>();
  readonly #out: string;
  readonly #folders = new Set<string>();

  constructor(out: string) {
    this.#out = out;
  }

  publish(from: string, to: string): void {
    this.kept.add(to);
    const target = path.join(this.#out, to);
    const staged = lstatSync(from);
    // In whole milliseconds, since a file system may keep fewer digits than another.
    const time = new Date(Math.floor(staged.mtimeMs));
    const present = lstatSync(target, { throwIfNoEntry: false });
    if (present?.isFile() && present.size === staged.size) {
      const sameTime = Math.floor(present.mtimeMs) === time.getTime();
      if (sameTime || readFileSync(from).equals(readFileSync(target))) {
        // The next run need not compare their bytes again.
        if (!sameTime) utimesSync(from, present.atime, present.mtime);
        this.unchanged++;
        return;
      }
    }
    this.#ensureFolder(path.dirname(to));
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

// Pages come after what they refer to, and the entry of the search index after its parts.
const rank = (name: string): number => {
  if (name.endsWith('pagefind-entry.json')) return 2;
  return name.endsWith('.html') ? 1 : 0;
};

/**
 * Publishes built folders into the output folder. In the folders at its top that the site has a part in, files that
 * were not built any more are removed; everything else in the output folder is left alone.
 */
export const publishFolders = (out: string, staged: readonly Staged[]): Published => {
  mkdirSync(out, { recursive: true });
  for (const name of readdirSync(out)) if (isTemporary(name)) rmSync(path.join(out, name), { recursive: true });
  const publisher = new Publisher(out);
  const files = staged.flatMap(({ folder, prefix, wanted = () => true }) => {
    const names = [...walk(folder)];
    for (const name of names) if (!wanted(name)) unlinkSync(path.join(folder, name));
    return names
      .filter(wanted)
      .map((name) => ({ from: path.join(folder, name), to: prefix === '' ? name : `${prefix}/${name}` }));
  });
  files.sort((a, b) => rank(a.to) - rank(b.to));
  for (const { from, to } of files) publisher.publish(from, to);
  const tops = new Set(files.filter(({ to }) => to.includes('/')).map(({ to }) => to.slice(0, to.indexOf('/'))));
  let removed = 0;
  for (const top of tops) removed += prune(out, top, publisher.kept);
  return { written: publisher.written, unchanged: publisher.unchanged, removed };
};
