import { readFileSync } from 'node:fs';

/** The text of a file; undefined if it does not exist, or cannot be read. */
export const readText = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
};
