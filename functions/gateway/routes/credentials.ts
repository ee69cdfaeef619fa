import { type Context, Hono } from 'hono';
import { credentialsSchema, introspectionSchema, signInSchema } from '../../../src/contract/gateway-schemas.ts';
import { successMessage } from '../../../src/contract/success-message.ts';
import { HttpError } from '../../http/answers.ts';
import { shownSecret } from '../../http/operator-key.ts';
import { CallbackRefused } from '../callback.ts';
import { type GatewayDeps, gatewayAddresses } from '../gateway-deps.ts';
import type { Protocol } from '../protocol.ts';
import { toReadable } from '../readable-text.ts';
import { createSignInRate } from '../sign-in-rate.ts';
import { countFailedIntrospection, countSignInRequest } from '../throttle.ts';
import { answerJson, answerRefusal, refuseCredentials, tellFailure, toRefusal } from './credential-answers.ts';
import { readJsonBody } from './credential-request.ts';

/** `/authenticate`, `/refresh`, `/revoke`, `/account` and `/introspect` (protocol, "Endpoints"; decisions, section 6). */
export const credentialRoutes = (deps: GatewayDeps, protocol: Protocol): Hono => {
  const { clock, cryptography, log, clientAddress, countsSignIns } = deps;
  const addresses = gatewayAddresses(deps.settings);
  const signInRate = createSignInRate(deps.settings.signInRate, clock);
  const introspectionSecrets = deps.settings.introspectionSecrets.map(cryptography.sha256);
  const envelope = () => ({ message: successMessage, date: new Date(clock()).toISOString() });

  const routes = new Hono();
  routes.onError((error, c) => {
    tellFailure(log, error);
    return answerRefusal(c, toRefusal(error), clock());
  });

  /**
   * Logged only as often as it is counted, so that strangers cannot fill the log. A request with a right secret never
   * comes here.
   */
  const refuseIntrospection = async (c: Context) => {
    const address = clientAddress(c);
    const wait = await countFailedIntrospection(deps, address);
    if (wait !== undefined) {
      const headers = { 'Retry-After': String(Math.ceil(wait / 1000)) };
      return new HttpError(429, 'Too many requests without a configured secret came from this network', headers);
    }
    log({ event: 'introspection-refused', address });
    return refuseCredentials('Send a configured secret as: Authorization: Bearer <secret>');
  };

  routes.post('/authenticate', async (c) => {
    const address = clientAddress(c);
    const wait =
      signInRate(address) || (countsSignIns ? await countSignInRequest(deps, address, deps.settings.signInRate) : 0);
    if (wait > 0) {
      throw new HttpError(429, `Too many sign-ins were asked for: try again in ${wait} s`, {
        'Retry-After': `${wait}`,
      });
    }
    const sent = await readJsonBody(c.req.raw, signInSchema);
    // The user reads it on the sign-in page before deciding, and in the list of devices.
    const request = { ...sent, model: toReadable(sent.model) };
    if (request.model === '') throw new HttpError(400, "Field 'model' must have a visible character");
    try {
      const added = await protocol.authenticate(request, c.req.raw.signal);
      if (!added) {
        log({ event: 'sign-in-throttled', address, reason: 'too many are under way' });
        throw new HttpError(503, 'Too many sign-ins are under way; try again shortly', { 'Retry-After': '60' });
      }
      return answerJson(c, { auth_url: addresses.authUrl(added.handle, added.callback.address) });
    } catch (error) {
      throw error instanceof CallbackRefused ? new HttpError(400, error.message) : error;
    }
  });

  routes.post('/refresh', async (c) => {
    const result = await protocol.refresh(await readJsonBody(c.req.raw, credentialsSchema), c.req.raw.signal);
    if (result.decision === 'rotate') return answerJson(c, result.credentials);
    if (result.decision === 'not-expired') throw new HttpError(409, 'The credentials are not expired yet');
    // Invented tokens belong to nobody, and are not logged.
    if (result.familyId !== undefined) {
      const event = result.decision === 'reused' ? 'reuse-detected' : 'refresh-refused';
      log({ event, ...owner(result), address: clientAddress(c) });
    }
    throw refuseCredentials('The credentials are not refreshable; sign in again', 'invalid_token');
  });

  routes.post('/revoke', async (c) => {
    const result = await protocol.revoke(await readJsonBody(c.req.raw, credentialsSchema), c.req.raw.signal);
    if (result.decision === 'mixed') {
      log({ event: 'revoke-refused', ...owner(result), address: clientAddress(c) });
      throw refuseCredentials('The three credentials do not belong to one set', 'invalid_token');
    }
    if (result.decision === 'revoke') log({ event: 'revoked', ...owner(result), address: clientAddress(c) });
    return answerJson(c, envelope());
  });

  routes.get('/account', async (c) => {
    const presented = bearer(c);
    if (presented === undefined) throw refuseCredentials('Send the auth token as: Authorization: Bearer <auth_token>');
    const holder = await protocol.check(presented);
    if (!holder) throw refuseCredentials('The auth token is expired or invalid', 'invalid_token');
    return answerJson(c, {
      ...envelope(),
      data: {
        name: holder.accountName,
        display_name: holder.displayName,
        device: { model: holder.model, signed_in: new Date(holder.signedInAt).toISOString() },
        expires: new Date(holder.state.expiresAt).toISOString(),
      },
    });
  });

  routes.post('/introspect', async (c) => {
    if (introspectionSecrets.length === 0) throw new HttpError(404, '');
    const presented = cryptography.sha256(shownSecret(c.req.raw));
    // Every secret is compared, so that the time does not reveal which one was close.
    const known = introspectionSecrets.map((secret) => cryptography.equal(secret, presented)).includes(true);
    if (!known) throw await refuseIntrospection(c);
    const { token, ...belonging } = await readJsonBody(c.req.raw, introspectionSchema);
    const holder = await protocol.check(token, belonging);
    if (!holder) return answerJson(c, { active: false });
    return answerJson(c, {
      active: true,
      token_type: 'Bearer',
      sub: holder.accountId,
      username: holder.accountName,
      exp: Math.floor(holder.state.expiresAt / 1000),
      model: holder.model,
    });
  });

  for (const path of ['/authenticate', '/refresh', '/revoke', '/introspect']) routes.all(path, refuseMethod('POST'));
  routes.all('/account', refuseMethod('GET, HEAD'));
  return routes;
};

const refuseMethod = (allow: string) => () => {
  throw new HttpError(405, `Use ${allow}`, { Allow: allow });
};

// RFC 6750, section 2.1. Our own tokens have no other characters, unlike an operator's secret.
const bearer = (c: Context) => /^Bearer +([\w.~+/-]{1,512}=*) *$/i.exec(c.req.header('authorization') ?? '')?.[1];

const owner = ({ accountId, familyId }: { accountId?: string; familyId?: string }) => ({
  ...(accountId !== undefined && { account: accountId }),
  ...(familyId !== undefined && { family: familyId }),
});
