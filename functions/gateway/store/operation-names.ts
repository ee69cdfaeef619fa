import type { CredentialStore } from './credential-store.ts';

/** What is asked of a store, also from afar: all but what is of one process. */
export type StoreOperation = Exclude<keyof CredentialStore, 'whileWanted' | 'close'>;

const operations: Readonly<Record<StoreOperation, true>> = {
  addAccount: true,
  findAccount: true,
  findOrAddFederated: true,
  hasAccounts: true,
  listAccounts: true,
  setPassword: true,
  setDisabled: true,
  removeAccount: true,
  signOutAccount: true,
  signOutEverybody: true,
  addSignInRequest: true,
  findSignInRequest: true,
  completeSignIn: true,
  findToken: true,
  refresh: true,
  revoke: true,
  touchFamily: true,
  listDevices: true,
  revokeFamily: true,
  addBrowser: true,
  findBrowser: true,
  removeBrowser: true,
  countAttempts: true,
  returnAttempts: true,
  findOrAddKey: true,
  sweep: true,
  probe: true,
};

export const isOperation = (name: string): name is StoreOperation => Object.hasOwn(operations, name);

/** Every operation of a store, each done by what its name leads to. */
export const everyOperation = (
  does: (name: StoreOperation) => (...parameters: unknown[]) => Promise<unknown>,
): Pick<CredentialStore, StoreOperation> =>
  Object.fromEntries(
    (Object.keys(operations) as StoreOperation[]).map((name) => [name, does(name)]),
  ) as unknown as Pick<CredentialStore, StoreOperation>;
