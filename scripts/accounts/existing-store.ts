import type { Stats } from 'node:fs';
import type { StoreLocation } from '../../functions/gateway/on-node.ts';
import { findEntry } from '../../src/disk/find-entry.ts';
import { describeRefusal } from '../options.ts';

/** The store does not exist, and opening it would make it, or nobody can tell. The message says what to do. */
export class NoStore extends Error {
  override name = 'NoStore';
}

const find = (file: string): Stats | undefined => {
  try {
    return findEntry(file);
  } catch (error) {
    throw new NoStore(describeRefusal(error as Error));
  }
};

/**
 * Throws NoStore if something else than a folder is at `state`, or than a file where the store in it would be, or if
 * this user may not look for them.
 */
export const assertPlaceOfStore = (location: StoreLocation, state: string): void => {
  if (location.kind !== 'sqlite') return;
  if (find(state)?.isDirectory() === false) throw new NoStore(`${state} is no folder: name another --state.`);
  if (find(location.file)?.isDirectory() === true)
    throw new NoStore(
      `${location.file} is a folder, where the accounts would be: move it away, or name another --state.`,
    );
};

/** The same, and if there is no state folder at `state`, because opening a store in it would make it. */
export const assertStateFolder = (location: StoreLocation, state: string): void => {
  assertPlaceOfStore(location, state);
  if (location.kind !== 'sqlite' || find(state) !== undefined) return;
  throw new NoStore(`There is no state folder ${state}: build first, or name another --state.`);
};

/** The same for a store at a location. A database is asked. */
export const assertStoreExists = (location: StoreLocation, state: string): void => {
  assertStateFolder(location, state);
  if (location.kind !== 'sqlite' || find(location.file) !== undefined) return;
  throw new NoStore(
    `There are no accounts in ${state}, which has no gateway.sqlite: name another --state, or add the first account with npm run accounts -- add NAME.`,
  );
};
