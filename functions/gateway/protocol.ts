import { addCredentials, type Callback, parseCallback } from './callback.ts';
import type { CallbackRules } from './callback-rules.ts';
import { isLive, type RefreshDecision, type RevokeDecision } from './credential-states.ts';
import { type Credentials, type Cryptography, hashCredentials } from './cryptography.ts';
import { maskUdid } from './masked-udid.ts';
import type { CredentialStore, NewSet, SignInRequest, TokenHolder } from './store/credential-store.ts';

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
  readonly callbacks: CallbackRules;
  /** The key under which device identifiers are hashed; without one the store keeps a key of its own. */
  readonly deviceKey?: string | undefined;
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

  // What a client has not waited for is not done.
  const wantedBy = (client: AbortSignal | undefined) => (client ? store.whileWanted(client) : store);
  // The store's key is asked for each time: a backup restored meanwhile may have brought another.
  const hashUdid = async (udid: string) => {
    const fresh = () => cryptography.sha256(cryptography.randomToken());
    return cryptography.hmac(deps.deviceKey ?? (await store.findOrAddKey('udid', fresh())), udid);
  };

  return {
    /**
     * Stores a sign-in request; resolves to its handle and callback, or undefined where too many wait already. Throws
     * CallbackRefused.
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

    /** Uses the handle up for an account; resolves to the address to redirect to, undefined where it was not open. */
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
     * Who holds a live auth token, or undefined. A payment secret and a device identifier, where given, must belong to
     * the same set (decisions, section 7, "Introspection").
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
      // The answer does not wait for it, and a full disk must not keep signed-in people out.
      if (holder.readAt - holder.lastUsedAt >= lastUseGrain)
        store.touchFamily(holder.familyId, holder.readAt).catch(() => {});
      return holder;
    },
  };
};

export type Protocol = ReturnType<typeof createProtocol>;
