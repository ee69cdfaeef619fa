import type { ClientAuth, Configuration, CustomFetch } from 'openid-client';
import { readResponseText } from '../http/response-text.ts';

type Library = typeof import('./openid-library.ts');
type Checks = Parameters<Library['authorizationCodeGrant']>[2];
type Tokens = Awaited<ReturnType<Library['authorizationCodeGrant']>>;

/** The provider, and this service's registration there. */
export interface OpenIdRegistration {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Allows an http issuer, for development. */
  readonly insecure: boolean;
}

/** The provider's configuration, and the way to present the client's secret to it. */
export interface DiscoveredProvider {
  readonly configuration: Configuration;
  /** Exchanges the code in the address with which the browser returned. */
  exchange(returned: URL, checks: Checks): Promise<Tokens>;
}

/** The most seconds that the provider may take for one answer. */
const patience = 10;

/** The most bytes of one answer of the provider. The claims of somebody in a thousand groups take a tenth of that. */
const mostBytes = 2 ** 20;

const fetchBounded: CustomFetch = async (address, options) => {
  const answer = await fetch(address, options as RequestInit);
  const text = await readResponseText(answer, mostBytes);
  return new Response(text === '' ? null : text, answer);
};

/**
 * Fetches the provider's configuration. A provider takes the client's secret in the body of a request or in its head,
 * depending on how the client is registered there (OpenID Connect Core, section 9). A provider that supports both does
 * not say which of them that is, so if one is refused, the other is tried, and kept if it works; a refused request does
 * not use up the code.
 */
export const discoverProvider = async (
  client: Library,
  { issuer, clientId, clientSecret, insecure }: OpenIdRegistration,
): Promise<DiscoveredProvider> => {
  const execute = insecure ? [client.allowInsecureRequests] : [];
  const known = await client.discovery(new URL(issuer), clientId, clientSecret, undefined, {
    timeout: patience,
    execute,
    [client.customFetch]: fetchBounded,
  });
  // Throws without an address to sign in at: what is of no use must not be kept.
  client.buildAuthorizationUrl(known, {});
  // The library's default sends the secret in the body.
  const inHead = new client.Configuration(
    known.serverMetadata(),
    clientId,
    clientSecret,
    showInHead(clientId, clientSecret),
  );
  inHead.timeout = patience;
  inHead[client.customFetch] = fetchBounded;
  for (const extend of execute) extend(inHead);
  // A provider that lists no method takes the secret in the head (Discovery, section 3).
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

// RFC 6749, section 2.3.1. The library's own function would double the size of this part in the bundle of a Worker.
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
