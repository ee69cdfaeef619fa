import type { Cryptography } from '../cryptography.ts';
import * as accounts from './accounts.ts';
import * as browsers from './browsers.ts';
import { type Connection, connect } from './connection.ts';
import { type CredentialStore, type StoreLocation, StoreUnavailable } from './credential-store.ts';
import * as credentials from './credentials.ts';
import { createRefresh, createRevoke } from './credentials.ts';
import { beginWait, boundBy, type Databases, untilUnlocked } from './databases.ts';
import { findOrAddKey } from './keys.ts';
import { createAddSignInRequest, type RequestBounds, usualBounds } from './sign-in-requests.ts';
import { probe, sweep } from './upkeep.ts';

/** Operations of one process that may wait at a time; more find the store unavailable at once. */
const mostWaiting = 4_096;

/**
 * The credential store at a location. It opens, and brings its tables up to date, at the first operation, and tries
 * again at the next one where that failed: a database that is away at start does not keep the rest of the server down.
 * An operation that cannot be done within five seconds, whatever it waits for, is not done. `clock` stands in for the
 * store's own, and `requestBounds` for the usual bounds of sign-in requests, for tests.
 */
export const openCredentialStore = (
  location: StoreLocation,
  cryptography: Cryptography,
  {
    clock,
    requestBounds = usualBounds,
  }: { readonly clock?: (() => number) | undefined; readonly requestBounds?: RequestBounds } = {},
): CredentialStore => {
  let opened: Promise<Connection> | undefined;
  let current: Connection | undefined;
  let waiting = 0;
  const connection = () => {
    opened ??= connect(location, clock).then(
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
      operation: (databases: Databases, ...parameters: Parameters) => Promise<Result>,
    ) =>
    async (...parameters: Parameters): Promise<Result> => {
      if (waiting >= mostWaiting) throw new StoreUnavailable(new Error('too many operations wait'));
      waiting++;
      const wait = beginWait(client);
      const attempt = async () => {
        const { during, bound } = current ?? (await boundBy(wait, connection()));
        return bound(wait, operation(during(wait), ...parameters));
      };
      try {
        return await untilUnlocked(wait, attempt);
      } catch (error) {
        throw new StoreUnavailable(error);
      } finally {
        wait.end();
        waiting--;
      }
    };
  const addSignInRequest = createAddSignInRequest(requestBounds);
  const refresh = createRefresh(cryptography);
  const revoke = createRevoke(cryptography);
  const storeFor = (client?: AbortSignal): CredentialStore => ({
    whileWanted: storeFor,
    addAccount: run(client, accounts.addAccount),
    findAccount: run(client, accounts.findAccount),
    findOrAddFederated: run(client, accounts.findOrAddFederated),
    hasAccounts: run(client, accounts.hasAccounts),
    listAccounts: run(client, accounts.listAccounts),
    setPassword: run(client, accounts.setPassword),
    setDisabled: run(client, accounts.setDisabled),
    removeAccount: run(client, accounts.removeAccount),
    signOutAccount: run(client, accounts.signOutAccount),
    signOutEverybody: run(client, accounts.signOutEverybody),
    addSignInRequest: run(client, addSignInRequest),
    findSignInRequest: run(client, credentials.findSignInRequest),
    completeSignIn: run(client, credentials.completeSignIn),
    findToken: run(client, credentials.findToken),
    refresh: run(client, refresh),
    revoke: run(client, revoke),
    touchFamily: run(client, credentials.touchFamily),
    listDevices: run(client, credentials.listDevices),
    revokeFamily: run(client, credentials.revokeFamily),
    addBrowser: run(client, browsers.addBrowser),
    findBrowser: run(client, browsers.findBrowser),
    removeBrowser: run(client, browsers.removeBrowser),
    countAttempts: run(client, browsers.countAttempts),
    returnAttempts: run(client, browsers.returnAttempts),
    findOrAddKey: run(client, findOrAddKey),
    sweep: run(client, sweep),
    health: () =>
      run(client, probe)().then(
        () => true,
        () => false,
      ),
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
