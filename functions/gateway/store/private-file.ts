import { closeSync, fchownSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a file that is missing, for its owner alone. What root makes belongs to whoever has the folder: the first account
 * is easily added as root, and the server, which is another user, would be kept out of the store from then on. Throws what
 * the file system does, also where a file that is there cannot be written.
 */
export const makePrivateFile = (file: string): void => {
  const made = openNew(file);
  const handle = made ?? openSync(file, 'a', 0o600);
  try {
    const folder = statSync(dirname(file));
    if (made !== undefined && process.getuid?.() === 0) fchownSync(made, folder.uid, folder.gid);
  } finally {
    closeSync(handle);
  }
};

// Whoever has the folder must not be given what a link of theirs leads to.
const openNew = (file: string): number | undefined => {
  try {
    return openSync(file, 'ax', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  }
};
