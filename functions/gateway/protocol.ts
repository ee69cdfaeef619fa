import { addCredentials, type Callback, parseCallback } from './callback.ts';
import type { CallbackRules } from './callback-rules.ts';
import { isLive, type RefreshDecision, type RevokeDecision } from './credential-states.ts';
import { type Credentials, type Cryptography, hashCredentials } from './cryptography.ts';
import { maskUdid } from './device.ts';
import type { CredentialStore, NewSet, SignInRequest, TokenHolder } from './store.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

/** How long a sign-in request waits for its login (decisions, section 6). */
const requestLife = 10 * minute;
/** How long a sign-in lasts at most, however often it is refreshed (decisions, section 6). */
const familyLife = 365 * day;
/** How long a refresh token lives at most (decisions, section 6). */
export const refreshLifeMaximum = 180 * day;
/** How exact "last used" is: a write for every authenticated request would make each of them cost a sync. */
const lastUseGrain = 10 * minute;

export interface ProtocolDeps {
  readonly store: CredentialStore;
  readonly cryptography: Cryptography;
  readonly clock: () => number;
  readonly callbacks: CallbackRules;
  /** Milliseconds that an auth token lives. */
  readonly credentialLife: number;
  /** Milliseconds that a refresh token lives. */
  readonly refreshLife: number;
}

/** What became of a refresh: a new set, or why there is none. */
export type RefreshResult =
  | {
      readonly decision: 'rotate';
      readonly credentials: Credentials;
      readonly familyId?: string;
      readonly accountId?: string;
    }
  | { readonly decision: Exclude<RefreshDecision, 'rotate'>; readonly familyId?: string; readonly accountId?: string };

/** What can be said of a login handle. */
export type HandleState =
  | { readonly state: 'open'; readonly request: SignInRequest }
  | { readonly state: 'used' | 'expired' | 'unknown' };

/**
 * The protocol's operations on tokens, without HTTP (protocol, "Endpoints"). Tokens are made here and leave only as
 * return values; the store sees their hashes. Every operation may throw StoreUnavailable.
 */
export const createProtocol = (deps: ProtocolDeps) => {
  const { store, cryptography, clock } = deps;

  const makeSet = (now: number): { credentials: Credentials; set: NewSet } => {
    const credentials = {
      auth_token: cryptography.randomToken(),
      payment_secret: cryptography.randomToken(),
      refresh_token: cryptography.randomToken(),
    };
    const hashes = hashCredentials(cryptography, credentials);
    const { credentialLife, refreshLife } = deps;
    const set = { id: cryptography.randomId(), hashes, expiresAt: now + credentialLife, refreshLife };
    return { credentials, set };
  };

  return {
    /** Stores a sign-in request; resolves to its handle and callback. Throws CallbackRefused. */
    authenticate: async (request: {
      callback: string;
      udid: string;
      model: string;
    }): Promise<{ handle: string; callback: Callback }> => {
      const callback = parseCallback(request.callback, deps.callbacks);
      const handle = cryptography.randomToken();
      await store.addSignInRequest(cryptography.sha256(handle), {
        callback: callback.address,
        application: callback.application,
        model: request.model,
        maskedUdid: maskUdid(request.udid),
        expiresAt: clock() + requestLife,
      });
      return { handle, callback };
    },

    lookUpHandle: async (handle: string): Promise<HandleState> => {
      const request = await store.findSignInRequest(cryptography.sha256(handle));
      if (!request) return { state: 'unknown' };
      if (request.consumedAt !== null) return { state: 'used' };
      return request.expiresAt > clock() ? { state: 'open', request } : { state: 'expired' };
    },

    /** Uses the handle up for an account; resolves to the address to redirect to, undefined where it was not open. */
    completeSignIn: async (
      handle: string,
      accountId: string,
    ): Promise<{ location: string; familyId: string } | undefined> => {
      const now = clock();
      const { credentials, set } = makeSet(now);
      const familyId = cryptography.randomId();
      const handleHash = cryptography.sha256(handle);
      const request = await store.completeSignIn({ handleHash, accountId, familyId, familyLife, set }, now);
      return request && { location: addCredentials(request.callback, credentials), familyId };
    },

    refresh: async (presented: Credentials): Promise<RefreshResult> => {
      const now = clock();
      const { credentials, set } = makeSet(now);
      const { decision, ...owner } = await store.refresh(hashCredentials(cryptography, presented), set, now);
      return decision === 'rotate' ? { decision, credentials, ...owner } : { decision, ...owner };
    },

    revoke: (presented: Credentials): Promise<{ decision: RevokeDecision; familyId?: string; accountId?: string }> =>
      store.revoke(hashCredentials(cryptography, presented), clock()),

    /** Who holds a live auth token, or undefined. */
    check: async (authToken: string): Promise<TokenHolder | undefined> => {
      const now = clock();
      const holder = await store.findToken(cryptography.sha256(authToken));
      if (!holder || !isLive(holder.state, now)) return undefined;
      // The answer does not wait for it, and a full disk must not keep signed-in people out.
      if (now - holder.lastUsedAt >= lastUseGrain) store.touchFamily(holder.familyId, now).catch(() => {});
      return holder;
    },
  };
};

export type Protocol = ReturnType<typeof createProtocol>;
