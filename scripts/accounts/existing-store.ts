import { existsSync } from 'node:fs';
import type { StoreLocation } from '../../functions/gateway/on-node.ts';

/** Where a command would open a store that is not there; the message says what to do. */
export class NoStore extends Error {
  override name = 'NoStore';
}

/** Throws NoStore where no state folder is at `state`, which opening a store in it would make. */
export const assertStateFolder = (location: StoreLocation, state: string): void => {
  if (location.kind !== 'sqlite' || existsSync(state)) return;
  throw new NoStore(`There is no state folder ${state}: build first, or name another --state.`);
};

/** Throws NoStore where no store is at a location, which opening it would make. A database is asked whether it is there. */
export const assertStoreExists = (location: StoreLocation, state: string): void => {
  assertStateFolder(location, state);
  if (location.kind !== 'sqlite' || existsSync(location.file)) return;
  throw new NoStore(
    `There are no accounts in ${state}, which has no gateway.sqlite: name another --state, or add the first account with npm run accounts -- add NAME.`,
  );
};
