import { isWithin } from '../src/publication/folder-paths.ts';
import { UsageError } from './options.ts';

/**
 * Checks that a state folder, which holds accounts and counters, is not among what is published.
 *
 * @throws UsageError where it is
 */
export const assertApart = ({ state, out }: { readonly state: string; readonly out: string }): void => {
  if (!isWithin(state, out)) return;
  throw new UsageError(
    `--state ${state} is --out ${out} or lies in it, whose files are for everybody, and holds accounts and counters: name folders beside each other.`,
  );
};
