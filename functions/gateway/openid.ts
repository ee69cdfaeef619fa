import * as client from 'openid-client';

/** The OpenID Connect provider that accounts may come from. */
export interface OpenIdSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** What the button on the login page says it continues with. */
  readonly label: string;
  /** Allows an issuer on http, for development. */
  readonly insecure: boolean;
}

/** What has to be remembered, in the browser that started, until the provider sends it back. */
export interface OpenIdAttempt {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Who signed in at the provider. */
interface OpenIdIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly displayName: string;
}

/** The provider does not answer, or answers something that cannot be trusted. */
export class OpenIdFailed extends Error {
  readonly code = 'openid_failed';
}

/** The person said no at the provider, or it refused them. */
export class OpenIdDenied extends Error {
  readonly code = 'openid_denied';
}

export interface OpenIdClient {
  readonly label: string;
  /** The provider's address to send the browser to. Throws OpenIdFailed. */
  start(redirectUri: string): Promise<{ url: URL; attempt: OpenIdAttempt }>;
  /** Exchanges the code in the address that the browser came back with. Throws OpenIdFailed or OpenIdDenied. */
  finish(returned: URL, attempt: OpenIdAttempt): Promise<OpenIdIdentity>;
}

/**
 * The authorization code flow with PKCE, state and nonce (OpenID Connect Core, section 3.1; RFC 9700, section 2.1.1).
 * The provider's configuration is fetched at the first use and again after a failure.
 */
export const createOpenIdClient = (settings: OpenIdSettings): OpenIdClient => {
  let discovered: Promise<client.Configuration> | undefined;
  const discover = () => {
    discovered ??= client
      .discovery(new URL(settings.issuer), settings.clientId, settings.clientSecret, undefined, {
        timeout: 10,
        ...(settings.insecure && { execute: [client.allowInsecureRequests] }),
      })
      .catch((error) => {
        discovered = undefined;
        throw new OpenIdFailed('the provider could not be discovered', { cause: error });
      });
    return discovered;
  };
  return {
    label: settings.label,
    start: async (redirectUri) => {
      const configuration = await discover();
      const attempt = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      };
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: 'openid profile email',
        code_challenge: await client.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
        state: attempt.state,
        nonce: attempt.nonce,
      });
      return { url, attempt };
    },
    finish: async (returned, attempt) => {
      const configuration = await discover();
      try {
        const tokens = await client.authorizationCodeGrant(configuration, returned, {
          pkceCodeVerifier: attempt.verifier,
          expectedState: attempt.state,
          expectedNonce: attempt.nonce,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (!claims) throw new Error('no ID token');
        const profile = configuration.serverMetadata().userinfo_endpoint
          ? await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)
          : {};
        return { issuer: claims.iss, subject: claims.sub, displayName: chooseName({ ...claims, ...profile }) };
      } catch (error) {
        if (error instanceof client.AuthorizationResponseError) {
          throw new OpenIdDenied('the provider refused', { cause: error });
        }
        throw new OpenIdFailed('the sign-in could not be confirmed', { cause: error });
      }
    },
  };
};

const chooseName = (claims: { readonly sub: string; readonly [claim: string]: unknown }) => {
  const names = [claims.preferred_username, claims.name, claims.email, claims.sub];
  const name = names.find((value): value is string => typeof value === 'string' && value.trim() !== '') ?? claims.sub;
  return name.replace(/\p{Control}/gu, '').slice(0, 100);
};
