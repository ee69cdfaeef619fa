import type { CredentialSetState, RefreshDecision, RevokeDecision } from './credential-states.ts';
import type { CredentialHashes } from './cryptography.ts';

// What the gateway keeps, behind one interface for SQLite and PostgreSQL. Times are milliseconds since 1970. Every
// method may throw StoreUnavailable, and then nothing was changed. A method that changes something resolves when the
// change is on disk.

/** The store cannot be reached, is full or failed; the driver's own error is in `cause`. */
export class StoreUnavailable extends Error {
  readonly code = 'store_unavailable';
  constructor(cause: unknown) {
    super('the credential store is not available', { cause });
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
  readonly expiresAt: number;
  readonly consumedAt: number | null;
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

/** What a presented auth token stands for. */
export interface TokenHolder {
  readonly state: CredentialSetState;
  readonly familyId: string;
  readonly accountId: string;
  readonly accountName: string;
  readonly displayName: string;
  readonly model: string;
  readonly signedInAt: number;
  readonly lastUsedAt: number;
}

/** A set about to be stored; `refreshLife` is how long its refresh token lives where the family does not end before. */
export interface NewSet {
  readonly id: string;
  readonly hashes: CredentialHashes;
  readonly expiresAt: number;
  readonly refreshLife: number;
}

/** What is counted under a key: at most so many within a window of milliseconds. */
interface Attempt {
  readonly keyHash: Uint8Array;
  readonly most: number;
  readonly window: number;
}

export interface CredentialStore {
  /** False where the name is taken. */
  addAccount(
    account: { id: string; name: string; displayName: string; passwordHash: string },
    now: number,
  ): Promise<boolean>;
  findAccount(name: string): Promise<Account | undefined>;
  /** The account of an OpenID subject, added at its first sign-in. */
  findOrAddFederated(
    account: { id: string; name: string; displayName: string; issuer: string; subject: string },
    now: number,
  ): Promise<Account>;
  hasAccounts(): Promise<boolean>;
  listAccounts(now: number): Promise<AccountSummary[]>;
  /** These three answer whether there is an account of that name. */
  setPassword(name: string, passwordHash: string): Promise<boolean>;
  setDisabled(name: string, disabledAt: number | null): Promise<boolean>;
  removeAccount(name: string): Promise<boolean>;
  /** Revokes every family and forgets every browser of the account; resolves to the number of families, or undefined. */
  signOutAccount(name: string, now: number): Promise<number | undefined>;

  addSignInRequest(handleHash: Uint8Array, request: Omit<SignInRequest, 'consumedAt'>): Promise<void>;
  findSignInRequest(handleHash: Uint8Array): Promise<SignInRequest | undefined>;
  /** Uses the handle up and stores the family's first set, or does neither and resolves to undefined. */
  completeSignIn(
    request: { handleHash: Uint8Array; accountId: string; familyId: string; familyLife: number; set: NewSet },
    now: number,
  ): Promise<SignInRequest | undefined>;

  findToken(authHash: Uint8Array): Promise<TokenHolder | undefined>;
  /** Spends the presented set and stores its successor if and only if the decision is `rotate`. */
  refresh(
    presented: CredentialHashes,
    successor: NewSet,
    now: number,
  ): Promise<{ decision: RefreshDecision; familyId?: string; accountId?: string }>;
  revoke(
    presented: CredentialHashes,
    now: number,
  ): Promise<{ decision: RevokeDecision; familyId?: string; accountId?: string }>;
  touchFamily(familyId: string, now: number): Promise<void>;
  listDevices(accountId: string, now: number): Promise<Device[]>;
  /** False where the account has no such living family. */
  revokeFamily(familyId: string, accountId: string, now: number): Promise<boolean>;

  addBrowser(browser: {
    tokenHash: Uint8Array;
    accountId: string;
    signedInUntil: number;
    expiresAt: number;
  }): Promise<void>;
  findBrowser(
    tokenHash: Uint8Array,
    now: number,
  ): Promise<{ accountId: string; accountName: string; displayName: string; signedInUntil: number } | undefined>;
  removeBrowser(tokenHash: Uint8Array): Promise<void>;

  /**
   * Counts one more attempt under each key, or, where one has reached its most, under none: resolves then to when the last
   * of those starts anew, else to undefined. Nothing is written where nothing is counted.
   */
  countAttempts(attempts: readonly Attempt[], now: number): Promise<number | undefined>;
  /** Takes back one attempt under each key. */
  returnAttempts(keyHashes: readonly Uint8Array[]): Promise<void>;

  /** Deletes what can no longer matter; resolves to the number of rows. */
  sweep(now: number): Promise<number>;
  /** Whether the store reads and durably writes at this moment. Never throws. */
  health(): Promise<boolean>;
  close(): Promise<void>;
}
