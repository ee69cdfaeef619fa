import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';

const hour = 3_600_000;
// Linux notes once a day that a file is read.
const rest = 48 * hour;

/**
 * Removes the files of a cache that nobody has read for two days, and those that nobody has read in the first hour.
 * On a file system that does not note when files are read these are all that were written an hour ago.
 */
export const removeUnused = (cache: string, now: Date): void => {
  if (!existsSync(cache)) return;
  for (const name of readdirSync(cache, { recursive: true, encoding: 'utf8' })) {
    const file = path.join(cache, name);
    // Another run may remove the same.
    const found = lstatSync(file, { throwIfNoEntry: false });
    if (!found?.isFile()) continue;
    const wasRead = found.atimeMs > found.mtimeMs;
    if (wasRead ? now.getTime() - found.atimeMs > rest : now.getTime() - found.mtimeMs > hour)
      rmSync(file, { force: true });
  }
};
