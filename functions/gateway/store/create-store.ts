import { type CredentialStore, StoreUnavailable } from './credential-store.ts';
import { beginWait, boundBy, type Databases, untilUnlocked, withCode } from './databases.ts';
import type { Connection } from './open-connection.ts';
import { everyOperation, type StoreOperation } from './operation-names.ts';
import type { Operations } from './store-operations.ts';

/** A store that is open, and what it does. */
export interface Opened extends Connection {
  readonly operations: Operations;
}

/** Operations of one process that may wait at a time; more find the store unavailable at once. */
const mostWaiting = 4_096;

/**
 * A credential store. It opens, and brings its tables up to date, at the first operation, and tries again at the next one
 * where that failed: a database that is away at start does not keep the rest of the server down. An operation that cannot
 * be done within five seconds, whatever it waits for, is not done.
 */
export const createStore = (open: () => Promise<Opened>): CredentialStore => {
  let opened: Promise<Opened> | undefined;
  let current: Opened | undefined;
  let waiting = 0;
  const connection = () => {
    opened ??= open().then(
      (connected) => {
        current = connected;
        return connected;
      },
      (error) => {
        opened = undefined;
        throw error;
      },
    );
    return opened;
  };
  const run =
    (client: AbortSignal | undefined, name: StoreOperation) =>
    async (...parameters: unknown[]): Promise<unknown> => {
      if (waiting >= mostWaiting) throw new StoreUnavailable(new Error('too many operations wait'));
      waiting++;
      const wait = beginWait(client);
      const attempt = async () => {
        const { during, bound, operations } = current ?? (await boundBy(wait, connection()));
        const operation = operations[name] as (databases: Databases, ...given: unknown[]) => Promise<unknown>;
        return bound(wait, operation(during(wait), ...parameters));
      };
      try {
        return await untilUnlocked(wait, attempt);
      } catch (error) {
        throw new StoreUnavailable(withCode(error));
      } finally {
        wait.end();
        waiting--;
      }
    };
  const storeFor = (client?: AbortSignal): CredentialStore => ({
    whileWanted: storeFor,
    ...everyOperation((name) => run(client, name)),
    close: async () => {
      const last = await opened?.catch(() => undefined);
      opened = Promise.reject(new Error('the credential store is closed'));
      opened.catch(() => {});
      current = undefined;
      await last?.close();
    },
  });
  return storeFor();
};
