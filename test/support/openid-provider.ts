import { generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

/** A real OpenID provider on loopback. It signs everybody in as the chosen subject, without a page. */
export interface OpenIdProvider {
  readonly issuer: string;
  /** How often the client presented its secret by another method than the registered one. */
  refused: number;
  /** Who signs in next; if undefined, the person refuses. */
  subject: string | undefined;
  /** The preferred name of who signs in; by default derived from the subject. */
  preferredName: string | undefined;
  /** The claims that are others in the ID token, and at the UserInfo endpoint; undefined leaves a claim out. */
  claims: Partial<Record<'id_token' | 'userinfo', Readonly<Record<string, unknown>>>>;
  close(): Promise<void>;
}

export const openIdClient = { id: 'gateway', secret: 'a secret of the OpenID client' };

let key: JsonWebKey | undefined;

/** One key for all providers: to make one takes a tenth of a second, and none of them is asked about another's. */
const makeKey = (): JsonWebKey =>
  (key ??= generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }));

type Method = 'client_secret_post' | 'client_secret_basic';

/**
 * Starts a provider that knows one client, which is redirected to `redirectUri` and presents its secret by the
 * `registered` one of the methods that are `offered`. Its issuer ends in `path`. Everybody is in the group `people` and
 * in one named after the subject, and has an address, which is verified unless the subject says otherwise; some
 * subjects say it with a string.
 */
export const startOpenIdProvider = async (
  redirectUri: string,
  {
    path = '',
    registered = 'client_secret_post',
    offered = ['client_secret_basic', 'client_secret_post'],
  }: { readonly path?: string; readonly registered?: Method; readonly offered?: Method[] } = {},
): Promise<OpenIdProvider> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  const provider: Provider = new Provider(issuer, {
    clients: [
      {
        client_id: openIdClient.id,
        client_secret: openIdClient.secret,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: registered,
      },
    ],
    jwks: { keys: [{ ...makeKey(), use: 'sig', alg: 'RS256', kid: 'one' }] },
    cookies: { keys: ['a key for cookies'] },
    ...(offered.length > 0 && { clientAuthMethods: offered }),
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `${path}/interaction/${uid}` },
    claims: {
      openid: ['sub'],
      profile: ['preferred_username', 'name'],
      email: ['email', 'email_verified'],
      groups: ['groups'],
    },
    // Many providers have the claims of scopes in the ID token too.
    conformIdTokenClaims: false,
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
    pkce: { required: () => true },
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: (use) => ({
        sub,
        preferred_username: chosen.preferredName ?? `${sub} <b>by name</b>`,
        email: `${sub}@id.example`,
        ...(sub !== 'unsaid' && {
          email_verified: sub === 'word' ? 'true' : sub === 'unverified-word' ? 'false' : sub !== 'unverified',
        }),
        groups: ['people', sub],
        ...chosen.claims[use as 'id_token' | 'userinfo'],
      }),
    }),
    loadExistingGrant: async (context) => {
      const grant = new provider.Grant({
        clientId: context.oidc.client?.clientId ?? '',
        accountId: context.oidc.session?.accountId ?? '',
      });
      grant.addOIDCScope('openid profile email groups');
      await grant.save();
      return grant;
    },
  });
  provider.use(async (context, next) => {
    await next();
    if (offered.length > 0 || !context.path.startsWith('/.well-known/')) return;
    delete (context.body as Record<string, unknown>).token_endpoint_auth_methods_supported;
  });
  const handle = provider.callback();
  const chosen = {
    refused: 0,
    subject: 'subject-1' as string | undefined,
    preferredName: undefined as string | undefined,
    claims: {} as OpenIdProvider['claims'],
  };
  server.on('request', async (request: IncomingMessage & { originalUrl?: string }, response) => {
    // This tells the library the path that it is mounted at.
    request.originalUrl = request.url ?? '';
    request.url = request.originalUrl.slice(path.length);
    // If the library offers both methods, it accepts either; many providers do not.
    const isInHead = request.headers.authorization !== undefined;
    if (request.url === '/token' && isInHead !== (registered === 'client_secret_basic')) {
      chosen.refused++;
      const challenge = registered === 'client_secret_basic' && { 'WWW-Authenticate': 'Basic realm="clients"' };
      response.writeHead(401, { 'Content-Type': 'application/json', ...challenge }).end('{"error":"invalid_client"}');
      return;
    }
    if (!request.url?.startsWith('/interaction/')) return handle(request, response);
    const { subject } = chosen;
    const result = subject === undefined ? { error: 'access_denied' } : { login: { accountId: subject } };
    await provider.interactionFinished(request, response, result);
  });
  return Object.assign(chosen, {
    issuer,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
};
