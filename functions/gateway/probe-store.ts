import { describeSilently } from './silent-cause.ts';
import type { CredentialStore } from './store/credential-store.ts';

/**
 * Resolves to true where the store reads and durably writes at this moment. Throws an Error that says why it does not, in
 * names and codes alone.
 */
export const probeStore = async (store: CredentialStore): Promise<true> => {
  try {
    await store.probe();
    return true;
  } catch (error) {
    throw new Error(describeSilently(error));
  }
};
