import { createNodeCryptography } from '../node/node-cryptography.ts';
import { createStore } from '../store/create-store.ts';
import type { CredentialStore } from '../store/credential-store.ts';
import { operateOn, remoteStore } from './remote-store.ts';

/** Whether this isolate has brought the tables up to date. */
let isMigrated = false;

const connect = async (url: string) => {
  const [{ connectHyperdrive }, { createOperations }] = await Promise.all([
    import('./hyperdrive-connection.ts'),
    import('../store/store-operations.ts'),
  ]);
  const connection = await connectHyperdrive(url, isMigrated);
  isMigrated = true;
  return { ...connection, operations: createOperations(createNodeCryptography()) };
};

/**
 * The credential store in a PostgreSQL database that a configuration of Hyperdrive leads to. Each operation has a
 * connection of its own, since a Worker may use none that another request has opened; to Hyperdrive that costs little.
 * `finish` is handed what goes on after the answer.
 */
export const openHyperdriveStore = (url: () => string, finish: (work: Promise<unknown>) => void): CredentialStore =>
  remoteStore(
    () => ({
      operate: async (name, parameters) => {
        const store = createStore(() => connect(url()));
        try {
          return await operateOn(store, name, parameters);
        } finally {
          finish(store.close().catch(() => {}));
        }
      },
    }),
    finish,
  );
