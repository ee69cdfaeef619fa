import { accessSync, constants } from 'node:fs';

/** A file that a server reads and writes, and what comes of it where that cannot be. */
interface NeededFile {
  readonly file: string;
  readonly otherwise: string;
}

/**
 * Sentences on those of these files that stand and that this process may not read and write, as where another user made
 * them: what needs them fails later, with words that name no file.
 */
export const describeUnusable = (files: readonly NeededFile[], access = accessSync): string[] =>
  files.flatMap(({ file, otherwise }) => {
    try {
      access(file, constants.R_OK | constants.W_OK);
      return [];
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // It is made when it is needed.
      if (code === 'ENOENT') return [];
      const advice = code === 'EACCES' ? ': give it to the user that the server runs as (chown)' : '';
      return [`This server cannot read and write ${file} (${code}), so ${otherwise}${advice}.`];
    }
  });
