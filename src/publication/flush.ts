import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { flushFile } from '../disk/flush-file.ts';

const run = promisify(execFile);

// Flushing the whole file system takes as long as flushing some dozen files (measured on ext4).
const fewFiles = 64;

/** The paths of files to be flushed. They are iterated more than once. */
interface FlushedFiles extends Iterable<string> {
  readonly size: number;
}

/** The folders of these files, and all folders above them up to `root`, because each contains the name of the next. */
const listFolders = (root: string, files: Iterable<string>): Set<string> => {
  const folders = new Set([root]);
  for (const file of files) {
    for (let folder = path.dirname(file); !folders.has(folder); folder = path.dirname(folder)) folders.add(folder);
  }
  return folders;
};

/** One folder on each of the file systems involved. `root` is the first. */
const listFileSystems = (folders: ReadonlySet<string>): string[] => {
  const known = new Map<number, string>();
  for (const folder of folders) {
    const { dev } = statSync(folder);
    if (!known.has(dev)) known.set(dev, folder);
  }
  return [...known.values()];
};

/**
 * Resolves when these files below the folder `root`, and their names, are on disk, so that what is written afterwards
 * may refer to them.
 */
export const flushFiles = async (root: string, files: FlushedFiles): Promise<void> => {
  const folders = listFolders(root, files);
  if (files.size > fewFiles) {
    try {
      await run('sync', ['-f', ...listFileSystems(folders)]);
      return;
    } catch {
      // Not every system has this command; then file by file.
    }
  }
  for (const file of files) flushFile(file);
  for (const folder of folders) flushFile(folder);
};
