import { accessSync, constants } from 'node:fs';

/**
 * Sentences on those of these files that stand and that this process may not read and write, as where another user made
 * them: what needs them fails later, with words that name no file.
 */
export const describeUnusable = (files: readonly string[], access = accessSync): string[] =>
  files.flatMap((file) => {
    try {
      access(file, constants.R_OK | constants.W_OK);
      return [];
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // It is made when it is needed.
      if (code === 'ENOENT') return [];
      return [
        `This server may not read and write ${file} (${code}), so nobody can sign in: give it to the user that the server runs as (chown).`,
      ];
    }
  });
