import { Hono } from 'hono';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createBrowserCookies } from '../../functions/gateway/browser-cookies.ts';
import type { GatewaySettings } from '../../functions/gateway/gateway-deps.ts';
import { createNodeCryptography } from '../../functions/gateway/node/node-cryptography.ts';
import { createNodePasswords } from '../../functions/gateway/node/node-passwords.ts';
import { countSignInAttempt } from '../../functions/gateway/throttle.ts';
import { BrowserSession, type Page } from '../support/browser-session.ts';
import {
  addAccount,
  password,
  post,
  readJson,
  startGateway,
  type TestGateway,
  weakCost,
} from '../support/gateway-session.ts';

import { issue, openProtocol } from '../support/issue.ts';

const minute = 60_000;
const site = 'https://gateway.example';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ PUBLIC_ADDRESS: site, TRUSTED_PROXIES: '1' });
  await addAccount(gateway.store, 'alice');
});
afterAll(() => gateway.close());

const newAuthUrl = async (model = 'iPhone12,1') => {
  const response = await post(`${gateway.base}/v2/authenticate`, {
    callback: 'sileo://authentication_success',
    udid: 'u',
    model,
  });
  return (await readJson(response)).auth_url ?? '';
};
const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });

test('T4 the page has strict headers', async () => {
  const page = await new BrowserSession(gateway.base).open(await newAuthUrl());
  expect(page.status).toBe(200);
  const style = /<style>([\s\S]*)<\/style>/.exec(page.text)?.[1] ?? '';
  const hash = Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(style))).toString('base64');
  expect(page.headers.get('content-security-policy')).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self' sileo:; frame-ancestors 'none'; base-uri 'none'`,
  );
  expect(page.headers.get('x-frame-options')).toBe('DENY');
  expect(page.headers.get('cross-origin-opener-policy')).toBe('same-origin');
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect(page.headers.get('x-content-type-options')).toBe('nosniff');
  expect(page.headers.get('content-type')).toBe('text/html; charset=UTF-8');
  expect(page.headers.get('access-control-allow-origin')).toBeNull();
  // No resource of anybody: nothing to load at all, and no script.
  expect(page.text).not.toMatch(/<(script|img|link|iframe|object|embed|audio|video)|url\(|@import|\son\w+=|style="/i);
});

test('T4 every cookie is Secure, HttpOnly, SameSite and of this host alone, and lives as long as it is good for', async () => {
  const browser = new BrowserSession(gateway.base);
  const page = await browser.open(await newAuthUrl());
  const done = await browser.submit(page, { name: 'alice', password }, from('192.0.2.1'));
  const cookies = [...page.headers.getSetCookie(), ...done.headers.getSetCookie()];
  expect(cookies.length).toBeGreaterThanOrEqual(2);
  for (const cookie of cookies) {
    expect(cookie).toMatch(/^__Host-gateway-(form|browser)=[\w-]{43};/);
    expect(cookie).toMatch(/; Path=\/(;|$)/);
    expect(cookie).toMatch(/; HttpOnly(;|$)/);
    expect(cookie).toMatch(/; Secure(;|$)/);
    expect(cookie).toMatch(/; SameSite=Lax(;|$)/);
    expect(cookie).not.toMatch(/Domain/i);
  }
  const lives = cookies.map((cookie) => /gateway-(\w+)=.*?(?:; Max-Age=(\d+)|$)/.exec(cookie)?.slice(1));
  // The first is gone with the browser's session; the second is good for 180 days.
  expect(lives).toEqual([
    ['form', undefined],
    ['browser', '15552000'],
  ]);
});

test('T4 services below paths of one host have cookies of their own, which no other host can set', async () => {
  const setBy = async (publicAddress: string) => {
    const settings = { publicAddress } as GatewaySettings;
    const { browser } = createBrowserCookies({ settings, cryptography: createNodeCryptography() });
    const app = new Hono();
    app.get('*', (c) => {
      const known = browser.read(c);
      browser.write(c, `of ${publicAddress}`);
      return c.text(known);
    });
    const response = await app.request('/');
    const [name = ''] = (response.headers.get('set-cookie') ?? '').split('=');
    return { name, read: async (cookie: string) => (await app.request('/', { headers: { cookie } })).text() };
  };
  const [one, other, root, same] = await Promise.all(
    ['https://x.example/one', 'https://x.example/other', 'https://x.example', 'https://x.example/one/'].map(setBy),
  );
  expect(root?.name).toBe('__Host-gateway-browser');
  expect(one?.name).toMatch(/^__Host-gateway-browser-[0-9a-f]{8}$/);
  expect(same?.name).toBe(one?.name);
  expect(new Set([one?.name, other?.name, root?.name]).size).toBe(3);
  const both = `${one?.name}=1; ${other?.name}=2; ${root?.name}=3`;
  expect([await one?.read(both), await other?.read(both), await root?.read(both)]).toEqual(['1', '2', '3']);
  expect((await setBy('http://localhost:1/one')).name).toMatch(/^gateway-browser-[0-9a-f]{8}$/);
});

test('T4 a completed login is a 303 that nobody keeps or refers to', async () => {
  const browser = new BrowserSession(gateway.base);
  const done = await browser.submit(
    await browser.open(await newAuthUrl()),
    { name: 'alice', password },
    from('192.0.2.1'),
  );
  expect(done.status).toBe(303);
  expect(done.location).toMatch(/^sileo:\/\/authentication_success\?auth_token=/);
  expect(done.headers.get('cache-control')).toBe('no-store');
  expect(done.headers.get('referrer-policy')).toBe('no-referrer');
  expect(done.text).toBe('');
});

test('T4 a form without this browser’s token, or sent by another site, is refused', async () => {
  const authUrl = await newAuthUrl();
  const browser = new BrowserSession(gateway.base);
  const page = await browser.open(authUrl);
  const fields = { name: 'alice', password };
  const attempts: Promise<Page>[] = [
    browser.submit(page, { ...fields, csrf: '' }),
    browser.submit(page, { ...fields, csrf: 'f'.repeat(64) }),
    // The token of one browser in another one, with and without a cookie of its own.
    new BrowserSession(gateway.base).submit(page, fields),
    browser.submit(page, fields, { headers: { cookie: `__Host-gateway-form=${'A'.repeat(43)}` } }),
    new BrowserSession(gateway.base).submit(page, fields, { headers: { cookie: '__Host-gateway-form=' } }),
    browser.submit(page, fields, { headers: { 'sec-fetch-site': 'cross-site' } }),
    browser.submit(page, fields, { headers: { 'sec-fetch-site': 'same-site' } }),
    browser.submit(page, fields, { headers: { origin: 'https://evil.example' } }),
  ];
  for (const [index, attempt] of attempts.entries()) {
    const answer = await attempt;
    expect(answer.status, `attempt ${index}`).toBe(403);
    expect(answer.location).toBeUndefined();
  }
  // The handle is still good, and browsers send `null` for a page without a referrer.
  // So is what a person opens again by themselves, as with the address in a new window.
  const own = { origin: 'null', 'sec-fetch-site': 'none' };
  expect((await browser.submit(page, fields, { headers: own })).status).toBe(303);
});

test('T4 names and passwords are the same however a keyboard composes their letters', async () => {
  const typed = ' Crème brûlée ﬁn';
  const passwordHash = await createNodePasswords(1, weakCost).hash(typed.normalize('NFC'));
  await gateway.store.addAccount({ id: 'zoë', name: 'zoë'.normalize('NFKC'), displayName: 'Zoë', passwordHash });
  for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD'] as const) {
    const browser = new BrowserSession(gateway.base);
    const fields = { name: 'Zoë'.normalize(form), password: typed.normalize(form) };
    expect((await browser.submit(await browser.open(await newAuthUrl()), fields)).status, form).toBe(303);
    // A blank before it is typed on purpose.
    const other = { ...fields, password: fields.password.trim() };
    expect((await browser.submit(await browser.open(await newAuthUrl()), other)).status, form).toBe(403);
  }
});

test('T4 a form that is too old comes back to be sent again, and a browser that keeps no cookies is told so', async () => {
  const browser = new BrowserSession(gateway.base);
  const old = await browser.open(await newAuthUrl());
  const fields = { name: 'alice', password };
  const again = await browser.submit(old, { ...fields, csrf: 'f'.repeat(64) });
  expect(again.text).toContain('did not come from this browser. Please try again.');
  expect(again.text).not.toContain('required aria-invalid="true"');
  expect((await browser.submit(again, fields, from('192.0.2.3'))).location).toMatch(/^sileo:/);

  const page = await new BrowserSession(gateway.base).open(await newAuthUrl());
  const without = await new BrowserSession(gateway.base).submit(page, fields);
  expect(without.status).toBe(403);
  expect(without.text).toContain('kept no cookie of this site');
  // Another site must not have somebody's browser take a new one.
  const foreign = { headers: { 'sec-fetch-site': 'cross-site' } };
  expect((await new BrowserSession(gateway.base).submit(page, fields, foreign)).headers.getSetCookie()).toEqual([]);
});

test('T4 the form takes no JSON, no more than 8 KiB and no other method', async () => {
  expect((await post(`${gateway.base}/v2/login`, {})).status).toBe(415);
  const browser = new BrowserSession(gateway.base);
  const page = await browser.open(await newAuthUrl());
  expect((await browser.submit(page, { name: 'x'.repeat(9000) })).status).toBe(413);
  const put = await fetch(`${gateway.base}/v2/login`, { method: 'PUT' });
  expect(put.status).toBe(405);
  expect(put.headers.get('allow')).toBe('GET, HEAD, POST');
});

test('T4 an unknown account, a disabled one and a wrong password get the same answer', async () => {
  await addAccount(gateway.store, 'disabled');
  await gateway.store.setDisabled('disabled', true);
  const answers: string[] = [];
  for (const [name, typed] of [
    ['alice', 'wrong'],
    ['nobody', 'wrong'],
    ['nobody', password],
    ['disabled', password],
    ['not a name!', password],
  ] as const) {
    const browser = new BrowserSession(gateway.base);
    const page = await browser.open(await newAuthUrl());
    const answer = await browser.submit(page, { name, password: typed }, from('192.0.2.2'));
    expect(answer.status, name).toBe(403);
    const same = answer.text.replace(/value="[^"]*"/g, 'value=""').replaceAll(name, 'NAME');
    answers.push([...answer.headers.keys()].sort().join() + same);
  }
  expect(new Set(answers).size).toBe(1);
});

test('T4 an unknown account costs one password check at full price, like a wrong password', async () => {
  const costs: unknown[] = [];
  const { createPasswords } = await import('../../functions/gateway/passwords.ts');
  const passwords = createPasswords({
    scrypt: async (_password, salt, length, cost) => {
      costs.push({ cost, salt: salt.length, length });
      return new Uint8Array(length);
    },
    salt: () => new Uint8Array(16),
    equal: () => true,
    cost: weakCost,
    places: { parallel: 1, waiting: 1, each: 1 },
  });
  const hash = await passwords.hash('x');
  expect(await passwords.verify('x', hash)).toBe(true);
  // Even where the key would fit, want of an account is a refusal.
  expect(await passwords.verify('x', undefined)).toBe(false);
  expect(costs[1]).toEqual(costs[2]);
});

test('T4 guessing is throttled for the account and address without locking others out', async () => {
  await addAccount(gateway.store, 'bob');
  await addAccount(gateway.store, 'carol');
  const attempt = async (name: string, typed: string, address: string, browser = new BrowserSession(gateway.base)) =>
    browser.submit(await browser.open(await newAuthUrl()), { name, password: typed }, from(address));
  const own = new BrowserSession(gateway.base);
  expect((await attempt('bob', password, '198.51.100.7', own)).status).toBe(303);

  for (let guess = 0; guess < 5; guess++) expect((await attempt('bob', 'guess', '198.51.100.7')).status).toBe(403);
  const throttled = await attempt('bob', password, '198.51.100.7');
  expect(throttled.status).toBe(429);
  expect(Number(throttled.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(throttled.text).toContain('Too many attempts');
  expect(throttled.text).toMatch(/role="alert"/);

  // Bob elsewhere, bob in his own browser at that very address, and carol at that address are not kept out.
  expect((await attempt('bob', password, '198.51.100.8')).status).toBe(303);
  expect((await attempt('bob', password, '198.51.100.7', own)).status).toBe(303);
  expect((await attempt('carol', password, '198.51.100.7')).status).toBe(303);

  gateway.advance(15 * minute);
  expect((await attempt('bob', password, '198.51.100.7')).status).toBe(303);
});

test('T4 one address that guesses at many accounts is throttled, and so are many addresses at one account', async () => {
  const attempt = async (name: string, address: string) => {
    const browser = new BrowserSession(gateway.base);
    return (await browser.submit(await browser.open(await newAuthUrl()), { name, password }, from(address))).status;
  };
  // Who guesses types into the page that is open already.
  const guessing = new BrowserSession(gateway.base);
  let page = await guessing.open(await newAuthUrl());
  const guessAt = async (name: string, address: string) => {
    page = await guessing.submit(page, { name, password: 'guess' }, from(address));
    return page.status;
  };
  // What most of the guesses come to, without the page; the first and the last of them are typed.
  const deps = { store: gateway.store, cryptography: createNodeCryptography() };
  const countGuess = (name: string, address: string) =>
    countSignInAttempt(deps, { name, address, knownBrowser: undefined });
  await addAccount(gateway.store, 'dave');
  await addAccount(gateway.store, 'erin');
  expect(await guessAt('name0', '203.0.113.1')).toBe(403);
  for (let guess = 1; guess < 49; guess++) await countGuess(`name${guess}`, '203.0.113.1');
  expect(await guessAt('name49', '203.0.113.1')).toBe(403);
  expect(await attempt('dave', '203.0.113.1')).toBe(429);
  expect(await attempt('dave', '203.0.113.2')).toBe(303);

  expect(await guessAt('erin', '2001:db8:0::1')).toBe(403);
  for (let guess = 1; guess < 99; guess++) await countGuess('erin', `2001:db8:${guess}::1`);
  expect(await guessAt('erin', '2001:db8:99::1')).toBe(403);
  expect(await attempt('erin', '2001:db8:ffff::1')).toBe(429);
  gateway.advance(60 * minute);
  expect(await attempt('erin', '2001:db8:ffff::1')).toBe(303);
});

test('T4 guesses sent at once are throttled as if they came one by one', async () => {
  await addAccount(gateway.store, 'frank');
  const browser = new BrowserSession(gateway.base);
  const page = await browser.open(await newAuthUrl());
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => browser.submit(page, { name: 'frank', password: 'guess' }, from('203.0.113.9'))),
  );
  expect(answers.filter(({ status }) => status === 403)).toHaveLength(5);
  // The others are too many, or more than may wait.
  expect(answers.filter(({ status }) => status !== 429 && status !== 503)).toHaveLength(5);
});

test('T4 a flood of logins is turned away beyond its queue', async () => {
  const slow = createNodePasswords(1, weakCost);
  const hash = await slow.hash('x');
  const results = await Promise.allSettled(Array.from({ length: 60 }, () => slow.verify('x', hash)));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(33);
  for (const result of results) {
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ status: 503 });
  }
  expect(await slow.verify('x', hash)).toBe(true);
});

test('T4 who finds the places filled only when counted counts for their network and not for the account', async () => {
  const flooded = await startGateway(
    { TRUSTED_PROXIES: '1', GATEWAY_PASSWORD_CHECKS: '1' },
    { passwordCost: { n: 2 ** 15, r: 8, p: 1 } },
  );
  await addAccount(flooded.store, 'alice');
  const returned = vi.spyOn(flooded.store, 'returnAttempts');
  // All of them have found room before the first takes any.
  let counting = 0;
  let goOn: () => void = () => {};
  const all = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const count = flooded.store.countAttempts;
  vi.spyOn(flooded.store, 'countAttempts').mockImplementation(async (attempts) => {
    const wait = await count(attempts);
    if (++counting === 18) goOn();
    await all;
    return wait;
  });
  const browser = new BrowserSession();
  const page = await browser.open(`${flooded.base}/v2/login`);
  const guess = (_: unknown, place: number) =>
    browser.submit(page, { name: 'mallory', password: 'x' }, from(`2001:db8:0:${(place * 256).toString(16)}::1`));
  const answers = await Promise.all(Array.from({ length: 18 }, guess));
  const away = answers.filter(({ status }) => status === 503);
  expect(away.length).toBeGreaterThan(0);
  expect(returned.mock.calls.map(([keys]) => keys.length)).toEqual(away.map(() => 1));
  await flooded.close();
});

test('T4 refreshes are answered while a flood of logins is still at its password checks', async () => {
  const flooded = await startGateway({ GATEWAY_PASSWORD_CHECKS: '1' }, { passwordCost: { n: 2 ** 14, r: 8, p: 1 } });
  const accountId = await addAccount(flooded.store, 'alice');
  const sets = await Promise.all(Array.from({ length: 2 }, () => issue(openProtocol(flooded.store), accountId)));
  flooded.advance(60 * minute);
  let checked = 0;
  const logins = Array.from({ length: 6 }, async (_, index) => {
    const browser = new BrowserSession();
    const page = await browser.open(`${flooded.base}/v2/login`);
    await browser.submit(page, { name: `name${index}`, password: 'x' });
    checked++;
  });
  for (const set of sets) expect((await post(`${flooded.base}/v2/refresh`, set)).status).toBe(200);
  expect(checked).toBeLessThan(logins.length);
  await Promise.all(logins);
  await flooded.close();
});

test('the page says who asks and for which device, and everything foreign is inert', async () => {
  const model = '<img src=x onerror=alert(1)>"\'&';
  const browser = new BrowserSession(gateway.base);
  const page = await browser.open(await newAuthUrl(model));
  expect(page.text).toContain('<dt>Asked by</dt><dd>Sileo, Zebra or Saily</dd>');
  expect(page.text).toContain('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;');
  expect(page.text).not.toContain('<img');
  const wrong = await browser.submit(page, { name: '"><script>x', password: 'p' }, from('192.0.2.77'));
  expect(wrong.text).not.toContain('<script');
  expect(wrong.text).toContain('role="alert"');
  expect(wrong.text).toContain('<title>Error: Sign in');
  for (const id of ['name', 'password'])
    expect(wrong.text).toMatch(new RegExp(`<label for="${id}">[\\s\\S]*<input id="${id}"`));
});

test('without any account the page says so and how to add one', async () => {
  const empty = await startGateway();
  const page = await new BrowserSession().open(`${empty.base}/v2/login`);
  expect(page.status).toBe(200);
  expect(page.text).toContain('No account exists yet');
  expect(page.text).toContain('npm run accounts -- add NAME');
  await empty.close();
});
