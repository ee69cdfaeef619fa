import { statSync } from 'node:fs';
import { isWithin } from '../src/publication/folder-paths.ts';
import { UsageError } from './options.ts';

const isOther = (folder: string): boolean => statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false;

/**
 * Checks that a state and an output folder are folders where they are there already, and that the state, which holds
 * accounts and counters, is not among what is published.
 *
 * @throws UsageError where that is not so
 */
export const assertApart = ({ state, out }: { readonly state: string; readonly out: string }): void => {
  for (const [flag, folder] of Object.entries({ state, out })) {
    if (isOther(folder)) throw new UsageError(`--${flag} ${folder} is no folder: name one, or a name that is free.`);
  }
  if (!isWithin(state, out)) return;
  throw new UsageError(
    `--state ${state} is --out ${out} or lies in it, whose files are for everybody, and holds accounts and counters: name folders beside each other.`,
  );
};
