import type { Cryptography } from '../cryptography.ts';
import * as accounts from './accounts.ts';
import * as browsers from './browsers.ts';
import * as credentials from './credentials.ts';
import { createRefresh, createRevoke } from './credentials.ts';
import type { Operation } from './databases.ts';
import { findOrAddKey } from './keys.ts';
import type { StoreOperation } from './operation-names.ts';
import { createAddSignInRequest, type RequestBounds, usualBounds } from './sign-in-requests.ts';
import { probe, sweep } from './upkeep.ts';

// What the store does, and with it the query builder that all of it is written in. It is loaded when a store opens.

/** Every operation of a store, each still to be given its databases. */
export type Operations = {
  readonly [Name in StoreOperation]: Operation<Name>;
};

/** The operations of a store whose sign-in requests are bounded so. */
export const createOperations = (
  cryptography: Cryptography,
  requestBounds: RequestBounds = usualBounds,
): Operations => ({
  addAccount: accounts.addAccount,
  findAccount: accounts.findAccount,
  findOrAddFederated: accounts.findOrAddFederated,
  hasAccounts: accounts.hasAccounts,
  listAccounts: accounts.listAccounts,
  setPassword: accounts.setPassword,
  setDisabled: accounts.setDisabled,
  removeAccount: accounts.removeAccount,
  signOutAccount: accounts.signOutAccount,
  signOutEverybody: accounts.signOutEverybody,
  addSignInRequest: createAddSignInRequest(requestBounds),
  findSignInRequest: credentials.findSignInRequest,
  completeSignIn: credentials.completeSignIn,
  findToken: credentials.findToken,
  refresh: createRefresh(cryptography),
  revoke: createRevoke(cryptography),
  touchFamily: credentials.touchFamily,
  listDevices: credentials.listDevices,
  revokeFamily: credentials.revokeFamily,
  addBrowser: browsers.addBrowser,
  findBrowser: browsers.findBrowser,
  removeBrowser: browsers.removeBrowser,
  countAttempts: browsers.countAttempts,
  returnAttempts: browsers.returnAttempts,
  findOrAddKey,
  sweep,
  probe,
});
