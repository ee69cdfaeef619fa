import { execFile } from 'node:child_process';
import { closeSync, fsyncSync, openSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

// One flush of the whole file system takes as long as those of some dozen files (measured on ext4).
const fewFiles = 64;

const flushOne = (file: string): void => {
  const descriptor = openSync(file, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
};

/**
 * Resolves when these files and their names are on the disk, so that what is written afterwards may say that they are
 * there. `folder` is on the same file system as all of them.
 */
export const flushFiles = async (folder: string, files: readonly string[]): Promise<void> => {
  if (files.length > fewFiles) {
    try {
      await run('sync', ['-f', folder]);
      return;
    } catch {
      // Not every system has such a command; then file by file.
    }
  }
  for (const file of files) flushOne(file);
  for (const directory of new Set(files.map((file) => path.dirname(file)))) flushOne(directory);
};
