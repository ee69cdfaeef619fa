import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Bindings } from '../../functions/environment.ts';
import { exchangeParsed } from '../support/raw-http.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

let server: TestServer;
let plain: TestServer;
beforeAll(async () => {
  const gateway = new Hono<{ Bindings: Bindings }>();
  // Everything here that concerns more than its own addresses must stay without effect.
  gateway.use('*', async (context, next) => {
    await next();
    context.header('X-Gateway', 'was here');
    context.header('Access-Control-Allow-Origin', '*');
    context.header('Access-Control-Allow-Credentials', 'true');
    context.header('Cache-Control', 'public, max-age=3600');
  });
  gateway.post('/authenticate', async (context) =>
    context.json({ read: await context.req.json(), from: context.env.clientAddress }),
  );
  gateway.post('/refresh', (context) => context.json({ error: 'expired' }, 401, { 'WWW-Authenticate': 'Bearer' }));
  gateway.get('/login', (context) => context.redirect('https://app.test/?a=b', 303));
  gateway.get('/login/cookies', (context) => {
    context.header('Set-Cookie', 'a=1; HttpOnly', { append: true });
    context.header('Set-Cookie', 'b=2; HttpOnly', { append: true });
    return context.body(null, 204);
  });
  gateway.get('/account', () => {
    throw new Error('secret of the gateway');
  });
  gateway.all('/jailbreak/package/:id', (context) => context.text('stolen'));
  gateway.all('/healthz', (context) => context.text('stolen'));
  gateway.all('/index.json', (context) => context.text('stolen'));
  gateway.all('/openapi.json', (context) => context.text('stolen'));
  gateway.all('/:anything', (context) => context.text('stolen'));
  gateway.all('*', (context) => context.text('stolen'));
  server = await startTestServer({
    trustedProxies: 1,
    basePath: () => '/below',
    overrides: { gateway: gateway as unknown as Hono },
  });
  plain = await startTestServer();
});
afterAll(async () => {
  await server.close();
  await plain.close();
});

const ask = (target: string, init: RequestInit = {}) => fetch(server.address + target, { redirect: 'manual', ...init });

const expectSealed = (answer: Response) => {
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
};

describe('a mounted gateway', () => {
  it('answers its addresses, with the body and the client of the request', async () => {
    const answer = await ask('/v2/authenticate', {
      method: 'POST',
      body: '{"udid":"x"}',
      headers: { 'x-forwarded-for': '203.0.113.9', 'content-type': 'application/json' },
    });
    expect(await answer.json()).toEqual({ read: { udid: 'x' }, from: '203.0.113.9' });
    expectSealed(answer);
    expect(answer.headers.get('x-gateway')).toBe('was here');
  });

  it('keeps its statuses, redirects and cookies', async () => {
    const refused = await ask('/v2/refresh', { method: 'POST' });
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expectSealed(refused);
    const moved = await ask('/v2/login');
    expect([moved.status, moved.headers.get('location')]).toEqual([303, 'https://app.test/?a=b']);
    expectSealed(moved);
    const cookies = await ask('/v2/login/cookies');
    expect(cookies.headers.getSetCookie()).toEqual(['a=1; HttpOnly', 'b=2; HttpOnly']);
    expectSealed(cookies);
  });

  it('tells nothing of a fault, which is reported', async () => {
    const answer = await ask('/v2/account');
    expect([answer.status, Object.keys((await answer.json()) as object)]).toEqual([500, ['message', 'error', 'date']]);
    expectSealed(answer);
    expect(server.faults.map(String)).toEqual(['Error: secret of the gateway']);
  });

  it.each(['/v2/authenticate/%ff', '/v2/login//x', '/v2/login/%00'])(
    'H3 %s is refused without opening it',
    async (target) => {
      const answer = await ask(target);
      expect(answer.status).toBe(400);
      expectSealed(answer);
    },
  );

  it('answers a preflight of another site as anything else', async () => {
    expectSealed(await ask('/v2/authenticate', { method: 'OPTIONS', headers: { origin: 'https://other.test' } }));
  });

  it.each([
    ['two hosts', 400, (target: string) => `GET ${target} HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`],
    ['no HTTP', 400, (target: string) => `GET ${target} HTTP/1.1\r\nHost: a\r\nX: \x01\r\n\r\n`],
    ['a long address', 414, (target: string) => `GET ${target}?${'a'.repeat(80_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['large headers', 431, (target: string) => `GET ${target} HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(33_000)}\r\n\r\n`],
    [
      'an unread coding',
      501,
      (target: string) => `POST ${target} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x, chunked\r\n\r\n`,
    ],
  ])('is not opened where a request is refused before it is asked: %s', async (_what, status, compose) => {
    const told = async (at: TestServer, target: string) => {
      const { status, headers } = await exchangeParsed(Number(new URL(at.address).port), compose(target));
      return [status, headers['access-control-allow-origin'], headers['cache-control']];
    };
    for (const target of ['/v2/login', '/v2/login/openid', '/v2/log%69n', 'http://a/v2/revoke', '/below/v2/devices']) {
      expect(await told(server, target), target).toEqual([status, undefined, 'no-store']);
    }
    for (const target of ['/v2/', '/v2/jailbreak/package/x', '/v2/logins', '/login']) {
      expect(await told(server, target), target).toEqual([status, '*', 'no-store']);
    }
  });

  it('is not opened where a client has too many requests under way', async () => {
    const busy = await startTestServer({ limits: { clientRequests: 0 } });
    const refused = await fetch(`${busy.address}/v2/login`);
    expect(refused.status).toBe(429);
    expectSealed(refused);
    const open = await fetch(`${busy.address}/v2/jailbreak/package/none`);
    expect([open.status, open.headers.get('access-control-expose-headers')]).toEqual([429, 'Retry-After']);
    await busy.close();
  });

  it('is not reached without the root', async () => {
    expect((await ask('/authenticate', { method: 'POST' })).status).toBe(405);
    expect((await ask('/login')).status).toBe(404);
  });

  it('cannot touch the read API', async () => {
    for (const target of [
      '/v2/',
      '/v2',
      '/v2/index.json',
      '/v2/openapi.json',
      '/v2/healthz',
      '/v2/jailbreak/package/com.example.one',
      '/v2/jailbreak/package/none',
      '/v2/jailbreak/package/search?q=com',
      '/v2/jailbreak/repository/ranking?rank=*',
      '/v2/unknown',
      '/v2/jailbreak/package/%ff',
      '/',
      '/privacy/',
    ]) {
      const [answer, expected] = await Promise.all([ask(target), fetch(plain.address + target)]);
      const told = (text: string) => text.replace(/"date":"[^"]+"/, '');
      expect([answer.status, told(await answer.text())], target).toEqual([
        expected.status,
        told(await expected.text()),
      ]);
      const fields = (headers: Headers) =>
        [...headers].filter(([name]) => !['date', 'content-length', 'x-request-id'].includes(name));
      expect(fields(answer.headers), target).toEqual(fields(expected.headers));
    }
  });
});
