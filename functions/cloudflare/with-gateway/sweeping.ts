import type { CredentialStore } from '../../gateway/on-workers.ts';

/** How long a sweep goes on, in milliseconds: half of what lies between two. What is left waits for the next. */
const longestSweep = 300_000;

/** Deletes what is over from a store, portion by portion. */
export const sweep = async (store: Pick<CredentialStore, 'sweep'>): Promise<void> => {
  const end = Date.now() + longestSweep;
  while ((await store.sweep()).more && Date.now() < end);
};
