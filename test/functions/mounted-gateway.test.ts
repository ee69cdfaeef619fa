import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Bindings } from '../../functions/environment.ts';
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
  server = await startTestServer({ trustedProxies: 1, overrides: { gateway: gateway as unknown as Hono } });
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
