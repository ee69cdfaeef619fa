import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { openWorkerGateway } from '../../functions/gateway/workers/open-worker-gateway.ts';
import { BrowserSession, type Page } from '../support/browser-session.ts';
import { addAccount, startGateway, type TestGateway } from '../support/gateway-session.ts';
import { type OpenIdProvider, openIdClient, startOpenIdProvider } from '../support/openid-provider.ts';
import { authenticate, PackageManager } from '../support/package-manager.ts';

// The redirect address has to be known to the provider before the gateway has a port: the browser stands in for DNS.
const site = 'http://gateway.test';
let provider: OpenIdProvider;
let gateway: TestGateway;

/** A gateway whose accounts come from a provider. */
const openGateway = ({ issuer }: OpenIdProvider, more: Readonly<Record<string, string>> = {}): Promise<TestGateway> =>
  startGateway(
    {
      PUBLIC_ADDRESS: site,
      GATEWAY_OIDC_ISSUER: issuer,
      GATEWAY_OIDC_CLIENT_ID: openIdClient.id,
      GATEWAY_OIDC_CLIENT_SECRET: openIdClient.secret,
      ...more,
    },
    { now: Date.now() },
  );

beforeAll(async () => {
  provider = await startOpenIdProvider(`${site}/v2/login/callback`);
  gateway = await openGateway(provider, { GATEWAY_OIDC_NAME: 'Example ID' });
});
afterAll(async () => {
  await gateway.close();
  await provider.close();
});
afterEach(() => {
  provider.subject = 'subject-1';
  provider.claims = {};
});

/** A browser for two sites: the gateway behind its name, and the provider. */
const newBrowser = (base = gateway.base) => {
  const own = new BrowserSession(base);
  const foreign = new BrowserSession();
  return {
    own,
    /** Opens an address and follows redirects until a page, or an address that is no web page, or `until`. */
    follow: async (address: string, until = /^$/): Promise<Page> => {
      let page = await (new URL(address).origin === site ? own : foreign).open(address);
      for (let hop = 0; hop < 12 && page.location !== undefined; hop++) {
        const next = new URL(page.location, page.address);
        if (!next.protocol.startsWith('http') || until.test(next.href)) return page;
        page = await (next.origin === site ? own : foreign).open(next.href);
      }
      return page;
    },
  };
};
const startLink = (page: Page) => {
  const link = /<a class="button quiet" href="([^"]+)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  return new URL(link, page.address).href;
};

test('the addresses of the detour to the provider name the methods that they take', async () => {
  const rows = { openid: ['GET, HEAD', 'POST', 'PUT'], callback: ['GET', 'POST', 'PUT', 'HEAD'] };
  for (const [address, [allow, ...methods]] of Object.entries(rows)) {
    for (const method of methods) {
      const answer = await fetch(`${gateway.base}/v2/login/${address}`, { method });
      expect([answer.status, answer.headers.get('allow')], `${method} ${address}`).toEqual([405, allow]);
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
  }
});

test('the login page offers the provider, and signing in there ends at the callback', async () => {
  const { own, follow } = newBrowser();
  const page = await own.open(await authenticate(gateway.base));
  expect(page.text).toContain('Continue with <bdi>Example ID</bdi>');
  const start = await own.open(startLink(page));
  expect(start.status).toBe(303);
  expect(start.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^gateway-openid=[^;]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/),
  ]);
  const authorization = new URL(start.location ?? '').searchParams;
  expect(authorization.get('code_challenge_method')).toBe('S256');
  for (const name of ['code_challenge', 'state', 'nonce']) expect(authorization.get(name)).toMatch(/^[\w-]{43}$/);

  const returning = await follow(startLink(page), /\/v2\/login\/callback/);
  const address = returning.location ?? '';
  // Looking at the address alone uses nothing up.
  const cookie = [...own.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const { pathname, search } = new URL(address);
  const looked = await fetch(gateway.base + pathname + search, {
    method: 'HEAD',
    headers: { cookie },
    redirect: 'manual',
  });
  expect([looked.status, looked.headers.getSetCookie()]).toEqual([405, []]);
  const done = await own.open(address);
  expect(done.status).toBe(303);
  const client = new PackageManager(gateway.base);
  client.callback(done.location);
  expect(await client.request()).toBe(200);
  const headers = { authorization: `Bearer ${client.credentials?.auth_token}` };
  const account = await (await fetch(`${gateway.base}/v2/account`, { headers })).json();
  expect(account).toMatchObject({
    data: { name: `${new URL(provider.issuer).host}:subject-1`, display_name: 'subject-1 <b>by name</b>' },
  });
});

test('T4 the same subject is the same account, another one is not', async () => {
  const signIn = async (subject: string) => {
    provider.subject = subject;
    const { own, follow } = newBrowser();
    return follow(startLink(await own.open(await authenticate(gateway.base))));
  };
  for (const subject of ['twice', 'twice', 'once']) expect((await signIn(subject)).location).toMatch(/^sileo:/);
  const accounts = await gateway.store.listAccounts();
  const host = new URL(provider.issuer).host;
  expect(accounts).toContainEqual(expect.objectContaining({ name: `${host}:twice`, devices: 2 }));
  expect(accounts).toContainEqual(expect.objectContaining({ name: `${host}:once`, devices: 1 }));

  await gateway.store.setDisabled(`${host}:once`, true);
  const refused = await signIn('once');
  expect(refused.status).toBe(403);
  expect(refused.text).toContain('This account is disabled.');
});

test('T4 a name of the provider is no name of the embedded store', async () => {
  await addAccount(gateway.store, 'subject-1');
  const { own, follow } = newBrowser();
  await follow(startLink(await own.open(await authenticate(gateway.base))));
  expect(await gateway.store.listDevices((await gateway.store.findAccount('subject-1'))?.id ?? '')).toEqual([]);
});

test('it also leads to the devices page', async () => {
  const { own, follow } = newBrowser();
  const page = await follow(startLink(await own.open(`${site}/v2/login`)));
  expect(page.status).toBe(200);
  expect(page.address).toBe(`${site}/v2/devices`);
  expect(page.text).toContain('subject-1 &lt;b&gt;by name&lt;/b&gt;');
});

test('T4 nobody is asked for a password where every account is of the provider', async () => {
  const empty = await openGateway(provider);
  const askedFor = async () => (await newBrowser(empty.base).own.open(`${site}/v2/login`)).text.includes('"password"');
  const { own, follow } = newBrowser(empty.base);
  await follow(startLink(await own.open(`${site}/v2/login`)));
  expect(await empty.store.listAccounts()).toHaveLength(1);
  expect(await askedFor()).toBe(false);
  await addAccount(empty.store, 'alice');
  expect(await askedFor()).toBe(true);
  await empty.close();
});

test('T4 a refusal at the provider is a message on the page', async () => {
  provider.subject = undefined;
  const { own, follow } = newBrowser();
  const page = await follow(startLink(await own.open(await authenticate(gateway.base))));
  expect(page.status).toBe(403);
  expect(page.text).toContain('Example ID did not confirm the sign-in.');
  expect(page.text).toContain('role="alert"');
  // Nothing is lost by it: the page leads there again, for the same application.
  provider.subject = 'subject-1';
  expect((await follow(startLink(page))).location).toMatch(/^sileo:/);
});

test('T3 the way back works once, in the browser that started, with the state that was given', async () => {
  const { own, follow } = newBrowser();
  const page = await own.open(await authenticate(gateway.base));
  const before = await follow(startLink(page), /\/v2\/login\/callback\?/);
  const back = before.location ?? '';
  expect(back).toMatch(/code=/);
  const stranger = await new BrowserSession(gateway.base).open(back);
  expect(stranger.status).toBe(403);
  const forged = new URL(back);
  forged.searchParams.set('state', 'f'.repeat(43));
  const twice = `${back}&state=${forged.searchParams.get('state')}`;
  const none = new URL(back);
  none.searchParams.delete('state');
  for (const mismatched of [forged.href, twice, none.href]) {
    const answer = await own.open(mismatched);
    expect(answer.status).toBe(403);
    expect(answer.text).toContain('was not started in this browser, or has been finished before');
  }
  // What came back for another sign-in leaves this one as it is.
  const cookies = [...own.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  expect((await own.open(back)).location).toMatch(/^sileo:/);
  expect((await own.open(back)).status).toBe(403);

  // Somebody who kept the cookie, too, meets a provider that does not take the code twice.
  const replayed = await new BrowserSession(gateway.base).open(back, { cookie: cookies });
  expect(replayed.status).toBe(403);
  expect(replayed.text).toContain('has been finished before');
});

test('several windows of one browser may be at the provider at a time, and each comes back for its own application', async () => {
  const { own, follow } = newBrowser();
  const away: string[] = [];
  for (let window = 0; window < 5; window++) {
    const page = await own.open(await authenticate(gateway.base, { model: `window ${window}` }));
    away.push((await own.open(startLink(page))).location ?? '');
  }
  for (const window of [2, 1, 4, 3]) expect((await follow(away[window] ?? '')).location).toMatch(/^sileo:/);
  // A cookie is not to grow for ever.
  expect((await follow(away[0] ?? '')).status).toBe(403);
  expect([...own.cookies.keys()]).not.toContain('gateway-openid');
});

test('T4 the display name follows the provider, and is one line of readable text', async () => {
  const signIn = async (preferredName: string) => {
    provider.subject = 'renamed';
    provider.preferredName = preferredName;
    const { own, follow } = newBrowser();
    return (await follow(startLink(await own.open(`${site}/v2/login`)))).text;
  };
  expect(await signIn('First Name')).toContain('First Name');
  const second = await signIn('Second\u202e\u2066\u0000\n Name\u2069');
  expect(second).toContain('<strong>Second Name</strong>');
  expect(second).not.toContain('First Name');
  expect(await signIn('\u202e')).toContain('<strong>renamed@id.example</strong>');
  provider.preferredName = undefined;
});

test('T4 the display name is the first that the provider knows, by what it says last', async () => {
  const signIn = async (claims: OpenIdProvider['claims']) => {
    provider.subject = 'named';
    provider.claims = claims;
    const { own, follow } = newBrowser();
    const { text } = await follow(startLink(await own.open(`${site}/v2/login`)));
    return /<strong>(.*?)<\/strong>/.exec(text)?.[1];
  };
  const all = { preferred_username: 'preferred', name: 'name', email: 'email' };
  const none = { preferred_username: undefined, name: undefined, email: undefined };
  for (const [claims, shown] of [
    [all, 'preferred'],
    [{ ...all, preferred_username: undefined }, 'name'],
    [{ ...all, preferred_username: ' ', name: 7 }, 'email'],
    [none, 'named'],
  ] as const) {
    expect(await signIn({ id_token: claims, userinfo: claims })).toBe(shown);
    // What only one of them has counts.
    expect(await signIn({ id_token: claims, userinfo: none })).toBe(shown);
    expect(await signIn({ id_token: none, userinfo: claims })).toBe(shown);
  }
  const named = (name: string) => ({ ...none, name });
  // The ID token is older than what the UserInfo endpoint says.
  expect(await signIn({ id_token: named('older'), userinfo: named('newer') })).toBe('newer');
});

describe('T4 accounts allowed by claim', () => {
  const signInto = async (allow: string, subject: string, again = false) => {
    const allowing = await openGateway(provider, {
      GATEWAY_OIDC_NAME: 'Example ID',
      GATEWAY_OIDC_SCOPE: 'openid profile email groups',
      GATEWAY_OIDC_ALLOW: allow,
    });
    try {
      provider.subject = subject;
      const visit = async () => {
        const { own, follow } = newBrowser(allowing.base);
        return follow(startLink(await own.open(`${site}/v2/login`)));
      };
      const page = await visit();
      if (again) expect((await visit()).status).toBe(page.status);
      const accounts = await allowing.store.listAccounts();
      return { page, accounts, events: allowing.log.map((line) => JSON.parse(line)) };
    } finally {
      await allowing.close();
    }
  };

  test.each([
    ['groups=staff,people', 'anybody'],
    ['groups = staff, one', 'one'],
    ['sub=one', 'one'],
    ['email=one@id.example', 'one'],
    ['email=word@id.example', 'word'],
    ['email_verified=true', 'one'],
  ])('%s lets %s in', async (allow, subject) => {
    const { page, accounts } = await signInto(allow, subject);
    expect(page.address).toBe(`${site}/v2/devices`);
    expect(accounts).toHaveLength(1);
  });

  test.each([
    ['groups=staff', 'one'],
    ['groups=peopl', 'one'],
    ['groups=people one', 'one'],
    ['missing=one', 'one'],
    ['constructor=one', 'one'],
    ['email=unverified@id.example', 'unverified'],
    ['email=unverified-word@id.example', 'unverified-word'],
    ['email=unsaid@id.example', 'unsaid'],
    ['email_verified=true', 'unverified'],
  ])('%s keeps %s out, with a page that says so and no account', async (allow, subject) => {
    const { page, accounts, events } = await signInto(allow, subject);
    expect(page.status).toBe(403);
    expect(page.text).toContain('Your account at Example ID may not sign in here.');
    expect(accounts).toEqual([]);
    const name = `${new URL(provider.issuer).host}:${subject}`;
    expect(events).toContainEqual(expect.objectContaining({ event: 'sign-in-refused', name, reason: 'claim' }));
  });

  test.each([
    ['groups=staff', { userinfo: { groups: ['staff'] } }, 200],
    ['groups=people', { userinfo: { groups: ['staff'] } }, 403],
    ['groups=staff', { id_token: { groups: ['staff'] } }, 403],
    ['groups=staff', { id_token: { groups: ['staff'] }, userinfo: { groups: undefined } }, 200],
  ])('%s goes by what the provider says last: %j is %i', async (allow, claims, status) => {
    provider.claims = claims;
    expect((await signInto(allow, 'one')).page.status).toBe(status);
  });

  test('T12 who is kept out is in the log once in ten minutes, however often they try', async () => {
    const { events } = await signInto('groups=staff', 'one', true);
    expect(events.map(({ event }) => event)).toEqual(['sign-in-refused']);
  });
});

test('T4 the issuer’s path is part of an account’s name, so one host may serve several', async () => {
  const realm = await startOpenIdProvider(`${site}/v2/login/callback`, { path: '/realms/one' });
  const other = await openGateway(realm);
  const { own, follow } = newBrowser(other.base);
  expect((await follow(startLink(await own.open(`${site}/v2/login`)))).status).toBe(200);
  expect(await other.store.listAccounts()).toEqual([
    expect.objectContaining({ name: `${new URL(realm.issuer).host}/realms/one:subject-1` }),
  ]);
  await other.close();
  await realm.close();
});

test.each([
  ['client_secret_basic', ['client_secret_basic']],
  ['client_secret_basic', ['client_secret_post', 'client_secret_basic']],
  ['client_secret_post', ['client_secret_post']],
  ['client_secret_basic', []],
  ['client_secret_post', []],
] as const)(
  'a client that is registered with %s shows its secret so, where the provider takes %s',
  async (registered, offered) => {
    const strict = await startOpenIdProvider(`${site}/v2/login/callback`, { registered, offered: [...offered] });
    const other = await openGateway(strict);
    for (let time = 0; time < 2; time++) {
      const { own, follow } = newBrowser(other.base);
      expect((await follow(startLink(await own.open(await authenticate(other.base))))).location).toMatch(/^sileo:/);
    }
    // What worked once is shown first from then on.
    expect(strict.refused).toBeLessThanOrEqual(1);
    await other.close();
    await strict.close();
  },
);

test('T9 the log says in codes why nobody can sign in, and nothing of the secret', async () => {
  const secret = 'another secret of the OpenID client';
  const failWith = async (environment: Readonly<Record<string, string>>) => {
    const failing = await startGateway(
      { PUBLIC_ADDRESS: site, GATEWAY_OIDC_CLIENT_ID: openIdClient.id, ...environment },
      { now: Date.now() },
    );
    const { own, follow } = newBrowser(failing.base);
    const { status } = await follow(startLink(await own.open(`${site}/v2/login`)));
    const log = failing.log.join('');
    await failing.close();
    expect(log).not.toContain(secret);
    return { status, reason: JSON.parse(log).reason };
  };
  const common = { GATEWAY_OIDC_ISSUER: provider.issuer, GATEWAY_OIDC_CLIENT_SECRET: secret };
  expect(await failWith(common)).toEqual({
    status: 503,
    reason: expect.stringMatching(/^.*openid_failed.* invalid_client$/),
  });
  expect(await failWith({ ...common, GATEWAY_OIDC_ISSUER: `${provider.issuer}/elsewhere` })).toEqual({
    status: 503,
    reason: expect.stringContaining('OAUTH_RESPONSE_IS_NOT_CONFORM'),
  });
  provider.subject = undefined;
  expect(await failWith({ ...common, GATEWAY_OIDC_CLIENT_SECRET: openIdClient.secret })).toEqual({
    status: 403,
    reason: expect.stringMatching(/openid_denied.* access_denied$/),
  });
});

test('T9 what a provider calls its refusal is no more than a code in the log', async () => {
  const { own } = newBrowser();
  const away = new URL((await own.open(startLink(await own.open(`${site}/v2/login`)))).location ?? '').searchParams;
  const returned = { error: `token ${'A'.repeat(43)}`, state: away.get('state') ?? '', iss: provider.issuer };
  const page = await own.open(`${site}/v2/login/callback?${new URLSearchParams(returned)}`);
  expect(page.status).toBe(403);
  expect(JSON.parse(gateway.log.at(-1) ?? '').reason).toMatch(/ OAUTH_AUTHORIZATION_RESPONSE_ERROR$/);
});

test.each([
  ['was away', () => Promise.reject(new TypeError('fetch failed'))],
  ['named no address to sign in at', async () => Response.json({ issuer: provider.issuer })],
])('a provider that %s at first is asked again', async (_, answer) => {
  const late = await openGateway(provider);
  const browser = newBrowser(late.base);
  const page = await browser.own.open(`${site}/v2/login`);
  const { fetch } = globalThis;
  const isAway = vi
    .spyOn(globalThis, 'fetch')
    .mockImplementation((asked, options) =>
      String(asked).includes('/.well-known/') ? answer() : fetch(asked, options),
    );
  const failed = await browser.own.open(startLink(page));
  expect(failed.status).toBe(503);
  isAway.mockRestore();
  expect((await browser.follow(startLink(failed))).address).toBe(`${site}/v2/devices`);
  await late.close();
});

test('a provider that moves its addresses while the server runs is found again', async () => {
  const running = await openGateway(provider);
  const { fetch } = globalThis;
  let before = true;
  const moving = vi.spyOn(globalThis, 'fetch').mockImplementation(async (asked, options) => {
    const address = String(asked);
    if (address.endsWith('/before/token')) {
      return before ? fetch(address.replace('/before', ''), options) : new Response('', { status: 404 });
    }
    const answer = await fetch(asked, options);
    if (!before || !address.includes('/.well-known/')) return answer;
    const said = (await answer.text()).replace(/(_endpoint":"[^"]*)(\/token|\/auth)"/g, '$1/before$2"');
    return new Response(said, answer);
  });
  const start = async () => {
    const { own, follow } = newBrowser(running.base);
    const link = startLink(await own.open(`${site}/v2/login`));
    const away = (await own.open(link)).location ?? '';
    return { away, finish: () => follow(away.replace('/before', '')) };
  };
  const { away, finish } = await start();
  expect(away).toContain('/before/auth?');
  expect((await finish()).address).toBe(`${site}/v2/devices`);
  const under = await start();
  before = false;
  // What cannot be confirmed at the old address is looked up for the next one.
  expect((await under.finish()).status).toBe(503);
  const next = await start();
  expect(next.away).not.toContain('/before/');
  expect((await next.finish()).address).toBe(`${site}/v2/devices`);
  // And what only people would notice, after a while.
  before = true;
  running.advance(3_599_000);
  expect((await start()).away).not.toContain('/before/');
  running.advance(1_000);
  expect((await start()).away).toContain('/before/');
  // Nor for as long as the clock was set back.
  before = false;
  running.advance(-30 * 86_400_000);
  expect((await start()).away).not.toContain('/before/');
  moving.mockRestore();
  await running.close();
});

test('a provider that hides its addresses is taken by what it said last, and asked again after a minute', async () => {
  const running = await openGateway(provider);
  const { fetch } = globalThis;
  let isHidden = false;
  let asked = 0;
  const hiding = vi.spyOn(globalThis, 'fetch').mockImplementation(async (address, options) => {
    if (!String(address).includes('/.well-known/')) return fetch(address, options);
    asked += 1;
    return isHidden ? new Response('', { status: 500 }) : fetch(address, options);
  });
  const signIn = async () => {
    const { own, follow } = newBrowser(running.base);
    const link = startLink(await own.open(`${site}/v2/login`));
    return (await follow((await own.open(link)).location ?? '')).address;
  };
  expect(await signIn()).toBe(`${site}/v2/devices`);
  const before = asked;
  isHidden = true;
  running.advance(3_600_000);
  for (const [milliseconds, times] of [
    [0, 1],
    [59_999, 1],
    [1, 2],
  ] as const) {
    running.advance(milliseconds);
    expect(await signIn()).toBe(`${site}/v2/devices`);
    expect(asked - before).toBe(times);
  }
  hiding.mockRestore();
  await running.close();
});

test.each([
  ['/.well-known/', 'client_secret_post'],
  ['/token', 'client_secret_post'],
  ['/token', 'client_secret_basic'],
  ['/me', 'client_secret_post'],
] as const)('T12 of an answer of the provider no more than a megabyte is read (%s, %s)', async (place, registered) => {
  const flooded = await startOpenIdProvider(`${site}/v2/login/callback`, { registered, offered: [registered] });
  const running = await openGateway(flooded);
  const { own, follow } = newBrowser(running.base);
  const { fetch } = globalThis;
  let sent = 0;
  const pull = (controller: ReadableStreamDefaultController) => {
    controller.enqueue(new Uint8Array(2 ** 16).fill(' '.charCodeAt(0)));
    sent += 2 ** 16;
    if (sent >= 8 * 2 ** 20) controller.close();
  };
  const flooding = vi.spyOn(globalThis, 'fetch').mockImplementation(async (address, options) => {
    const answer = await fetch(address, options);
    return String(address).includes(place) ? new Response(new ReadableStream({ pull }), answer) : answer;
  });
  const page = await follow(startLink(await own.open(`${site}/v2/login`)));
  flooding.mockRestore();
  expect([page.status, sent < 2 * 2 ** 20]).toEqual([503, true]);
  expect(JSON.parse(running.log.at(-1) ?? '').reason).toContain('answer_too_long');
  await running.close();
  await flooded.close();
});

test.each([
  ['a NUL', 'one\0two', true],
  ['256 characters', 'x'.repeat(256), true],
  ['half a character', 'one\ud800', true],
  ['255 characters', 'x'.repeat(255), false],
])('T4 a subject with %s, which not every store can keep, is refused in words', async (_, subject, isRefused) => {
  const running = await openGateway(provider, { GATEWAY_OIDC_NAME: 'Example ID' });
  provider.subject = subject;
  const { own, follow } = newBrowser(running.base);
  const page = await follow(startLink(await own.open(`${site}/v2/login`)));
  const sentence = 'Your account at Example ID cannot be used here';
  expect([page.status, page.text.includes(sentence)]).toEqual(isRefused ? [403, true] : [200, false]);
  expect(await running.store.listAccounts()).toHaveLength(isRefused ? 0 : 1);
  if (isRefused) expect(running.log.at(-1)).toContain('"reason":"Error openid_subject_refused"');
  await running.close();
});

test('T12 a client makes us ask the provider so often in a minute, whatever it comes back with', async () => {
  const running = await openGateway(provider, { GATEWAY_SIGN_IN_RATE: '3', TRUSTED_PROXIES: '1' });
  const { own, follow } = newBrowser(running.base);
  const page = await own.open(`${site}/v2/login`);
  const from = (address: string) => ({ 'x-forwarded-for': address });
  let asked = 0;
  const { fetch } = globalThis;
  const counting = vi.spyOn(globalThis, 'fetch').mockImplementation((address, options) => {
    if (String(address).endsWith('/token')) asked++;
    return fetch(address, options);
  });
  const detour = { state: 's', nonce: 'n', verifier: 'v'.repeat(43), handle: '' };
  const cookie = `gateway-openid=${encodeURIComponent(btoa(JSON.stringify([detour])))}`;
  const forge = async (address: string) => {
    const returned = new URLSearchParams({ state: 's', code: 'c', iss: provider.issuer });
    const stranger = new BrowserSession(running.base);
    return stranger.open(`${site}/v2/login/callback?${returned}`, { cookie, ...from(address) });
  };
  const statuses = [];
  for (let time = 0; time < 5; time++) statuses.push((await forge('198.51.100.7')).status);
  expect([statuses, asked]).toEqual([[403, 403, 403, 429, 429], 3]);
  const refused = await forge('198.51.100.7');
  expect([refused.headers.get('retry-after'), refused.text.includes('wait a minute and try again')]).toEqual([
    '20',
    true,
  ]);
  // Somebody else is not concerned; and of the way there so many are counted by themselves.
  const starts = [];
  for (let time = 0; time < 4; time++) starts.push(await own.open(startLink(page), from('198.51.100.7')));
  expect(starts.map(({ status }) => status)).toEqual([303, 303, 303, 429]);
  expect(starts[3]?.headers.get('retry-after')).toBe('20');
  const back = (await follow(starts[2]?.location ?? '', /\/v2\/login\/callback\?/)).location ?? '';
  expect((await own.open(back, from('198.51.100.7'))).status).toBe(429);
  expect((await own.open(back, from('198.51.100.8'))).location).toBe('/v2/devices');
  counting.mockRestore();
  await running.close();
});

test('T12 where many instances answer, the store counts how often one client makes them ask the provider', async () => {
  const tell = () => {};
  const instance = () =>
    openWorkerGateway({
      environment: {
        GATEWAY_OIDC_ISSUER: provider.issuer,
        GATEWAY_OIDC_CLIENT_ID: openIdClient.id,
        GATEWAY_OIDC_CLIENT_SECRET: openIdClient.secret,
        GATEWAY_SIGN_IN_RATE: '2',
      },
      publicAddress: site,
      operatorKey: undefined,
      store: gateway.store,
      tell,
      finish: tell,
    });
  const page = await instance().routes.request('/login', {}, { clientAddress: '198.51.100.9' });
  const headers = { cookie: page.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
  const { pathname, search } = new URL(startLink({ text: await page.text(), address: site } as Page));
  const statusesOf = async (address: string) => {
    const statuses = [];
    for (let time = 0; time < 3; time++) {
      statuses.push((await instance().routes.request(address, { headers }, { clientAddress: '198.51.100.9' })).status);
    }
    return statuses;
  };
  expect(await statusesOf(`${pathname.replace('/v2', '')}${search}`)).toEqual([303, 303, 429]);
  expect(await statusesOf('/login/callback?state=s&code=c')).toEqual([403, 403, 429]);
});

test('a sign-in that is over does not lead to the provider first', async () => {
  const { own } = newBrowser();
  const link = startLink(await own.open(await authenticate(gateway.base)));
  gateway.advance(11 * 60_000);
  const page = await own.open(link);
  expect([page.status, page.location]).toEqual([410, undefined]);
  expect(page.text).toContain('has expired');
});

test('T3 another site cannot start it in somebody’s browser', async () => {
  const { own } = newBrowser();
  const link = new URL(startLink(await own.open(await authenticate(gateway.base))));
  expect((await new BrowserSession(gateway.base).open(link.href)).status).toBe(403);
  expect((await own.open(link.href, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  link.searchParams.delete('csrf');
  expect((await own.open(link.href)).status).toBe(403);
});

test('a provider that is away is a message on the page, and the next try asks again', async () => {
  const away = await startGateway({
    PUBLIC_ADDRESS: site,
    GATEWAY_OIDC_ISSUER: 'http://127.0.0.1:1',
    GATEWAY_OIDC_CLIENT_ID: 'x',
    GATEWAY_OIDC_CLIENT_SECRET: 'x',
  });
  const browser = new BrowserSession(away.base);
  const page = await browser.open(await authenticate(away.base));
  expect(page.text).not.toContain('No account exists yet');
  expect(page.text).not.toContain('<form');
  for (let attempt = 0; attempt < 2; attempt++) {
    const failed = await browser.open(startLink(page));
    expect(failed.status).toBe(503);
    expect(failed.text).toContain('cannot be reached');
  }
  await away.close();
});
