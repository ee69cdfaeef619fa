import { createNodeCryptography } from '../node/node-cryptography.ts';
import { createStore } from '../store/create-store.ts';
import type { CredentialStore } from '../store/credential-store.ts';
import type { ObjectStorage } from './object-connection.ts';

/** The credential store of a Durable Object. `clock` stands in for the platform's, for tests. */
export const openObjectStore = (storage: ObjectStorage, clock?: () => number): CredentialStore =>
  // What databases need is loaded with the first question: a Worker has little time to start in.
  createStore(async () => {
    const [{ connectObject }, { createOperations }] = await Promise.all([
      import('./object-connection.ts'),
      import('../store/store-operations.ts'),
    ]);
    // The platform has Node's module of cryptography.
    return { ...(await connectObject(storage, clock)), operations: createOperations(createNodeCryptography()) };
  });
