import type { Cryptography } from './cryptography.ts';
import { migrate } from './migrations.ts';
import { openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite.ts';
import { type CredentialStore, StoreUnavailable } from './store.ts';
import type { Databases } from './store-accounts.ts';
import * as accounts from './store-accounts.ts';
import * as browsers from './store-browsers.ts';
import * as credentials from './store-credentials.ts';
import { createRefresh, createRevoke } from './store-credentials.ts';
import { probe, sweep } from './store-upkeep.ts';

/** Where credentials are kept: a SQLite file, or a PostgreSQL database and the most connections to it. */
export type StoreLocation =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly pool: number };

/**
 * The credential store at a location. It opens, and brings its tables up to date, at the first operation, and tries
 * again at the next one where that failed: a database that is away at start does not keep the rest of the server down.
 */
export const openCredentialStore = (location: StoreLocation, cryptography: Cryptography): CredentialStore => {
  let opened: Promise<Databases> | undefined;
  const databases = () => {
    opened ??= open(location).catch((error) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  const run =
    <Parameters extends unknown[], Result>(
      operation: (databases: Databases, ...parameters: Parameters) => Promise<Result>,
    ) =>
    async (...parameters: Parameters): Promise<Result> => {
      try {
        return await operation(await databases(), ...parameters);
      } catch (error) {
        throw new StoreUnavailable(error);
      }
    };
  return {
    addAccount: run(accounts.addAccount),
    findAccount: run(accounts.findAccount),
    findOrAddFederated: run(accounts.findOrAddFederated),
    hasAccounts: run(accounts.hasAccounts),
    listAccounts: run(accounts.listAccounts),
    setPassword: run(accounts.setPassword),
    setDisabled: run(accounts.setDisabled),
    removeAccount: run(accounts.removeAccount),
    signOutAccount: run(accounts.signOutAccount),
    addSignInRequest: run(credentials.addSignInRequest),
    findSignInRequest: run(credentials.findSignInRequest),
    completeSignIn: run(credentials.completeSignIn),
    findToken: run(credentials.findToken),
    refresh: run(createRefresh(cryptography)),
    revoke: run(createRevoke(cryptography)),
    touchFamily: run(credentials.touchFamily),
    listDevices: run(credentials.listDevices),
    revokeFamily: run(credentials.revokeFamily),
    addBrowser: run(browsers.addBrowser),
    findBrowser: run(browsers.findBrowser),
    removeBrowser: run(browsers.removeBrowser),
    countAttempts: run(browsers.countAttempts),
    returnAttempts: run(browsers.returnAttempts),
    sweep: run(sweep),
    health: async () => {
      try {
        await probe(await databases(), Date.now());
        return true;
      } catch {
        return false;
      }
    },
    close: async () => {
      const { read, write } = (await opened) ?? {};
      opened = Promise.reject(new Error('the credential store is closed'));
      opened.catch(() => {});
      await write?.destroy();
      if (read !== write) await read?.destroy();
    },
  };
};

const open = async (location: StoreLocation): Promise<Databases> => {
  const databases = await connect(location);
  try {
    await migrate(databases.write, location.kind);
    return databases;
  } catch (error) {
    await databases.write.destroy();
    if (databases.read !== databases.write) await databases.read.destroy();
    throw error;
  }
};

const connect = async (location: StoreLocation): Promise<Databases> => {
  if (location.kind === 'sqlite') return openSqlite(location.file);
  const database = openPostgres(location.url, location.pool);
  return { read: database, write: database };
};
