import { existsSync } from 'node:fs';
import type { StoreLocation } from '../../functions/gateway/on-node.ts';

/** The store does not exist, and opening it would make it. The message says what to do. */
export class NoStore extends Error {
  override name = 'NoStore';
}

/** Throws NoStore if there is no state folder at `state`, because opening a store in it would make it. */
export const assertStateFolder = (location: StoreLocation, state: string): void => {
  if (location.kind !== 'sqlite' || existsSync(state)) return;
  throw new NoStore(`There is no state folder ${state}: build first, or name another --state.`);
};

/** Throws NoStore if there is no store at a location, because opening it would make it. A database is asked. */
export const assertStoreExists = (location: StoreLocation, state: string): void => {
  assertStateFolder(location, state);
  if (location.kind !== 'sqlite' || existsSync(location.file)) return;
  throw new NoStore(
    `There are no accounts in ${state}, which has no gateway.sqlite: name another --state, or add the first account with npm run accounts -- add NAME.`,
  );
};
