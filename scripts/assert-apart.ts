import { statSync } from 'node:fs';
import { isWithin } from '../src/publication/folder-paths.ts';
import { UsageError } from './options.ts';

/**
 * Checks that a state folder is one where it is there already, and that it, which holds accounts and counters, is not
 * among what is published.
 *
 * @throws UsageError where that is not so
 */
export const assertApart = ({ state, out }: { readonly state: string; readonly out: string }): void => {
  // Where it is the output folder a build fails, and tells those who wait for it: it could be made before.
  if (statSync(state, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new UsageError(`--state ${state} is no folder: name one, or a name that is free.`);
  if (!isWithin(state, out)) return;
  throw new UsageError(
    `--state ${state} is --out ${out} or lies in it, whose files are for everybody, and holds accounts and counters: name folders beside each other.`,
  );
};
