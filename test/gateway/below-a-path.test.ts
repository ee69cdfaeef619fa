import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request as ask, createServer as createPlainServer, type Server } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createNodeCryptography } from '../../functions/gateway/node/node-cryptography.ts';
import { openCredentialStore } from '../../functions/gateway/store/open-store.ts';
import { launchBrowser } from '../support/browser.ts';
import { publishBuild } from '../support/built.ts';
import { packages } from '../support/catalog.ts';
import { createCertificate } from '../support/certificates.ts';
import { addAccount, password } from '../support/gateway-session.ts';
import { type OpenIdProvider, openIdClient, startOpenIdProvider } from '../support/openid-provider.ts';
import { PackageManager } from '../support/package-manager.ts';
import { createPublished, type Published } from '../support/published.ts';

// A real browser at https://x.example/debdex: a proxy with TLS in front of our server, which keeps the path or takes it off,
// in production, with the cookies and callbacks that go with it.

const origin = 'https://x.example';
const below = '/debdex';
const udid = '00008030-001A2B3C4D5E6F70';

const elsewhere = [createPublished(), new Date('2026-05-02T00:00:00Z'), origin + below] as const;

let publication: Published;
let provider: OpenIdProvider;
let server: ChildProcess;
/** The proxy, and whether it passes the path on. */
let proxy: Server;
let keepsPath: boolean;
let browser: Browser;
/** Where the client's own callback is called with. */
let called: string[];
let client: Server;
/** Our server, as the client reaches it. */
let reached: string;

/** A proxy on loopback that ends TLS for the site, as nginx does. */
const startProxy = async (target: number): Promise<Server> => {
  const started = createServer(createCertificate({ names: ['x.example'] }), (incoming, outgoing) => {
    const asked = incoming.url ?? '/';
    // Something else lies at the root of the host.
    if (!asked.startsWith(`${below}/`)) return void outgoing.writeHead(404).end('another application');
    const { method, headers } = incoming;
    const url = keepsPath ? asked : asked.slice(below.length);
    const passed = ask({ port: target, host: '127.0.0.1', path: url, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(passed);
  });
  started.listen(0, '127.0.0.1');
  await once(started, 'listening');
  return started;
};

beforeAll(async () => {
  publication = await publishBuild([{ slug: 'one', packages: packages({ Package: 'com.example.one' }) }], ...elsewhere);
  provider = await startOpenIdProvider(`${origin}${below}/v2/login/callback`);
  called = [];
  client = createPlainServer((request, response) => {
    if (request.url?.startsWith('/back')) called.push(`http://127.0.0.1${request.url}`);
    response.setHeader('Content-Type', 'text/html').end('<title>Back</title>Back in the application');
  });
  client.listen(0, '127.0.0.1');
  await once(client, 'listening');
  const environment = {
    ...process.env,
    DEBDEX_STATE: publication.state,
    GATEWAY_ALLOW_HTTP: 'true',
    GATEWAY_CALLBACKS: 'loopback',
    GATEWAY_SIGN_IN_RATE: '0',
    GATEWAY_OIDC_ISSUER: provider.issuer,
    GATEWAY_OIDC_CLIENT_ID: openIdClient.id,
    GATEWAY_OIDC_CLIENT_SECRET: openIdClient.secret,
    GATEWAY_OIDC_NAME: 'Example ID',
  };
  // With the weakest password: what the command makes of it costs each sign-in half a second.
  const file = path.join(publication.state, 'gateway.sqlite');
  const store = openCredentialStore({ kind: 'sqlite', file }, createNodeCryptography());
  await addAccount(store, 'alice');
  await store.close();
  const project = path.join(import.meta.dirname, '..', '..');
  const flags = ['scripts/serve.ts', '--out', publication.folder, '--port', '0'];
  server = spawn(process.execPath, flags, { cwd: project, env: environment, stdio: ['ignore', 'pipe', 'ignore'] });
  let port = 0;
  for await (const line of createInterface({ input: server.stdout as NodeJS.ReadableStream })) {
    port = Number(/^Listening on .*:(\d+)$/.exec(line)?.[1] ?? 0);
    if (port !== 0) break;
  }
  reached = `http://127.0.0.1:${port}${below}`;
  proxy = await startProxy(port);
  const { port: secure } = proxy.address() as AddressInfo;
  const resolving = `--host-resolver-rules=MAP x.example:443 127.0.0.1:${secure}`;
  browser = await launchBrowser([resolving, '--ignore-certificate-errors']);
}, 120_000);

afterAll(async () => {
  await browser?.close();
  for (const each of [proxy, client]) {
    each?.closeAllConnections();
    each?.close();
  }
  const end = server && once(server, 'exit');
  server?.kill('SIGTERM');
  await end;
  await provider?.close();
  publication?.remove();
});

const authenticate = async (): Promise<string> => {
  const callback = `http://127.0.0.1:${(client.address() as AddressInfo).port}/back?kept=1`;
  const answer = await fetch(`${reached}/v2/authenticate`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ callback, udid, model: 'iPhone12,1' }),
  });
  const { auth_url: address } = (await answer.json()) as { auth_url: string };
  expect(address).toMatch(/^https:\/\/x\.example\/debdex\/v2\/login\?request=/);
  return address;
};

const signIn = async (page: Page): Promise<void> => {
  await page.getByLabel('Account name').fill('alice');
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
};

/** Holds what the application was called back with against the account that it is for. */
const expectSignedIn = async (): Promise<string> => {
  const credentials = called.pop();
  const { searchParams } = new URL(credentials ?? '');
  expect(searchParams.get('kept')).toBe('1');
  const manager = new PackageManager(reached);
  manager.callback(credentials);
  expect(await manager.request()).toBe(200);
  const headers = { authorization: `Bearer ${manager.credentials?.auth_token}` };
  const { data } = (await (await fetch(`${reached}/v2/account`, { headers })).json()) as { data: { name: string } };
  return data.name;
};

test.each([
  ['keeps', true],
  ['takes off', false],
] as const)('T3: signs in below a path, and out, by a proxy that %s it', async (_, keeps) => {
  keepsPath = keeps;
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  const strays: string[] = [];
  page.on('request', (request) => {
    const { origin: asked, pathname } = new URL(request.url());
    if (asked === origin && !pathname.startsWith(`${below}/v2/`) && pathname !== '/favicon.ico') strays.push(pathname);
  });
  page.on('console', (message) => {
    if (/Content Security Policy|cookie/i.test(message.text())) strays.push(message.text());
  });
  await page.goto(await authenticate());
  await signIn(page);
  await page.getByText('Back in the application').waitFor();
  expect(await expectSignedIn()).toBe('alice');

  // The devices page is another sign-in, of the browser: its cookie comes back below the path.
  await page.goto(`${origin}${below}/v2/devices`);
  await page.waitForURL(`${origin}${below}/v2/login`);
  await signIn(page);
  await page.waitForURL(`${origin}${below}/v2/devices`);
  await page.getByText('iPhone12,1').first().waitFor();
  for (const cookie of await context.cookies(`${origin}${below}/v2/devices`)) {
    expect(cookie).toMatchObject({ secure: true, httpOnly: true, sameSite: 'Lax', domain: 'x.example', path: '/' });
    expect(cookie.name).toMatch(/^__Host-gateway-/);
  }
  const device = page.getByRole('button', { name: /^Sign out/ }).first();
  await device.click();
  await page.waitForURL(`${origin}${below}/v2/devices?done`);
  await page.locator('form[action$="/v2/devices/leave"] button').click();
  await page.waitForURL(`${origin}${below}/v2/login`);

  // By the provider, and back to the redirect address that it knows.
  await page.goto(await authenticate());
  await page.getByRole('link', { name: 'Continue with Example ID' }).click();
  await page.getByText('Back in the application').waitFor();
  expect(await expectSignedIn()).toContain(':subject-1');
  expect(strays).toEqual([]);
  await context.close();
});
