import type { CredentialStore } from '../../gateway/on-workers.ts';

/**
 * How long a sweep lasts at most, in milliseconds: half of the interval between two. The rest waits for the next one.
 */
const longestSweep = 300_000;

/** Deletes what has expired from a store, portion by portion. */
export const sweep = async (store: Pick<CredentialStore, 'sweep'>): Promise<void> => {
  const end = Date.now() + longestSweep;
  while ((await store.sweep()).more && Date.now() < end);
};
