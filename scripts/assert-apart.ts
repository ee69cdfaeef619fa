import { findEntry } from '../src/disk/find-entry.ts';
import { isWithin } from '../src/publication/folder-paths.ts';
import { UsageError } from './options.ts';

/**
 * Checks that an existing state folder is a folder, and that it is not inside what is published, because it holds
 * accounts and counters.
 *
 * @throws UsageError if it is no folder, or is the output folder or inside it
 */
export const assertApart = ({ state, out }: { readonly state: string; readonly out: string }): void => {
  // An output folder that is no folder is noticed by the build, which fails and notifies the operator.
  if (findEntry(state)?.isDirectory() === false)
    throw new UsageError(`--state ${state} is no folder: name one, or a name that is free.`);
  if (!isWithin(state, out)) return;
  throw new UsageError(
    `--state ${state} is --out ${out} or lies in it, whose files are for everybody, and holds accounts and counters: name folders beside each other.`,
  );
};
