import { readdirSync, statSync } from 'node:fs';

/** A name that is to be a folder and is something else, as a sentence that says what to do. */
export class NoFolder extends Error {
  override readonly name = 'NoFolder';
}

/**
 * The names in a folder but for what systems and versioning put into every folder, which is nobody's content. None where
 * there is no folder.
 *
 * @throws NoFolder where something else has its name; an Error where it cannot be read
 */
export const readContent = (folder: string): string[] => {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isDirectory()) throw new NoFolder(`${folder} is no folder: name one, or a name that is free.`);
  return readdirSync(folder).filter((name) => !name.startsWith('.') && name !== 'lost+found');
};
