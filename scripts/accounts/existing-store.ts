import type { StoreLocation } from '../../functions/gateway/on-node.ts';
import { findEntry } from '../../src/disk/find-entry.ts';
import { describeRefusal } from '../options.ts';

/** The store does not exist, and opening it would make it, or nobody can tell. The message says what to do. */
export class NoStore extends Error {
  override name = 'NoStore';
}

const isThere = (file: string): boolean => {
  try {
    return findEntry(file) !== undefined;
  } catch (error) {
    throw new NoStore(describeRefusal(error as Error));
  }
};

/**
 * Throws NoStore if there is no state folder at `state`, because opening a store in it would make it, or if this user
 * may not look for one.
 */
export const assertStateFolder = (location: StoreLocation, state: string): void => {
  if (location.kind !== 'sqlite' || isThere(state)) return;
  throw new NoStore(`There is no state folder ${state}: build first, or name another --state.`);
};

/** The same for a store at a location. A database is asked. */
export const assertStoreExists = (location: StoreLocation, state: string): void => {
  assertStateFolder(location, state);
  if (location.kind !== 'sqlite' || isThere(location.file)) return;
  throw new NoStore(
    `There are no accounts in ${state}, which has no gateway.sqlite: name another --state, or add the first account with npm run accounts -- add NAME.`,
  );
};
