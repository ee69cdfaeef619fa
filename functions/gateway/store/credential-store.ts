import type { CredentialSetState, RefreshDecision, RevokeDecision } from '../credential-states.ts';
import type { CredentialHashes } from '../cryptography.ts';

// What the gateway keeps, behind one interface for SQLite and PostgreSQL. Times are milliseconds since 1970 by the
// store's own clock, which all replicas share; what is told a store are spans of time. Every method may throw
// StoreUnavailable: nothing was changed then, but where the store was lost in the moment of a commit, which nobody can know. A method that changes something resolves when the change is on disk.

/** Where credentials are kept: a SQLite file, or a PostgreSQL database and the most connections to it. */
export type StoreLocation =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly pool: number };

/** The store cannot be reached, is full or failed; the driver's own error is in `cause`. */
export class StoreUnavailable extends Error {
  readonly code = 'store_unavailable';
  constructor(cause: unknown) {
    super('the credential store is not available', { cause });
  }
}

/** Whoever asked for it has left, so it was not done: the cause of a StoreUnavailable that is no fault of the store. */
export class ClientLeft extends Error {
  readonly code = 'client_left';
  constructor() {
    super('the client has left');
  }
}

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
  readonly passwordHash: string | null;
  readonly disabledAt: number | null;
  readonly createdAt: number;
}

/** An account as the accounts command lists it. */
export interface AccountSummary {
  readonly name: string;
  readonly displayName: string;
  readonly disabledAt: number | null;
  readonly createdAt: number;
  readonly devices: number;
}

export interface SignInRequest {
  readonly callback: string;
  readonly application: string;
  readonly model: string;
  readonly maskedUdid: string;
  /** Keyed hash of the device identifier. */
  readonly udidHash: Uint8Array | null;
}

/** A device that an account is signed in on: the living end of one family. */
export interface Device {
  readonly familyId: string;
  readonly application: string;
  readonly model: string;
  readonly maskedUdid: string;
  readonly signedInAt: number;
  readonly lastUsedAt: number;
}

/** How many devices are shown of an account. */
export const devicesShown = 100;

/** What a presented auth token stands for. */
export interface TokenHolder {
  readonly state: CredentialSetState;
  /** The store's time when this was read. */
  readonly readAt: number;
  readonly familyId: string;
  readonly accountId: string;
  readonly accountName: string;
  readonly displayName: string;
  readonly model: string;
  readonly signedInAt: number;
  readonly lastUsedAt: number;
  /** Of the payment secret of the same set. */
  readonly secretHash: Uint8Array;
  /** Keyed hash of the device identifier; null for a sign-in from before it was kept. */
  readonly udidHash: Uint8Array | null;
}

/** A set about to be stored; the lives of its auth and refresh token count from now and end with the family's. */
export interface NewSet {
  readonly id: string;
  readonly hashes: CredentialHashes;
  readonly life: number;
  readonly refreshLife: number;
}

/** What is counted under a key: at most so many within a window of milliseconds. */
interface Attempt {
  readonly keyHash: Uint8Array;
  /** How long after the first one attempts are counted together. */
  readonly window: number;
  /** The most of them. */
  readonly most: number;
}

export interface CredentialStore {
  /** This store for one client: what has not been done when the signal aborts is not done any more. */
  whileWanted(client: AbortSignal): CredentialStore;

  /** False where the name is taken. */
  addAccount(account: { id: string; name: string; displayName: string; passwordHash: string }): Promise<boolean>;
  findAccount(name: string): Promise<Account | undefined>;
  /**
   * The account of an OpenID subject, added at its first sign-in; its display name becomes the given one. Where its name is
   * taken it gets one of its own.
   */
  findOrAddFederated(account: {
    id: string;
    name: string;
    displayName: string;
    issuer: string;
    subject: string;
  }): Promise<Account & { readonly added: boolean }>;
  /** Whether there is an account that has a password here; those of a provider have none. */
  hasAccounts(): Promise<boolean>;
  listAccounts(): Promise<AccountSummary[]>;
  /**
   * These three answer whether there is an account of that name. A new password forgets every browser of the account:
   * whoever was signed in to its devices page no longer is.
   */
  setPassword(name: string, passwordHash: string): Promise<boolean>;
  setDisabled(name: string, disabled: boolean): Promise<boolean>;
  removeAccount(name: string): Promise<boolean>;
  /** Revokes every family and forgets every browser of the account; resolves to the devices that listed, or undefined. */
  signOutAccount(name: string): Promise<number | undefined>;
  /**
   * The same for a portion of all accounts, so that nobody waits long and any number of them ends in time: to be asked
   * again while there is more.
   */
  signOutEverybody(): Promise<{ readonly devices: number; readonly more: boolean }>;

  /** False where too many wait already; then nothing is written. */
  addSignInRequest(handleHash: Uint8Array, request: SignInRequest, life: number): Promise<boolean>;
  findSignInRequest(
    handleHash: Uint8Array,
  ): Promise<(SignInRequest & { readonly state: 'open' | 'used' | 'expired' }) | undefined>;
  /** Uses the handle up and stores the family's first set, or does neither and resolves to undefined. */
  completeSignIn(request: {
    handleHash: Uint8Array;
    accountId: string;
    familyId: string;
    familyLife: number;
    set: NewSet;
  }): Promise<SignInRequest | undefined>;

  findToken(authHash: Uint8Array): Promise<TokenHolder | undefined>;
  /** Spends the presented set and stores its successor if and only if the decision is `rotate`. */
  refresh(
    presented: CredentialHashes,
    successor: NewSet,
  ): Promise<{ decision: RefreshDecision; familyId?: string; accountId?: string }>;
  /** Of a mixture, the sign-in that one of the three belongs to is told. */
  revoke(presented: CredentialHashes): Promise<{ decision: RevokeDecision; familyId?: string; accountId?: string }>;
  /** Notes a use of the family at a time that the store told. */
  touchFamily(familyId: string, usedAt: number): Promise<void>;
  /** The newest first: all that are shown, and one more where there are others. */
  listDevices(accountId: string): Promise<Device[]>;
  /** False where the account has no such living family. */
  revokeFamily(familyId: string, accountId: string): Promise<boolean>;

  addBrowser(browser: {
    tokenHash: Uint8Array;
    accountId: string;
    /** How long it stays signed in, and how long it is known. */
    sessionLife: number;
    life: number;
  }): Promise<void>;
  findBrowser(
    tokenHash: Uint8Array,
  ): Promise<{ accountId: string; accountName: string; displayName: string; signedIn: boolean } | undefined>;
  removeBrowser(tokenHash: Uint8Array): Promise<void>;

  /**
   * Counts one more attempt under every key, or under none where one of them has had the most it may have: then nothing
   * is written, and it resolves to the milliseconds until all of them may have one again. `isStrangers`: it is of somebody
   * unknown, of whom there may be any number at once.
   */
  countAttempts(attempts: readonly Attempt[], isStrangers?: boolean): Promise<number | undefined>;
  /** Takes back one attempt under each key. */
  returnAttempts(keyHashes: readonly Uint8Array[], isStrangers?: boolean): Promise<void>;

  /** The key of that name; the given one is stored where there was none. */
  findOrAddKey(name: string, fresh: Uint8Array): Promise<Uint8Array>;

  /** Deletes what can no longer matter and gives its space back; a portion at a time. */
  sweep(): Promise<{ readonly deleted: number; readonly more: boolean }>;
  /** Reads and durably writes, and throws where the store does not. */
  probe(): Promise<void>;
  close(): Promise<void>;
}
