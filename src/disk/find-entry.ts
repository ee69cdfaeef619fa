import { type Stats, statSync } from 'node:fs';

/**
 * What is at a place, behind links too; undefined if nothing is, as where a link leads nowhere or to itself. Throws any
 * other error of the system.
 */
export const findEntry = (file: string): Stats | undefined => {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') return undefined;
    throw error;
  }
};
