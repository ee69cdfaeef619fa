import type { Cryptography } from '../cryptography.ts';
import { createStore } from './create-store.ts';
import type { CredentialStore, StoreLocation } from './credential-store.ts';
import type { RequestBounds } from './sign-in-requests.ts';

/**
 * The credential store at a location; see createStore. `clock` stands in for the store's own, and `requestBounds` for
 * the usual bounds of sign-in requests, for tests.
 */
export const openCredentialStore = (
  location: StoreLocation,
  cryptography: Cryptography,
  {
    clock,
    requestBounds,
  }: { readonly clock?: (() => number) | undefined; readonly requestBounds?: RequestBounds } = {},
): CredentialStore =>
  createStore(
    // What databases need is loaded with the first question: many servers are never asked one.
    async () => {
      const [{ connect }, { createOperations }] = await Promise.all([
        import('./connection.ts'),
        import('./store-operations.ts'),
      ]);
      return { ...(await connect(location, clock)), operations: createOperations(cryptography, requestBounds) };
    },
  );
