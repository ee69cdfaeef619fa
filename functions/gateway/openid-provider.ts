import type { Configuration } from 'openid-client';

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
  const ways = {
    client_secret_post: client.ClientSecretPost(clientSecret),
    client_secret_basic: client.ClientSecretBasic(clientSecret),
  };
  const configurations = chooseWays(known.serverMetadata().token_endpoint_auth_methods_supported).map((way) => {
    const made = new client.Configuration(known.serverMetadata(), clientId, clientSecret, ways[way]);
    made.timeout = patience;
    for (const extend of execute) extend(made);
    return made;
  });
  const isRefused = (error: unknown) =>
    error instanceof client.WWWAuthenticateChallengeError ||
    (error instanceof client.ResponseBodyError && error.error === 'invalid_client');
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
          if (!isRefused(error)) throw error;
          refused = error;
        }
      }
      throw refused;
    },
  };
};

type Way = 'client_secret_post' | 'client_secret_basic';

/** The ways that the provider may take, the likelier first; whoever names none takes the head (Discovery, section 3). */
const chooseWays = (named: readonly string[] | undefined): readonly Way[] => {
  if (named === undefined) return ['client_secret_basic', 'client_secret_post'];
  const possible = (['client_secret_post', 'client_secret_basic'] as const).filter((way) => named.includes(way));
  return possible.length > 0 ? possible : ['client_secret_post'];
};
