import { type CredentialStore, StoreUnavailable } from './credential-store.ts';
import { beginWait, boundBy, type Databases, untilUnlocked, withCode } from './databases.ts';
import type { Connection } from './open-connection.ts';
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
    <Parameters extends unknown[], Result>(
      client: AbortSignal | undefined,
      choose: (operations: Operations) => (databases: Databases, ...parameters: Parameters) => Promise<Result>,
    ) =>
    async (...parameters: Parameters): Promise<Result> => {
      if (waiting >= mostWaiting) throw new StoreUnavailable(new Error('too many operations wait'));
      waiting++;
      const wait = beginWait(client);
      const attempt = async () => {
        const { during, bound, operations } = current ?? (await boundBy(wait, connection()));
        return bound(wait, choose(operations)(during(wait), ...parameters));
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
    addAccount: run(client, (all) => all.addAccount),
    findAccount: run(client, (all) => all.findAccount),
    findOrAddFederated: run(client, (all) => all.findOrAddFederated),
    hasAccounts: run(client, (all) => all.hasAccounts),
    listAccounts: run(client, (all) => all.listAccounts),
    setPassword: run(client, (all) => all.setPassword),
    setDisabled: run(client, (all) => all.setDisabled),
    removeAccount: run(client, (all) => all.removeAccount),
    signOutAccount: run(client, (all) => all.signOutAccount),
    signOutEverybody: run(client, (all) => all.signOutEverybody),
    addSignInRequest: run(client, (all) => all.addSignInRequest),
    findSignInRequest: run(client, (all) => all.findSignInRequest),
    completeSignIn: run(client, (all) => all.completeSignIn),
    findToken: run(client, (all) => all.findToken),
    refresh: run(client, (all) => all.refresh),
    revoke: run(client, (all) => all.revoke),
    touchFamily: run(client, (all) => all.touchFamily),
    listDevices: run(client, (all) => all.listDevices),
    revokeFamily: run(client, (all) => all.revokeFamily),
    addBrowser: run(client, (all) => all.addBrowser),
    findBrowser: run(client, (all) => all.findBrowser),
    removeBrowser: run(client, (all) => all.removeBrowser),
    countAttempts: run(client, (all) => all.countAttempts),
    returnAttempts: run(client, (all) => all.returnAttempts),
    findOrAddKey: run(client, (all) => all.findOrAddKey),
    sweep: run(client, (all) => all.sweep),
    probe: run(client, (all) => all.probe),
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
