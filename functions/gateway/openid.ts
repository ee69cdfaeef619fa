import { type DiscoveredProvider, discoverProvider, type OpenIdRegistration } from './openid-provider.ts';
import { toReadable } from './readable-text.ts';

/** The OpenID Connect provider whose users may sign in. */
export interface OpenIdSettings extends OpenIdRegistration {
  /** The provider's name on the button of the login page. */
  readonly label: string;
  /** The scopes to request, separated by blanks; `openid` must be one of them. */
  readonly scope: string;
  /** Who may sign in: users whose claim has one of these values. Everybody if it is absent. */
  readonly allow?: { readonly claim: string; readonly values: readonly string[] } | undefined;
}

/** What the browser must remember until the provider sends it back. */
export interface OpenIdAttempt {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The user who signed in at the provider. */
export interface OpenIdIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly displayName: string;
}

/** The provider does not answer, or its answer cannot be trusted. */
export class OpenIdFailed extends Error {
  readonly code = 'openid_failed';
}

/** The user declined at the provider, or the provider refused. */
export class OpenIdDenied extends Error {
  readonly code = 'openid_denied';
}

/** The provider knows the user, but the operator does not allow them. `name` is their name at the provider. */
export class OpenIdNotAllowed extends Error {
  readonly code = 'openid_not_allowed';
  readonly identity: OpenIdIdentity;
  constructor(identity: OpenIdIdentity) {
    super('the claim that allows accounts is missing or has another value');
    this.identity = identity;
  }
}

/** The provider knows the user by a subject that cannot be kept (see isSubject). */
export class OpenIdSubjectRefused extends Error {
  readonly code = 'openid_subject_refused';
}

/** What the browser returned with was used before, or has expired. */
export class OpenIdStale extends Error {
  readonly code = 'openid_stale';
}

export interface OpenIdClient {
  readonly label: string;
  /** The address at the provider to send the browser to. Throws OpenIdFailed. */
  start(redirectUri: string): Promise<{ url: URL; attempt: OpenIdAttempt }>;
  /**
   * Exchanges the code in the address with which the browser returned. Throws OpenIdFailed, OpenIdDenied, OpenIdStale,
   * OpenIdSubjectRefused or OpenIdNotAllowed.
   */
  finish(returned: URL, attempt: OpenIdAttempt): Promise<OpenIdIdentity>;
}

/** How long, in milliseconds, a provider's metadata is kept: it may move while a server runs. */
const discoveredLife = 3_600_000;

/** How long, in milliseconds, older metadata is kept if the provider does not state it any more. */
const retryAfter = 60_000;

// Loaded when somebody signs in through a provider.
const load = () => import('./openid-library.ts');

/**
 * The authorization code flow with PKCE, state and nonce (OpenID Connect Core, section 3.1; RFC 9700, section 2.1.1).
 * The provider's configuration is fetched at the first use, and again after a failure and every hour. `clock` is of
 * milliseconds.
 */
export const createOpenIdClient = (settings: OpenIdSettings, clock: () => number): OpenIdClient => {
  let discovered: Promise<DiscoveredProvider> | undefined;
  let last: DiscoveredProvider | undefined;
  let validUntil = 0;
  const ask = async (): Promise<DiscoveredProvider> => {
    try {
      last = await discoverProvider(await load(), settings);
      return last;
    } catch (error) {
      if (last !== undefined) {
        // A provider that hides its metadata for a while may well serve its sign-ins meanwhile.
        validUntil = clock() + retryAfter;
        return last;
      }
      discovered = undefined;
      throw new OpenIdFailed('the provider could not be discovered', { cause: error });
    }
  };
  const discover = () => {
    const now = clock();
    // What is to be kept for longer than it may was found before the clock was set back.
    if (now >= validUntil || now + discoveredLife < validUntil) discovered = undefined;
    if (discovered === undefined) validUntil = now + discoveredLife;
    discovered ??= ask();
    return discovered;
  };
  return {
    label: settings.label,
    start: async (redirectUri) => {
      const [client, { configuration }] = await Promise.all([load(), discover()]);
      const attempt = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      };
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: settings.scope,
        code_challenge: await client.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
        state: attempt.state,
        nonce: attempt.nonce,
      });
      return { url, attempt };
    },
    finish: async (returned, attempt) => {
      const [client, { configuration, exchange }] = await Promise.all([load(), discover()]);
      try {
        const tokens = await exchange(returned, {
          pkceCodeVerifier: attempt.verifier,
          expectedState: attempt.state,
          expectedNonce: attempt.nonce,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (!claims) throw new Error('no ID token');
        if (!isSubject(claims.sub)) throw new OpenIdSubjectRefused('the subject is too long or no plain text');
        const profile = configuration.serverMetadata().userinfo_endpoint
          ? await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)
          : {};
        const all = { ...claims, ...profile };
        const identity = { issuer: claims.iss, subject: claims.sub, displayName: chooseName(all) };
        if (settings.allow && !hasValue(all, settings.allow)) throw new OpenIdNotAllowed(identity);
        return identity;
      } catch (error) {
        if (error instanceof OpenIdNotAllowed || error instanceof OpenIdSubjectRefused) throw error;
        // RFC 6749, section 5.2: the code was used before, has expired, or belongs to another client.
        if (error instanceof client.ResponseBodyError && error.error === 'invalid_grant') {
          throw new OpenIdStale('the code is not good any more', { cause: error });
        }
        if (error instanceof client.AuthorizationResponseError) {
          throw new OpenIdDenied('the provider refused', { cause: error });
        }
        discovered = undefined;
        throw new OpenIdFailed('the sign-in could not be confirmed', { cause: error });
      }
    },
  };
};

/**
 * Whether every store can keep this subject, and tell it from others. OpenID Connect Core, section 2, allows 255 ASCII
 * characters. PostgreSQL takes no NUL and indexes no long text, and of what is no Unicode a database keeps less than
 * what tells two people apart.
 */
const isSubject = (text: string) => text.length <= 255 && text.isWellFormed() && !/\p{Control}/u.test(text);

const hasValue = (
  claims: { readonly [claim: string]: unknown },
  { claim, values }: { readonly claim: string; readonly values: readonly string[] },
) => {
  // A provider may let its users enter any address, which must not admit them. Some (Cognito, Apple) send the claim as
  // a string.
  if (claim === 'email' && String(claims.email_verified) !== 'true') return false;
  const held = Object.hasOwn(claims, claim) ? [claims[claim]].flat() : [];
  return held.some((value) => ['string', 'number', 'boolean'].includes(typeof value) && values.includes(String(value)));
};

const chooseName = (claims: { readonly sub: string; readonly [claim: string]: unknown }) => {
  const names = [claims.preferred_username, claims.name, claims.email, claims.sub];
  const readable = names.map((name) => (typeof name === 'string' ? toReadable(name, 100) : ''));
  return readable.find((name) => name !== '') ?? 'unnamed';
};
