import { type Stats, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';

// In the form of an error of the system, the path last: it is left out where a reason is published.
const irregular = (file: string, found: Stats): Error => {
  const [code, what] = found.isDirectory() ? ['EISDIR', 'a folder'] : ['EINVAL', 'no regular file'];
  const message = `${code}: ${what} is in the place of the file ${path.basename(file)}, open '${file}'`;
  return Object.assign(new Error(message), { code, syscall: 'open', path: file });
};

/**
 * Throws, in the form of an error of the system, if there is anything but a file at this place: to open a pipe would wait
 * for ever for somebody who writes into it.
 */
export const assertRegular = (file: string): void => {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) throw irregular(file, found);
};

/**
 * Whether there is a file. Throws as `assertRegular` does, and any error of the system but that it is missing: below what
 * is no folder nothing is missing, because it cannot be put there.
 */
export const hasRegularFile = (file: string): boolean => {
  try {
    // With throwIfNoEntry, Node keeps ENOTDIR to itself too.
    const found = statSync(file);
    if (!found.isFile()) throw irregular(file, found);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
};

/** Reads a whole file. Throws as `assertRegular` does, and any error of the system. */
export const readRegularFile = async (file: string): Promise<Buffer> => {
  const found = await stat(file);
  if (!found.isFile()) throw irregular(file, found);
  return readFile(file);
};
