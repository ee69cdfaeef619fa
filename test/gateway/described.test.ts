import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Bindings } from '../../functions/environment.ts';
import { type OpenGateway, openGateway } from '../../functions/gateway/node/open-gateway.ts';
import { StoreUnavailable } from '../../functions/gateway/store/credential-store.ts';
import { gatewayOperations } from '../../src/contract/gateway-schemas.ts';
import { createOpenApi } from '../../src/contract/openapi.ts';
import type { Operation } from '../../src/contract/paths.ts';
import { DescribedAnswers } from '../support/described-answers.ts';
import { addAccount, readTestConfiguration, weakCost } from '../support/gateway-session.ts';
import { issue, openProtocol } from '../support/issue.ts';
import type { Credentials } from '../support/package-manager.ts';
import { testAddress } from '../support/published.ts';
import { exchangeParsed } from '../support/raw-http.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';
import { openConnections, type Received, type Sent } from '../support/wire.ts';

const secret = 's'.repeat(40);
const hour = 3_600_000;
const signInRate = 50;
/** More failed introspections than one network is allowed. */
const failedIntrospections = 20;

const folder = mkdtempSync(path.join(tmpdir(), 'debdex-described-'));
let server: TestServer;
let connections: ReturnType<typeof openConnections>;
let answers: DescribedAnswers;
let gateway: OpenGateway;
let closed: OpenGateway;
let accountId: string;
/** The gateway that answers: with introspection secrets, or without. */
let current: OpenGateway;
let now = Date.UTC(2026, 0, 1);
/** What the store of the gateway does at the moment. */
let mode: 'well' | 'away' | 'broken' = 'well';

const fail = () => {
  if (mode === 'away') throw new StoreUnavailable('away');
  if (mode === 'broken') throw new Error('broken');
};

const open = (environment: Record<string, string>): OpenGateway => {
  const configuration = readTestConfiguration({
    PUBLIC_ADDRESS: testAddress,
    STATE_DIR: mkdtempSync(path.join(folder, 'state-')),
    ...environment,
  });
  const opened = openGateway(configuration, { tell: () => {}, clock: () => now, passwordCost: weakCost });
  const { findToken, whileWanted } = opened.store;
  Object.assign(opened.store, {
    findToken: (...asked: Parameters<typeof findToken>) => {
      fail();
      return findToken.apply(opened.store, asked);
    },
    whileWanted: (...asked: Parameters<typeof whileWanted>) => {
      fail();
      return whileWanted.apply(opened.store, asked);
    },
  });
  return opened;
};

const { authenticate, refresh, revoke, account, introspect } = gatewayOperations;
const all: Operation[] = Object.values(gatewayOperations);
const posts = all.filter(({ method }) => method === 'POST');

beforeAll(async () => {
  gateway = open({ GATEWAY_INTROSPECTION_SECRETS: secret, GATEWAY_SIGN_IN_RATE: String(signInRate) });
  closed = open({});
  current = gateway;
  accountId = await addAccount(gateway.store, 'alice');
  const routes = new Hono<{ Bindings: Bindings }>();
  for (const { address } of all) {
    routes.all(address, ({ req, env }) => new Hono().route('/v2', current.routes).fetch(req.raw, env));
  }
  server = await startTestServer({
    limits: { headersTimeout: 300, requestTimeout: 600, timeoutInterval: 100 },
    overrides: { gateway: routes as unknown as Hono },
  });
  connections = openConnections(server.port);
  answers = new DescribedAnswers(
    JSON.parse(JSON.stringify(createOpenApi({ publicAddress: testAddress, version: '0' }))),
  );
});

afterAll(async () => {
  connections.close();
  await server.close();
  await gateway.close();
  await closed.close();
  rmSync(folder, { recursive: true, force: true });
});

const signInBody = { callback: 'sileo://authentication_success', udid: 'u', model: 'm' };
const json = { 'content-type': 'application/json' };
const withSecret = { ...json, authorization: `Bearer ${secret}` };

const check = (operation: Operation, method: string, received: Received, what: string) => {
  expect(answers.check(operation, method, received), `${what} ${received.status}`).toBeUndefined();
  const wait = received.headers['retry-after'];
  if (wait !== undefined) expect(wait).toMatch(/^[1-9]\d*$/);
  return received.status;
};

const ask = async (operation: Operation, sent: Partial<Sent>): Promise<number> => {
  const whole = { method: operation.method, target: `/v2${operation.address}`, ...sent };
  return check(operation, whole.method, await connections.send(whole), `${whole.method} ${whole.target}`);
};
const send = (operation: Operation, body: unknown, headers: Record<string, string> = withSecret): Promise<number> =>
  ask(operation, { body: JSON.stringify(body), headers });

const issueSet = (): Promise<Credentials> => issue(openProtocol(gateway.store), accountId);
const bearer = ({ auth_token }: Credentials) => ({ headers: { authorization: `Bearer ${auth_token}` } });

/** What a good request of each operation sends. */
const good = async (operation: Operation): Promise<Partial<Sent>> => {
  const set = await issueSet();
  if (operation === account) return bearer(set);
  const body = operation === authenticate ? signInBody : operation === introspect ? { token: set.auth_token } : set;
  return { body: JSON.stringify(body), headers: withSecret };
};

describe('H5 the operations of the gateway', () => {
  it('H5: answer every body as described, whatever it holds', async () => {
    const set = await issueSet();
    const value = fc.oneof(fc.constantFrom(...Object.values(set)), fc.string(), fc.integer(), fc.constant(null));
    const names = ['callback', 'udid', 'model', 'token', 'auth_token', 'payment_secret', 'refresh_token', 'x'];
    const body = fc.oneof(fc.dictionary(fc.constantFrom(...names), value), fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...posts), body, async (operation, sent) => {
        await send(operation, sent);
      }),
      { numRuns: 200, endOnFailure: true },
    );
    expect(server.faults).toEqual([]);
    // The sign-ins that got through count for the rate.
    now += hour;
  });

  it('H5: reach every status that is described, and 429 of sign-in and introspection among them', async () => {
    const set = await issueSet();
    const other = await issueSet();
    expect(await send(authenticate, signInBody)).toBe(200);
    expect(await ask(account, bearer(set))).toBe(200);
    expect(await send(introspect, { token: set.auth_token, udid: 'u'.repeat(40) })).toBe(200);
    expect(await send(introspect, { token: 'unknown' })).toBe(200);
    expect(await send(refresh, set)).toBe(409);
    expect(await send(revoke, { ...set, auth_token: other.auth_token })).toBe(401);
    now += hour;
    expect(await send(refresh, set)).toBe(200);
    expect(await send(refresh, { ...set, refresh_token: 'x' })).toBe(401);
    expect(await ask(account, bearer(set))).toBe(401);
    expect(await ask(account, {})).toBe(401);
    expect(await send(revoke, other)).toBe(200);
    expect(await send(introspect, { token: 'x' }, json)).toBe(401);
    current = closed;
    expect(await send(introspect, { token: 'x' })).toBe(404);
    current = gateway;

    for (const operation of all) {
      expect(await ask(operation, { method: 'DELETE' })).toBe(405);
      expect(await ask(operation, { target: `/v2${operation.address}?${'x'.repeat(74_000)}` })).toBe(414);
      const raw = async (request: string) =>
        check(operation, operation.method, await exchangeParsed(server.port, request), request.slice(0, 40));
      const head = `${operation.method} /v2${operation.address} HTTP/1.1\r\nHost: a\r\n`;
      expect(await raw(`${head}X: \x01\r\n\r\n`)).toBe(400);
      expect(await raw(`${head}${`X-Filler: ${'a'.repeat(8000)}\r\n`.repeat(20)}\r\n`)).toBe(431);
      expect(await raw(`${head}X: `)).toBe(408);
      expect(await raw(`${head}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`)).toBe(501);
    }
    for (const operation of posts) {
      expect(await send(operation, {})).toBe(400);
      expect(await ask(operation, { body: 'x', headers: { ...withSecret, 'content-type': 'text/plain' } })).toBe(415);
      expect(await ask(operation, { body: ' '.repeat(9000), headers: withSecret })).toBe(413);
    }
    for (const [next, status] of [
      ['away', 503],
      ['broken', 500],
    ] as const) {
      for (const operation of all) {
        mode = 'well';
        const sent = await good(operation);
        mode = next;
        expect(await ask(operation, sent), `${next} ${operation.address}`).toBe(status);
      }
    }
    mode = 'well';

    const until = async (most: number, request: () => Promise<number>): Promise<number> => {
      for (let count = 0; count < most; count++) if ((await request()) === 429) return 429;
      return 0;
    };
    expect(await until(signInRate + 1, () => send(authenticate, signInBody))).toBe(429);
    expect(await until(failedIntrospections, () => send(introspect, { token: 'x' }, json))).toBe(429);

    const isGateway = (each: string) => all.some(({ address }) => each.includes(` ${address} `));
    expect([...answers.seen].sort()).toEqual([...answers.described].filter(isGateway).sort());
    expect(server.faults).toEqual([]);
  });
});
