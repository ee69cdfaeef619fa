import { accessSync, constants } from 'node:fs';

/** A file that a server reads and writes, and the consequence if it cannot. */
interface NeededFile {
  readonly file: string;
  readonly otherwise: string;
}

/**
 * Sentences about those files that exist but cannot be read and written by this process, for example because another
 * user made them. Otherwise whatever needs them would fail later, with an error that names no file.
 */
export const describeUnusable = (files: readonly NeededFile[], access = accessSync): string[] =>
  files.flatMap(({ file, otherwise }) => {
    try {
      access(file, constants.R_OK | constants.W_OK);
      return [];
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // A missing file is made when it is needed.
      if (code === 'ENOENT') return [];
      const advice = code === 'EACCES' ? ': give it to the user that the server runs as (chown)' : '';
      return [`This server cannot read and write ${file} (${code}), so ${otherwise}${advice}.`];
    }
  });
