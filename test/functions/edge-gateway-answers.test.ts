import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createNodeCryptography } from '../../functions/gateway/node/node-cryptography.ts';
import { createNodePasswords } from '../../functions/gateway/node/node-passwords.ts';
import { openGateway } from '../../functions/gateway/node/open-gateway.ts';
import { operatedStore } from '../../functions/gateway/on-workers.ts';
import { BrowserSession, type Page } from '../support/browser-session.ts';
import { type EdgeBundle, type EdgeRuntime, makeEdgeBundle, runEdge } from '../support/edge-runtime.ts';
import { addAccount, password, readTestConfiguration, untilOpen, weakCost } from '../support/gateway-session.ts';
import { type OpenIdProvider, openIdClient, startOpenIdProvider } from '../support/openid-provider.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

const publicAddress = 'https://index.example.org';
const key = 'k'.repeat(40);
const secret = 's'.repeat(40);

let provider: OpenIdProvider;
let bundle: EdgeBundle;
let edge: EdgeRuntime;
let server: TestServer;
let closeGateway: () => Promise<void>;

beforeAll(async () => {
  provider = await startOpenIdProvider(`${publicAddress}/v2/login/callback`);
  const environment = {
    GATEWAY_INTROSPECTION_SECRETS: secret,
    GATEWAY_SIGN_IN_RATE: '0',
    GATEWAY_OIDC_ISSUER: provider.issuer,
    GATEWAY_ALLOW_HTTP: 'true',
    GATEWAY_OIDC_CLIENT_ID: openIdClient.id,
    GATEWAY_OIDC_CLIENT_SECRET: openIdClient.secret,
    GATEWAY_OIDC_NAME: 'Example ID',
  };
  bundle = await makeEdgeBundle({ kind: 'object', publicAddress });
  edge = await runEdge(bundle, {
    // Nothing is published there: sign-ins need no catalog.
    source: { address: 'http://127.0.0.1:9' },
    storage: path.join(path.dirname(bundle.folder), 'storage'),
    gateway: 'object',
    variables: { ...environment, PUBLIC_ADDRESS: publicAddress, OPERATOR_KEY: key },
  });
  mkdirSync(path.join(path.dirname(bundle.folder), 'state'));
  const configuration = readTestConfiguration({
    ...environment,
    PUBLIC_ADDRESS: publicAddress,
    STATE_DIR: path.join(path.dirname(bundle.folder), 'state'),
  });
  const gateway = openGateway(configuration, { tell: () => {}, clock: () => Date.now(), passwordCost: weakCost });
  closeGateway = () => gateway.close();
  server = await startTestServer({ overrides: { gateway: gateway.routes, publicAddress: () => publicAddress } });
  await addAccount(gateway.store, 'alice');
  const passwordHash = await createNodePasswords(1, weakCost).hash(password);
  const account = { id: createNodeCryptography().randomId(), name: 'alice', displayName: 'alice', passwordHash };
  const operated = operatedStore(edge.address, key);
  await untilOpen(operated);
  await operated.addAccount(account);
});
afterAll(async () => {
  await edge.kill();
  await server.close();
  await closeGateway();
  await provider.close();
  rmSync(path.dirname(bundle.folder), { recursive: true });
});

/** Headers of the connection, of the moment, or of how the platform sends what is compared as it was meant. */
const others = new Set([
  ...['date', 'connection', 'keep-alive', 'transfer-encoding', 'x-request-id'],
  ...['content-encoding', 'content-length'],
]);

/** What is by chance, by the place at which it first stood: what was the same is the same. */
const withoutChance = () => {
  const known = new Map<string, string>();
  return (text: string): string =>
    text
      .replaceAll(/(?<![\w-])[\w-]{22,}(?![\w-])/g, (chance) => {
        // A short one may be a word.
        if (chance.length < 32 && !(/\d/.test(chance) && /[A-Z]/.test(chance))) return chance;
        known.set(chance, known.get(chance) ?? `<${known.size}>`);
        return known.get(chance) ?? '';
      })
      // Seconds since 1970.
      .replaceAll(/\b[12]\d{9}\b/g, '<time>')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');
};

interface Told {
  readonly what: string;
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

/** Everything that a gateway is asked here, well and badly, and its answers. */
const askAll = async (base: string): Promise<Told[]> => {
  const plain = withoutChance();
  const told: Told[] = [];
  const tell = (what: string, status: number, headers: Headers, body: string) => {
    const shown = [...headers]
      .filter(([name]) => !others.has(name))
      .map(([name, value]) => [name, plain(value)] as const);
    told.push({ what, status, headers: shown, body: plain(body) });
  };
  const ask = async (what: string, target: string, init: RequestInit = {}): Promise<string> => {
    const headers = { 'accept-encoding': 'identity', ...init.headers };
    const response = await fetch(base + target, { redirect: 'manual', ...init, headers });
    const text = await response.text();
    tell(what, response.status, response.headers, text);
    return text;
  };
  const send = (what: string, target: string, body: unknown, headers: Record<string, string> = {}) =>
    ask(what, target, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const show = (what: string, page: Page): Page => {
    tell(what, page.status, page.headers, page.text);
    return page;
  };

  const wanted = { callback: 'sileo://authentication_success', udid: '00008030-001A2B3C4D5E6F70', model: 'iPhone12,1' };
  await send('no JSON', '/v2/authenticate', '{');
  await send('nothing', '/v2/authenticate', {});
  await send('a callback of nobody', '/v2/authenticate', { ...wanted, callback: 'https://evil.example/' });
  await send('too much', '/v2/authenticate', { ...wanted, model: 'x'.repeat(100_000) });
  await ask('another method', '/v2/authenticate');
  await ask('a preflight', '/v2/authenticate', { method: 'OPTIONS', headers: { origin: 'https://a.example' } });
  const { auth_url } = JSON.parse(await send('a sign-in', '/v2/authenticate', wanted));

  const browser = new BrowserSession(base);
  const page = show('the login page', await browser.open(auth_url, { 'accept-encoding': 'identity' }));
  show('a request of nobody', await new BrowserSession(base).open(`${publicAddress}/v2/login?request=none`));
  const wrong = show('a wrong password', await browser.submit(page, { name: 'alice', password: 'wrong' }));
  show('an unknown name', await browser.submit(wrong, { name: 'nobody', password }));
  show('a form from elsewhere', await browser.submit(page, {}, { headers: { origin: 'https://evil.example' } }));
  const done = show('the callback', await browser.submit(wrong, { name: 'alice', password }));
  show('the same again', await browser.open(auth_url));
  show('the devices', await browser.open(`${publicAddress}/v2/devices`));
  show('the devices of nobody', await new BrowserSession(base).open(`${publicAddress}/v2/devices`));

  const set = Object.fromEntries(new URL(done.location ?? '').searchParams);
  const { token = '', auth_token = token, payment_secret = '' } = set;
  const bearer = (by: string) => ({ authorization: `Bearer ${by}` });
  await ask('the account', '/v2/account', { headers: bearer(auth_token) });
  await ask('the account of nobody', '/v2/account', { headers: bearer('none') });
  await ask('the account without a token', '/v2/account');
  await send('a token that is good', '/v2/introspect', { token: auth_token, payment_secret }, bearer(secret));
  await send(
    'a token with another secret',
    '/v2/introspect',
    { token: auth_token, payment_secret: 'x' },
    bearer(secret),
  );
  await send('a token asked for by nobody', '/v2/introspect', { token: auth_token }, bearer('none'));
  await send('a refresh too early', '/v2/refresh', set);
  await send('a refresh of nothing', '/v2/refresh', {});
  await send('a refresh of somebody else', '/v2/refresh', { ...set, refresh_token: 'x'.repeat(43) });
  await send('the end', '/v2/revoke', set);
  await send('the end again', '/v2/revoke', set);
  await ask('the account after it', '/v2/account', { headers: bearer(auth_token) });
  return told;
};

describe('the gateway of a Worker', () => {
  test('E1: answers byte for byte as that of a server on Node, but for chance and time', async () => {
    const onNode = await askAll(server.address);
    const atTheEdge = await askAll(edge.address);
    expect(onNode.length).toBeGreaterThan(25);
    expect(new Set(onNode.map(({ status }) => status)).size).toBeGreaterThan(7);
    for (const [index, told] of onNode.entries()) expect(atTheEdge[index], told.what).toEqual(told);
  });

  test('T4: signs in by an OpenID provider, and takes neither a refusal there nor what is asked twice', async () => {
    const start = async () => {
      const browser = new BrowserSession(edge.address);
      const foreign = new BrowserSession();
      const response = await fetch(`${edge.address}/v2/authenticate`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ callback: 'sileo://authentication_success', udid: 'u', model: 'm' }),
      });
      const { auth_url } = (await response.json()) as { auth_url: string };
      const page = await browser.open(auth_url);
      expect(page.text).toContain('Continue with <bdi>Example ID</bdi>');
      const link = /<a class="button quiet" href="([^"]+)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
      let at = await browser.open(new URL(link, page.address).href);
      const seen = [at.address];
      for (let hop = 0; hop < 12 && at.location !== undefined; hop++) {
        const next = new URL(at.location, at.address);
        if (!next.protocol.startsWith('http')) break;
        seen.push(next.href);
        at = await (next.origin === publicAddress ? browser : foreign).open(next.href);
      }
      return { at, seen, browser };
    };
    provider.subject = 'subject-1';
    // Two at once: what one request waits for, no other waits for.
    const [first, second] = await Promise.all([start(), start()]);
    for (const { at } of [first, second]) expect(at.location).toMatch(/^sileo:\/\/authentication_success\?/);
    const returned = first.seen.find((address) => address.startsWith(`${publicAddress}/v2/login/callback?`)) ?? '';
    const again = await first.browser.open(returned);
    expect([again.status >= 400, again.location]).toEqual([true, undefined]);
    const names = (await operatedStore(edge.address, key).listAccounts()).map(({ name, devices }) => [name, devices]);
    expect(names).toContainEqual([`${new URL(provider.issuer).host}:subject-1`, 2]);

    provider.subject = undefined;
    const { at } = await start();
    expect(at.location).toBeUndefined();
    expect(at.status).toBeGreaterThanOrEqual(400);
    expect(JSON.stringify(edge.lines)).not.toContain(openIdClient.secret);
  });
});
