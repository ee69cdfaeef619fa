import { isSafePath } from '../publication/published-inventory.ts';
import { SourceError } from './source.ts';

/** The publication went on while it was read: what was read is of more than one generation. */
export class Superseded extends Error {}

/** Throws a SourceError where a path, which a stranger wrote, leads out of the folder (C9). */
export const assertSafe = (file: string): void => {
  if (!isSafePath(file))
    throw new SourceError(
      'damaged',
      `The publication names a file ${JSON.stringify(file)}, which no Debdex writes: nothing was taken.`,
    );
};
