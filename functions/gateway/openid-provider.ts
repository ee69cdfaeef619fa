import type { ClientAuth, Configuration } from 'openid-client';

type Library = typeof import('./openid-library.ts');
type Checks = Parameters<Library['authorizationCodeGrant']>[2];
type Tokens = Awaited<ReturnType<Library['authorizationCodeGrant']>>;

/** The provider, and what this service is registered there as. */
export interface OpenIdRegistration {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Allows an issuer on http, for development. */
  readonly insecure: boolean;
}

/** What is known of the provider, and how it is shown the client's secret. */
export interface DiscoveredProvider {
  readonly configuration: Configuration;
  /** Exchanges the code in the address that the browser came back with. */
  exchange(returned: URL, checks: Checks): Promise<Tokens>;
}

/** How long the provider may take for one answer, in seconds. */
const patience = 10;

/**
 * Fetches what the provider says of itself. It takes the secret in the body of a request or in its head, as the client is
 * registered there (OpenID Connect Core, section 9); which of them that is it does not say where it knows both. So the
 * other way is tried where one is refused, and kept where it works: who is refused so has not used the code up.
 */
export const discoverProvider = async (
  client: Library,
  { issuer, clientId, clientSecret, insecure }: OpenIdRegistration,
): Promise<DiscoveredProvider> => {
  const execute = insecure ? [client.allowInsecureRequests] : [];
  const known = await client.discovery(new URL(issuer), clientId, clientSecret, undefined, {
    timeout: patience,
    execute,
  });
  // What the library makes shows the secret in the body.
  const inHead = new client.Configuration(
    known.serverMetadata(),
    clientId,
    clientSecret,
    showInHead(clientId, clientSecret),
  );
  inHead.timeout = patience;
  for (const extend of execute) extend(inHead);
  // Whoever names no way takes the head (Discovery, section 3).
  const isBodyNamed = known.serverMetadata().token_endpoint_auth_methods_supported?.includes('client_secret_post');
  const configurations = isBodyNamed ? [known, inHead] : [inHead, known];
  return {
    configuration: known,
    exchange: async (returned, checks) => {
      let refused: unknown;
      for (const configuration of [...configurations]) {
        try {
          const tokens = await client.authorizationCodeGrant(configuration, returned, checks);
          configurations.unshift(...configurations.splice(configurations.indexOf(configuration), 1));
          return tokens;
        } catch (error) {
          if (!isRefused(error as Refusal)) throw error;
          refused = error;
        }
      }
      throw refused;
    },
  };
};

// RFC 6749, section 2.3.1. The library's own would be as much again as all of this in the bundle of a Worker.
const showInHead =
  (...shown: [clientId: string, clientSecret: string]): ClientAuth =>
  (_provider, _client, _body, headers) =>
    headers.set(
      'authorization',
      `Basic ${btoa(shown.map((text) => `${new URLSearchParams([['', text]])}`.slice(1)).join(':'))}`,
    );

interface Refusal {
  readonly code?: unknown;
  readonly error?: unknown;
}

const isRefused = ({ code, error }: Refusal) =>
  code === 'OAUTH_WWW_AUTHENTICATE_CHALLENGE' || error === 'invalid_client';
