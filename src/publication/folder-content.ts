import { readdirSync } from 'node:fs';
import { findEntry } from '../disk/find-entry.ts';

/** A path that should be a folder is something else. The message says what to do. */
export class NoFolder extends Error {
  override readonly name = 'NoFolder';
}

/**
 * The names in a folder, except those that systems and version control put into every folder. Empty if there is no
 * folder, as where a link leads nowhere or to itself.
 *
 * @throws NoFolder if something else has its name; an Error if it cannot be read
 */
export const readContent = (folder: string): string[] => {
  const found = findEntry(folder);
  if (found === undefined) return [];
  if (!found.isDirectory()) throw new NoFolder(`${folder} is no folder: name one, or a name that is free.`);
  return readdirSync(folder).filter((name) => !name.startsWith('.') && name !== 'lost+found');
};
