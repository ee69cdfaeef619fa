import { readdirSync, statSync } from 'node:fs';

/**
 * The names in a folder but for what systems and versioning put into every folder, which is nobody's content. None where
 * there is no folder.
 *
 * @throws Error where something else has its name, or it cannot be read
 */
export const readContent = (folder: string): string[] => {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isDirectory()) throw new Error(`${folder} is no folder: name one, or a name that is free`);
  return readdirSync(folder).filter((name) => !name.startsWith('.') && name !== 'lost+found');
};
