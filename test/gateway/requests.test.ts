import fc from 'fast-check';
import { Agent, fetch as ask } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientAddress } from '../../functions/http/client-address.ts';
import { errorSchema, notFoundSchema } from '../../src/contract/errors.ts';
import { anyCharacter } from '../support/any-character.ts';
import { addAccount, post, readJson, startGateway, type TestGateway } from '../support/gateway-session.ts';
import { timesFrom } from '../support/longer-runs.ts';
import { signIn } from '../support/package-manager.ts';
import { openSocket } from '../support/raw-http.ts';

const secret = 's'.repeat(40);
const printable = `${'p'.repeat(32)}!"#$%&'()*+-./:;<=>?@[\\]^_\`{|}~`;
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ GATEWAY_INTROSPECTION_SECRETS: `${secret} ${'t'.repeat(40)} ${printable}` });
  await addAccount(gateway.store, 'alice');
});
afterAll(() => gateway.close());

const bodies = {
  authenticate: { callback: 'sileo://authentication_success', udid: 'u', model: 'm' },
  refresh: { auth_token: 'a', payment_secret: 'b', refresh_token: 'c' },
  revoke: { auth_token: 'a', payment_secret: 'b', refresh_token: 'c' },
};
const paths = Object.keys(bodies) as (keyof typeof bodies)[];

const expectRefusal = async (response: Response, status: number, what: string) => {
  expect(response.status, what).toBe(status);
  expect(response.headers.get('cache-control'), what).toBe('no-store');
  expect(response.headers.get('content-type'), what).toBe('application/json; charset=UTF-8');
  expect(response.headers.get('access-control-allow-origin'), what).toBeNull();
  const body = await response.json();
  expect(Object.keys(errorSchema.parse(body)), what).toEqual(['message', 'error', 'date']);
};

test.each(paths)('T11 /%s takes POST alone', async (path) => {
  for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    const response = await fetch(`${gateway.base}/v2/${path}`, { method });
    expect(response.headers.get('allow')).toBe('POST');
    await expectRefusal(response, 405, method);
  }
  expect((await fetch(`${gateway.base}/v2/${path}`, { method: 'HEAD' })).status).toBe(405);
});

test.each(paths)('T11 /%s takes JSON alone', async (path) => {
  const body = JSON.stringify(bodies[path]);
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/json; charset=latin1',
  ]) {
    await expectRefusal(await post(`${gateway.base}/v2/${path}`, body, { 'Content-Type': type }), 415, type);
  }
  const none = await fetch(`${gateway.base}/v2/${path}`, { method: 'POST', body: new TextEncoder().encode(body) });
  await expectRefusal(none, 415, 'no type');
  for (const type of ['application/json', 'Application/JSON; charset="UTF-8"', 'application/json;charset=utf8']) {
    const { status } = await post(`${gateway.base}/v2/${path}`, body, { 'Content-Type': type });
    expect(status).toBe({ authenticate: 200, refresh: 401, revoke: 200 }[path]);
  }
});

test.each([...paths, 'introspect'])('T11 /%s takes no compressed body', async (path) => {
  for (const coding of ['gzip', 'br', 'x-gzip', 'identity, gzip']) {
    const headers = { 'Content-Encoding': coding, authorization: `Bearer ${secret}` };
    const answer = await post(`${gateway.base}/v2/${path}`, JSON.stringify({ token: 'x' }), headers);
    await expectRefusal(answer, 415, coding);
  }
  const headers = { 'Content-Encoding': 'identity', authorization: `Bearer ${secret}` };
  expect((await post(`${gateway.base}/v2/${path}`, {}, headers)).status).toBe(400);
});

test('T4 bidirectional characters leave the model before a person reads it', async () => {
  const ask = (model: string) => post(`${gateway.base}/v2/authenticate`, { ...bodies.authenticate, model });
  const { auth_url } = await readJson(await ask('iPhone\u202e \u2066gnp.exe'));
  const page = await (await fetch(String(auth_url))).text();
  expect(page).toContain('<dd><bdi>iPhone gnp.exe</bdi></dd>');
  expect(page).not.toMatch(/\p{Bidi_Control}/u);
  await expectRefusal(await ask('\u202e\u2066'), 400, 'nothing visible');
});

test.each(paths)('T11 /%s refuses what is not exactly its fields', async (path) => {
  const good: Record<string, string> = bodies[path];
  const [first = '', ...rest] = Object.keys(good);
  const text = JSON.stringify(good);
  const wrong: Record<string, string> = {
    empty: '',
    'no JSON': '{',
    'two values': `${text}${text}`,
    'not UTF-8': '',
    null: 'null',
    array: `[${text}]`,
    string: '"x"',
    number: '1',
    nothing: '{}',
    missing: JSON.stringify({ ...good, [first]: undefined }),
    'unknown key': JSON.stringify({ ...good, extra: 'x' }),
    'unknown __proto__': `{"__proto__":"x",${text.slice(1)}`,
    'unknown __proto__ object': `{"__proto__":{"x":"y"},${text.slice(1)}`,
    'unknown constructor': JSON.stringify({ ...good, constructor: 'x' }),
    'duplicate key': `{"${first}":"first",${text.slice(1)}`,
    'duplicate escaped key': `{"\\u00${first.charCodeAt(0).toString(16)}${first.slice(1)}":"first",${text.slice(1)}`,
    'duplicate same value': `${text.slice(0, -1)},"${rest[0]}":${JSON.stringify(good[rest[0] ?? ''])}}`,
    'empty string': JSON.stringify({ ...good, [first]: '' }),
    'too long': JSON.stringify({ ...good, [first]: 'x'.repeat(3000) }),
    ...Object.fromEntries(
      [null, 1, true, ['x'], { x: 'y' }].map((value) => [
        `type ${JSON.stringify(value)}`,
        JSON.stringify({ ...good, [first]: value }),
      ]),
    ),
  };
  for (const [what, body] of Object.entries(wrong)) {
    await expectRefusal(await post(`${gateway.base}/v2/${path}`, body), 400, what);
  }
  const latin1 = Buffer.from(text.replace('"', '"\u00e9'), 'latin1');
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(`${gateway.base}/v2/${path}`, { method: 'POST', headers, body: latin1 });
  await expectRefusal(response, 400, 'not UTF-8');
});

test('T11 quotes and escapes inside a value do not look like a repeated field', async () => {
  const body = { callback: 'sileo://authentication_success', udid: 'a"b","udid":"c\\', model: '\\"\\\\"' };
  expect((await post(`${gateway.base}/v2/authenticate`, body)).status).toBe(200);
});

test('T11 control characters in a device are refused', async () => {
  for (const model of ['a\nb', 'a\u0000', '\u001b[2J', 'a\u0085b']) {
    await expectRefusal(await post(`${gateway.base}/v2/authenticate`, { ...bodies.authenticate, model }), 400, model);
  }
});

test.each(paths)('T11 /%s reads at most 8 KiB, announced or not', async (path) => {
  const url = `${gateway.base}/v2/${path}`;
  const body = (size: number) => {
    const text = JSON.stringify(bodies[path]);
    return `${text}${' '.repeat(size - text.length)}`;
  };
  expect((await post(url, body(8192))).status).not.toBe(413);
  await expectRefusal(await post(url, body(8193)), 413, 'announced');
  const stream = new ReadableStream({
    start(controller) {
      for (let part = 0; part < 9; part++) controller.enqueue(new TextEncoder().encode(' '.repeat(1024)));
      controller.close();
    },
  });
  const headers = { 'Content-Type': 'application/json' };
  // Over a connection of its own: what of the body is still on its way when it is refused ends the connection after a while,
  // which whoever asks over it next would meet.
  const alone = new Agent();
  try {
    const request = { method: 'POST', headers, body: stream, duplex: 'half', dispatcher: alone } as const;
    await expectRefusal((await ask(url, request)) as unknown as Response, 413, 'chunked');
  } finally {
    await alone.destroy();
  }
});

test('T11 who hangs up in the middle of a body is no failure in the log', async () => {
  const before = gateway.log.length;
  const types = [
    ['application/json', paths],
    ['application/x-www-form-urlencoded', ['login', 'devices/sign-out', 'devices/leave']],
  ] as const;
  const all = types.flatMap(([type, all]) => all.map((path) => [type, path] as const));
  for (const [type, path] of all) {
    for (const end of ['destroy', 'resetAndDestroy'] as const) {
      const socket = await openSocket(Number(new URL(gateway.base).port));
      const asked = gateway.nextRequest();
      socket.write(`POST /v2/${path} HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nContent-Length: 100\r\n\r\n{`);
      const { closed } = await asked;
      socket[end]();
      // It ends with an error.
      await closed.catch(() => {});
    }
  }
  // What follows is logged after what came before it.
  await post(`${gateway.base}/v2/introspect`, { token: 'x' });
  expect(gateway.log.slice(before).map((line) => JSON.parse(line).event)).toEqual(['introspection-refused']);
});

test('T11 whatever is sent, the answer is never a 5xx', async () => {
  // Not fc.webUrl, which takes two seconds to be made.
  const address = fc
    .tuple(fc.constantFrom('http', 'sileo'), fc.domain(), fc.string({ unit: anyCharacter }))
    .map(([scheme, host, rest]) => `${scheme}://${host}/${encodeURIComponent(rest.toWellFormed())}`);
  const anything = fc.oneof(
    fc.json(),
    fc.string({ unit: anyCharacter }),
    fc
      .record({ auth_token: fc.jsonValue(), payment_secret: fc.jsonValue(), refresh_token: fc.jsonValue() })
      .map((value) => JSON.stringify(value)),
    fc.record({ callback: address, udid: fc.string(), model: fc.string() }).map((value) => JSON.stringify(value)),
    fc
      .record({
        callback: fc.string({ unit: anyCharacter }),
        udid: fc.string({ unit: anyCharacter }),
        model: fc.string({ unit: anyCharacter }),
      })
      .map((value) => JSON.stringify(value)),
  );
  const property = fc.asyncProperty(fc.constantFrom(...paths, 'introspect', 'login'), anything, async (path, body) => {
    const type = path === 'login' ? 'application/x-www-form-urlencoded' : 'application/json';
    const headers = { 'Content-Type': type, authorization: `Bearer ${secret}` };
    const response = await post(`${gateway.base}/v2/${path}`, body, headers);
    await response.text();
    expect(response.status).toBeLessThan(500);
  });
  await fc.assert(property, { numRuns: timesFrom('DEBDEX_TEST_SEQUENCES', 250) });
});

test('T11 any text is an Authorization header', async () => {
  for (const authorization of [
    '',
    'Bearer',
    'Bearer ',
    'Basic eDp5',
    'Bearer a b',
    `Bearer ${'x'.repeat(4000)}`,
    'Bearer \u00e9',
    'bearer 1,2',
  ]) {
    const response = await fetch(`${gateway.base}/v2/account`, { headers: { authorization } });
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer realm="gateway"/);
    await expectRefusal(response, 401, authorization);
  }
});

test('T11 X-Forwarded-For is believed only behind a configured number of proxies', () => {
  const seen = (header: string | undefined, proxies: number) => clientAddress('10.0.0.9', header, proxies);
  expect(seen('1.1.1.1', 0)).toBe('10.0.0.9');
  expect(seen(undefined, 1)).toBe('10.0.0.9');
  expect(seen('1.1.1.1', 1)).toBe('1.1.1.1');
  // The client's own inventions stand to the left of what our proxies wrote.
  expect(seen('6.6.6.6, 1.1.1.1', 1)).toBe('1.1.1.1');
  expect(seen('6.6.6.6, 1.1.1.1, 10.0.0.8', 2)).toBe('1.1.1.1');
  expect(seen('1.1.1.1', 3)).toBe('10.0.0.9');
});

test('T11 a forged X-Forwarded-For does not get around the throttle', async () => {
  const { BrowserSession } = await import('../support/browser-session.ts');
  const statuses: number[] = [];
  for (let guess = 0; guess < 7; guess++) {
    const browser = new BrowserSession();
    const page = await browser.open(`${gateway.base}/v2/login`);
    const headers = { 'x-forwarded-for': `203.0.113.${guess}` };
    statuses.push((await browser.submit(page, { name: 'nobody', password: 'x' }, { headers })).status);
  }
  expect(statuses).toEqual([403, 403, 403, 403, 403, 429, 429]);
});

test('account answers who is signed in, HEAD alike without the body', async () => {
  const { auth_token } = await signIn(gateway.base, 'alice');
  const headers = { authorization: `Bearer ${auth_token}` };
  const response = await fetch(`${gateway.base}/v2/account`, { headers });
  expect(response.status).toBe(200);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(await response.json()).toEqual({
    message: '200 Successful',
    date: expect.any(String),
    data: {
      name: 'alice',
      display_name: 'alice',
      device: { model: 'iPhone12,1', signed_in: expect.any(String) },
      expires: new Date(gateway.now() + 3_600_000).toISOString(),
    },
  });
  const head = await fetch(`${gateway.base}/v2/account`, { method: 'HEAD', headers });
  expect(head.status).toBe(200);
  expect(await head.text()).toBe('');
});

test('introspect tells a server that holds a secret whether a token is live', async () => {
  const { auth_token } = await signIn(gateway.base, 'alice');
  const ask = (token: string, held: string) =>
    post(`${gateway.base}/v2/introspect`, { token }, { authorization: `Bearer ${held}` });
  for (const held of [secret, 't'.repeat(40), printable]) {
    expect(await readJson(await ask(auth_token, held))).toMatchObject({
      active: true,
      username: 'alice',
      exp: expect.any(Number),
    });
  }
  expect(await readJson(await ask('unknown', secret))).toEqual({ active: false });
  await expectRefusal(await ask(auth_token, 'x'.repeat(40)), 401, 'wrong secret');
  await expectRefusal(await post(`${gateway.base}/v2/introspect`, { token: auth_token }), 401, 'no secret');
  gateway.advance(3_600_000);
  expect(await readJson(await ask(auth_token, secret))).toEqual({ active: false });
  gateway.advance(-3_600_000);
});

test('T11 failed introspection is logged and throttled, and never keeps a right secret out', async () => {
  const watched = await startGateway({ GATEWAY_INTROSPECTION_SECRETS: secret });
  const ask = (held: string) =>
    post(`${watched.base}/v2/introspect`, { token: 'x' }, { authorization: `Bearer ${held}` });
  for (let guess = 0; guess < 10; guess++) await expectRefusal(await ask('x'.repeat(40)), 401, 'wrong secret');
  for (let guess = 0; guess < 10; guess++) {
    const throttled = await ask('x'.repeat(40));
    expect(throttled.headers.get('retry-after')).toBe('900');
    await expectRefusal(throttled, 429, 'one too many');
  }
  expect(watched.log.map((line) => JSON.parse(line))).toEqual(
    Array(10).fill(expect.objectContaining({ event: 'introspection-refused', address: '127.0.0.1' })),
  );
  expect((await ask(secret)).status).toBe(200);
  watched.advance(900_000);
  await expectRefusal(await ask('x'.repeat(40)), 401, 'a new window');
  await watched.close();
});

test('introspect does not exist without a configured secret', async () => {
  const plain = await startGateway();
  const response = await post(`${plain.base}/v2/introspect`, { token: 'x' }, { authorization: `Bearer ${secret}` });
  expect(response.status).toBe(404);
  notFoundSchema.parse(await response.json());
  await plain.close();
});
