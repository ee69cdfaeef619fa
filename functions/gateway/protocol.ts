import { addCredentials, type Callback, parseCallback } from './callback.ts';
import type { CallbackRules } from './callback-rules.ts';
import { isLive, type RefreshDecision, type RevokeDecision } from './credential-states.ts';
import { type Credentials, type Cryptography, hashCredentials } from './cryptography.ts';
import { maskUdid } from './masked-udid.ts';
import type { CredentialStore, NewSet, SignInRequest, TokenHolder } from './store/credential-store.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

/** How long a sign-in request waits for the user to log in (decisions, section 6). */
const requestLife = 10 * minute;
/** How long a sign-in lasts at most, however often it is refreshed (decisions, section 6). */
const familyLife = 365 * day;
/** How long a refresh token lives at most (decisions, section 6). */
export const refreshLifeMaximum = 180 * day;
/** The precision of "last used". Exact times would need a write, and so a sync, for every authenticated request. */
const lastUseGrain = 10 * minute;

export interface ProtocolDeps {
  readonly store: CredentialStore;
  readonly cryptography: Cryptography;
  readonly callbacks: CallbackRules;
  /** The key with which device identifiers are hashed. By default the store makes and keeps one. */
  readonly deviceKey?: string | undefined;
  /** How long an auth token is valid, in milliseconds. */
  readonly credentialLife: number;
  /** How long a refresh token is valid, in milliseconds. */
  readonly refreshLife: number;
}

/** The result of a refresh: a new set, or the reason why there is none. */
export type RefreshResult =
  | {
      readonly decision: 'rotate';
      readonly credentials: Credentials;
      readonly familyId?: string;
      readonly accountId?: string;
    }
  | { readonly decision: Exclude<RefreshDecision, 'rotate'>; readonly familyId?: string; readonly accountId?: string };

/** The state of a login handle. */
export type HandleState =
  | { readonly state: 'open'; readonly request: SignInRequest }
  | { readonly state: 'used' | 'expired' | 'unknown' };

/**
 * The protocol's operations on tokens, without HTTP (protocol, "Endpoints"). Tokens are made here and leave only as
 * return values; the store sees only their hashes. Every operation may throw StoreUnavailable.
 */
export const createProtocol = (deps: ProtocolDeps) => {
  const { store, cryptography } = deps;

  const makeSet = (): { credentials: Credentials; set: NewSet } => {
    const credentials = {
      auth_token: cryptography.randomToken(),
      payment_secret: cryptography.randomToken(),
      refresh_token: cryptography.randomToken(),
    };
    const hashes = hashCredentials(cryptography, credentials);
    const { credentialLife: life, refreshLife } = deps;
    const set = { id: cryptography.randomId(), hashes, life, refreshLife };
    return { credentials, set };
  };

  // If the client left, operations that have not been done yet are dropped.
  const wantedBy = (client: AbortSignal | undefined) => (client ? store.whileWanted(client) : store);
  // The store is asked for its key each time, because a backup that was restored meanwhile may have brought another.
  const hashUdid = async (udid: string) => {
    const fresh = () => cryptography.sha256(cryptography.randomToken());
    return cryptography.hmac(deps.deviceKey ?? (await store.findOrAddKey('udid', fresh())), udid);
  };

  return {
    /**
     * Stores a sign-in request. Resolves to its handle and callback, or to undefined if too many requests are waiting.
     * Throws CallbackRefused.
     */
    authenticate: async (
      request: { callback: string; udid: string; model: string },
      client?: AbortSignal,
    ): Promise<{ handle: string; callback: Callback } | undefined> => {
      const callback = parseCallback(request.callback, deps.callbacks);
      const handle = cryptography.randomToken();
      const { address, application } = callback;
      const { model, udid } = request;
      const stored = {
        callback: address,
        application,
        model,
        maskedUdid: maskUdid(udid),
        udidHash: await hashUdid(udid),
      };
      const added = await wantedBy(client).addSignInRequest(cryptography.sha256(handle), stored, requestLife);
      return added ? { handle, callback } : undefined;
    },

    lookUpHandle: async (handle: string): Promise<HandleState> => {
      const request = await store.findSignInRequest(cryptography.sha256(handle));
      if (!request) return { state: 'unknown' };
      return request.state === 'open' ? { state: 'open', request } : { state: request.state };
    },

    /**
     * Uses up the handle for an account. Resolves to the address to redirect to, or to undefined if the handle was not
     * open.
     */
    completeSignIn: async (
      handle: string,
      accountId: string,
      client?: AbortSignal,
    ): Promise<{ location: string; familyId: string } | undefined> => {
      const { credentials, set } = makeSet();
      const familyId = cryptography.randomId();
      const handleHash = cryptography.sha256(handle);
      const request = await wantedBy(client).completeSignIn({ handleHash, accountId, familyId, familyLife, set });
      return request && { location: addCredentials(request.callback, credentials), familyId };
    },

    refresh: async (presented: Credentials, client?: AbortSignal): Promise<RefreshResult> => {
      const { credentials, set } = makeSet();
      const { decision, ...owner } = await wantedBy(client).refresh(hashCredentials(cryptography, presented), set);
      return decision === 'rotate' ? { decision, credentials, ...owner } : { decision, ...owner };
    },

    revoke: (
      presented: Credentials,
      client?: AbortSignal,
    ): Promise<{ decision: RevokeDecision; familyId?: string; accountId?: string }> =>
      wantedBy(client).revoke(hashCredentials(cryptography, presented)),

    /**
     * The holder of a valid auth token, or undefined. A payment secret and a device identifier, if given, must belong
     * to the same set (decisions, section 7, "Introspection").
     */
    check: async (
      authToken: string,
      { payment_secret: secret, udid }: { payment_secret?: string | undefined; udid?: string | undefined } = {},
    ): Promise<TokenHolder | undefined> => {
      const holder = await store.findToken(cryptography.sha256(authToken));
      if (!holder || !isLive(holder.state, holder.readAt)) return undefined;
      if (secret !== undefined && !cryptography.equal(holder.secretHash, cryptography.sha256(secret))) return undefined;
      if (udid !== undefined) {
        const { udidHash } = holder;
        if (udidHash === null || !cryptography.equal(udidHash, await hashUdid(udid))) return undefined;
      }
      // The answer does not wait for this, and a full disk must not lock out signed-in users.
      if (holder.readAt - holder.lastUsedAt >= lastUseGrain)
        store.touchFamily(holder.familyId, holder.readAt).catch(() => {});
      return holder;
    },
  };
};

export type Protocol = ReturnType<typeof createProtocol>;
