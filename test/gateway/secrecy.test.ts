import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BrowserSession } from '../support/browser-session.ts';
import { addAccount, password, post, startGateway, type TestGateway } from '../support/gateway-session.ts';
import { authenticate, type Credentials, readCallback } from '../support/package-manager.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';

const hour = 3_600_000;
const udid = 'cafe0000decade00facade00deadbeef00c0ffee';
const newPassword = 'another correct horse battery';

/** A secret as text, as the bytes it encodes and as their hexadecimal digits. */
const forms = (secret: string) => {
  const bytes = Buffer.from(secret, 'base64url');
  const encoded =
    secret.length === 43 ? [bytes, Buffer.from(bytes.toString('hex')), Buffer.from(bytes.toString('base64'))] : [];
  return [
    Buffer.from(secret),
    Buffer.from(encodeURIComponent(secret)),
    Buffer.from(JSON.stringify(secret)),
    ...encoded,
  ];
};

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile());

/** Uses every operation, rightly and wrongly; resolves to the secrets that it met and the bodies of all refusals. */
const liveThrough = async (gateway: TestGateway) => {
  const secrets = new Set<string>([udid, password, newPassword, 'mistyped password']);
  const refusals: string[] = [];
  const keep = ({ auth_token, payment_secret, refresh_token }: Credentials) => {
    for (const token of [auth_token, payment_secret, refresh_token]) secrets.add(token);
    return { auth_token, payment_secret, refresh_token };
  };
  const send = async (path: string, body: unknown, headers?: Record<string, string>) => {
    const response = await post(`${gateway.base}/v2/${path}`, body, headers);
    const text = await response.text();
    if (response.status !== 200) refusals.push(text);
    return JSON.parse(text);
  };
  await addAccount(gateway.store, 'alice');
  const browser = new BrowserSession();
  const signIn = async () => {
    const authUrl = await authenticate(gateway.base, { udid });
    secrets.add(new URL(authUrl).searchParams.get('request') ?? '');
    const page = await browser.open(authUrl);
    await browser.submit(page, { name: 'alice', password: 'mistyped password' });
    const done = await browser.submit(page, { name: 'alice', password });
    for (const value of browser.cookies.values()) secrets.add(value);
    return keep(readCallback(done.location));
  };
  const first = await signIn();
  gateway.advance(hour);
  const second = keep(await send('refresh', first));
  await send('refresh', second);
  gateway.advance(hour);
  await send('refresh', { ...first, [first.refresh_token]: 'x' });
  await send('refresh', { ...first, refresh_token: [first.refresh_token] });
  await send('refresh', `{"${first.auth_token}":${second.auth_token}`);
  await send('refresh', first);
  await send('refresh', second);
  await send('revoke', { ...second, auth_token: first.auth_token });
  await send('revoke', second);
  const last = await signIn();
  await send('revoke', last);
  await send(`refresh?auth_token=${last.auth_token}`, last, { cookie: `x=${last.auth_token}` });
  await send('authenticate', {
    callback: `sileo://authentication_success?auth_token=${first.auth_token}`,
    udid,
    model: 'm',
  });
  await send('authenticate', { callback: 'evil://x', udid, model: `m\n${udid}` });
  const headers = { authorization: `Bearer ${second.auth_token}` };
  refusals.push(await (await fetch(`${gateway.base}/v2/account?token=${second.auth_token}`, { headers })).text());
  const login = await browser.open(`${gateway.base}/v2/login`);
  await browser.submit(login, { name: password, password: newPassword });
  await browser.submit(login, { name: 'alice', password });
  for (const value of browser.cookies.values()) secrets.add(value);
  await gateway.store.signOutAccount('alice');
  return { secrets, refusals };
};

const expectNowhere = (secrets: ReadonlySet<string>, places: readonly { name: string; bytes: Buffer }[]) => {
  for (const secret of secrets) {
    for (const form of forms(secret)) {
      for (const { name, bytes } of places) expect(bytes.includes(form), `a secret in ${name}`).toBe(false);
    }
  }
};

/** Without the zeros at its end: the log of PostgreSQL has sixteen megabytes of them, and every secret is looked for. */
const withoutZeros = (bytes: Buffer): Buffer => {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return bytes.subarray(0, end);
};

const read = (files: readonly string[]) => files.map((name) => ({ name, bytes: withoutZeros(readFileSync(name)) }));

test('T9 no token, password or udid in the SQLite file, its log, the security log or an error, and what happened as JSON lines', async () => {
  const gateway = await startGateway();
  const { secrets, refusals } = await liveThrough(gateway);
  expect(secrets.size).toBeGreaterThan(14);
  expect(refusals.length).toBeGreaterThan(8);
  expect(gateway.log.length).toBeGreaterThan(5);
  const files = read(filesBelow(gateway.folder));
  expect(files.map(({ name }) => name.replace(/.*\//, '')).sort()).toEqual([
    'gateway-audit.jsonl',
    'gateway.sqlite',
    'gateway.sqlite-shm',
    'gateway.sqlite-wal',
  ]);
  // The search finds what is there: the masked end of the identifier, and the account's name.
  expect(files.some(({ bytes }) => bytes.includes('••••ffee'))).toBe(true);
  const texts = [...gateway.log, ...refusals].map((text) => ({ name: text, bytes: Buffer.from(text) }));
  expectNowhere(secrets, [...files, ...texts]);
  expect(statSync(join(gateway.folder, 'gateway.sqlite')).mode & 0o077).toBe(0);
  const events = gateway.log.map((line) => JSON.parse(line));
  for (const name of ['sign-in', 'sign-in-failed', 'reuse-detected', 'revoked', 'revoke-refused']) {
    expect(events).toContainEqual(
      expect.objectContaining({ event: name, time: expect.any(String), address: '127.0.0.1' }),
    );
  }
  expect(gateway.log.every((line) => line.endsWith('\n') && line.indexOf('\n') === line.length - 1)).toBe(true);
  await gateway.close();
});

test('T9 lookups are by hash: the hash itself is no token', async () => {
  const gateway = await startGateway();
  await addAccount(gateway.store, 'alice');
  const { signIn } = await import('../support/package-manager.ts');
  const { auth_token } = await signIn(gateway.base, 'alice');
  const hash = Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(auth_token)));
  for (const token of [hash.toString('base64url'), hash.toString('hex'), auth_token.slice(0, -1), `${auth_token}x`]) {
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${gateway.base}/v2/account`, { headers })).status).toBe(401);
  }
  await gateway.close();
});

let database: PostgresServer;
beforeAll(async () => {
  database = await startPostgres();
});
afterAll(() => database.remove());

test('T9 no token, password or udid in the files of PostgreSQL', async () => {
  const url = await database.createDatabase();
  // What was written before holds nothing of it, and is most of what there is.
  const begun = Math.floor(Date.now() / 1000) * 1000;
  const gateway = await startGateway({ GATEWAY_DATABASE_URL: url });
  const { secrets } = await liveThrough(gateway);
  await gateway.close();
  await database.stop();
  const files = read(filesBelow(join(database.folder, 'data')).filter((name) => statSync(name).mtimeMs >= begun));
  expect(files.some(({ bytes }) => bytes.includes('••••ffee'))).toBe(true);
  expectNowhere(secrets, files);
});
