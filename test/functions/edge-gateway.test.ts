import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createNodeCryptography } from '../../functions/gateway/node/node-cryptography.ts';
import { createNodePasswords } from '../../functions/gateway/node/node-passwords.ts';
import { operatedStore } from '../../functions/gateway/on-workers.ts';
import { StoreUnavailable } from '../../functions/gateway/store/credential-store.ts';
import { schemaVersion } from '../../functions/gateway/store/migrations.ts';
import { portion } from '../../functions/gateway/store/sign-in-requests.ts';
import { BrowserSession } from '../support/browser-session.ts';
import { countSchemas } from '../support/count-schemas.ts';
import { type EdgeBundle, type EdgeRuntime, makeEdgeBundle, runEdge } from '../support/edge-runtime.ts';
import { changeObjects } from '../support/edge-storage.ts';
import { temporaryFolder } from '../support/folder.ts';
import { addAccount, password, post, readJson, startGateway, untilOpen, weakCost } from '../support/gateway-session.ts';
import { newDatabase } from '../support/new-database.ts';
import { newObject } from '../support/new-object.ts';
import { authenticate, type Credentials, readCallback, signIn } from '../support/package-manager.ts';
import { patience } from '../support/patience.ts';
import { runScript } from '../support/run-script.ts';
import { openTestedObject } from '../support/tested-object.ts';
import { readValue, writeValue } from '../support/tested-object-values.ts';
import { findWrangler, noWrangler, rehearseDeployment } from '../support/wrangler.ts';

const publicAddress = 'https://index.example.org';
const key = 'k'.repeat(40);
const secret = 's'.repeat(40);

// A start of the runtime costs half a second of a processor: what is tried with each of these is tried together.
const shortLived = { GATEWAY_CREDENTIAL_TTL: '1' };
const oneAMinute = { ...shortLived, GATEWAY_SIGN_IN_RATE: '1' };

interface Health {
  readonly data: { readonly service_data: { readonly database_healthy: boolean } };
}

/** What keeps sign-ins; the bundle is made for it, and each Worker of it is over the same store. */
const kinds = [
  {
    kind: 'object',
    gateway: { kind: 'object', publicAddress },
    open: async () => 'object' as const,
  },
  {
    kind: 'Hyperdrive',
    gateway: { kind: 'hyperdrive', id: '0'.repeat(32), publicAddress },
    open: async () => ({ database: await newDatabase() }),
  },
] as const;

describe.each(kinds)('the gateway of a Worker ($kind)', ({ gateway, open }) => {
  let bundle: EdgeBundle;
  let edge: EdgeRuntime;
  let kept: Awaited<ReturnType<typeof open>>;
  const storage = () => path.join(path.dirname(bundle.folder), 'storage');
  const start = async (variables: Record<string, string> = {}, stored = kept) =>
    runEdge(bundle, {
      // Nothing is published there: sign-ins need no catalog.
      source: { address: 'http://127.0.0.1:9' },
      storage: storage(),
      gateway: stored,
      variables: {
        PUBLIC_ADDRESS: publicAddress,
        OPERATOR_KEY: key,
        GATEWAY_INTROSPECTION_SECRETS: secret,
        GATEWAY_SIGN_IN_RATE: '60',
        ...variables,
      },
    });
  /** What it was started with last. */
  let configured: Record<string, string> = {};
  const startWith = async (variables: Record<string, string>, stored = kept) => {
    configured = variables;
    edge = await start(variables, stored);
  };
  /** Ends it in the middle of whatever it does, and starts it over what it kept. */
  const killAndStart = async (variables: Record<string, string>, stored = kept) => {
    await edge.kill();
    await startWith(variables, stored);
  };
  /** Has it run with these variables: a runtime costs a second of a processor, so that which runs with them goes on. */
  const runWith = async (variables: Record<string, string>) => {
    if (JSON.stringify(configured) !== JSON.stringify(variables)) await killAndStart(variables);
  };
  const add = async (name: string) => {
    const passwordHash = await createNodePasswords(1, weakCost).hash(password);
    const account = { id: createNodeCryptography().randomId(), name, displayName: name, passwordHash };
    const operated = operatedStore(edge.address, key);
    await untilOpen(operated);
    expect(await operated.addAccount(account)).toBe(true);
  };
  const logIn = async (name: string, typed = password, browser = new BrowserSession(edge.address)) => {
    const page = await browser.open(await authenticate(edge.address));
    return browser.submit(page, { name, password: typed });
  };
  const signIn = async (name: string) => readCallback((await logIn(name)).location);
  const account = async ({ auth_token }: Credentials) =>
    (await fetch(`${edge.address}/v2/account`, { headers: { authorization: `Bearer ${auth_token}` } })).status;
  const untilOver = (set: Credentials) => expect.poll(() => account(set), { ...patience, interval: 200 }).toBe(401);
  const isKept = async () =>
    (JSON.parse(await (await fetch(`${edge.address}/healthz`)).text()) as Health).data.service_data.database_healthy;

  // What is of one store alone, or of none.
  const once = test.runIf(gateway.kind === 'object');

  beforeAll(async () => {
    bundle = await makeEdgeBundle(gateway);
    kept = await open();
    edge = await start();
  });
  afterAll(async () => {
    await edge.kill();
    rmSync(path.dirname(bundle.folder), { recursive: true });
  });

  test('E1: the module makes no schema when it starts, and asks of Node what its configuration asks for', () => {
    const { compatibility_flags: flags, vars } = JSON.parse(
      readFileSync(path.join(bundle.folder, 'wrangler.jsonc'), 'utf8').replace(/^\/\/.*\n/, ''),
    );
    expect(flags).toEqual(['nodejs_compat']);
    expect(vars.PUBLIC_ADDRESS).toBe(publicAddress);
    expect(countSchemas(bundle.folder)).toBe(0);
    // In place of their texts, which are long, what they import.
    const imported = new Set(
      bundle.modules
        .map((name) => readFileSync(path.join(bundle.folder, name), 'utf8'))
        .flatMap((text) => Array.from(text.matchAll(/from\s*["'](\w+:[\w/]+)["']/g), ([, name]) => name)),
    );
    if (gateway.kind === 'object') {
      expect([...imported].sort()).toEqual(['cloudflare:workers', 'node:crypto', 'node:timers/promises']);
    }
    for (const name of ['node:sqlite', 'node:child_process']) expect(imported).not.toContain(name);
    expect(bundle.compressed).toBeLessThan(150_000);
  });

  test('E1: the tool of the platform takes its configuration', async ({ skip }) => {
    const wrangler = findWrangler();
    if (wrangler === undefined) return skip(noWrangler);
    const said = await rehearseDeployment(wrangler, bundle.folder);
    expect(said).toContain(gateway.kind === 'object' ? 'env.CREDENTIALS (GatewayObject)' : 'env.HYPERDRIVE');
    expect(said).toContain('env.DOWNLOADS (DownloadsObject)');
    expect(said).not.toMatch(/warning|error|unexpected/i);
  });

  test('T3, T5: a device signs in, is known, and is signed out by its owner, as on Node', async () => {
    await add('alice');
    const browser = new BrowserSession(edge.address);
    const authUrl = await authenticate(edge.address);
    expect(authUrl).toMatch(/^https:\/\/index\.example\.org\/v2\/login\?request=/);
    const wrong = await browser.submit(await browser.open(authUrl), { name: 'alice', password: 'wrong' });
    expect(wrong.status).toBe(403);
    expect((await browser.submit(wrong, { name: 'nobody', password })).status).toBe(403);
    const right = await browser.submit(wrong, { name: 'alice', password });
    expect(right.status).toBe(303);
    expect([...browser.cookies.keys()].every((name) => name.startsWith('__Host-'))).toBe(true);
    const credentials = readCallback(right.location);
    expect((await browser.open(authUrl)).status).toBe(410);
    expect(await account(credentials)).toBe(200);
    const { auth_token: token, payment_secret } = credentials;
    const ask = async (body: object, by = secret) =>
      readJson(await post(`${edge.address}/v2/introspect`, body, { authorization: `Bearer ${by}` }));
    expect(await ask({ token, payment_secret, udid: '00008030-001A2B3C4D5E6F70' })).toMatchObject({ active: true });
    expect(await ask({ token, payment_secret: 'x' })).toEqual({ active: false });
    expect((await post(`${edge.address}/v2/refresh`, credentials)).status).toBe(409);
    expect((await post(`${edge.address}/v2/revoke`, credentials)).status).toBe(200);
    expect(await account(credentials)).toBe(401);
    expect((await post(`${edge.address}/v2/refresh`, credentials)).status).toBe(401);
  });

  test('T8: health says that sign-ins are kept', async () => {
    expect(await isKept()).toBe(true);
  });

  once('T9: the operator’s commands need the key, take nothing else, and show no hash', async () => {
    const run = (...parameters: string[]) =>
      runScript('accounts', [...parameters, '--at', edge.address, '--state', temporaryFolder()], {
        environment: { DEBDEX_OPERATOR_KEY: key },
        input: 'a long and new password\n',
      });
    // Its password is hashed at its full cost, which the isolate pays for the sign-in.
    expect(await run('add', 'erin')).toMatchObject({ status: 0, out: 'Added erin.\n' });
    expect((await run('list')).out).toMatch(/^erin +0 /m);
    expect((await logIn('erin', 'a long and new password')).status).toBe(303);
    expect(await run('sign-out', 'erin')).toMatchObject({ out: 'Signed erin out on 1 device.\n' });
    expect(await run('disable', 'erin')).toMatchObject({ status: 0 });
    expect(await run('disable', 'nobody')).toMatchObject({ status: 1, error: 'There is no account named nobody.\n' });
    expect(edge.lines.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['account-added', 'sign-in', 'account-signed-out', 'account-disabled']),
    );
    expect(JSON.stringify(edge.lines)).not.toContain('scrypt');
    const send = (body: unknown, by = key) =>
      post(`${edge.address}/v2/operator`, body, { authorization: `Bearer ${by}`, origin: 'https://elsewhere.example' });
    const found = await send({ operation: 'findAccount', parameters: ['erin'] });
    expect(await found.json()).toMatchObject({ value: { name: 'erin', passwordHash: null } });
    expect(found.headers.get('cache-control')).toBe('no-store');
    expect(found.headers.get('access-control-allow-origin')).toBeNull();
    for (const [operation, ...parameters] of [
      ['findToken', 'x'],
      ['constructor'],
      ['findAccount'],
      ['findAccount', {}],
      ['setDisabled', 'erin', 'yes'],
      ['sweep'],
    ]) {
      expect((await send({ operation, parameters })).status, String(operation)).toBe(400);
    }
    expect((await send({ operation: 'findAccount', parameters: ['x'.repeat(9_000)] })).status).toBe(413);
    expect((await fetch(`${edge.address}/v2/operator`)).status).toBe(405);
    const wrong = await send({ operation: 'listAccounts', parameters: [] }, `${key}x`);
    expect([wrong.status, wrong.headers.get('access-control-allow-origin')]).toEqual([401, null]);
    expect(await wrong.text()).not.toContain('erin');
    for (let tries = 0; tries < 10; tries++) await send({ operation: 'listAccounts', parameters: [] }, 'wrong');
    expect((await send({ operation: 'listAccounts', parameters: [] }, 'wrong')).status).toBe(429);
    // Never the right one.
    expect((await send({ operation: 'listAccounts', parameters: [] })).status).toBe(200);
  });

  test.runIf(gateway.kind === 'hyperdrive')('T12: what is over is deleted on a schedule', async () => {
    await authenticate(edge.address);
    const client = new pg.Client({ connectionString: (kept as { database: string }).database });
    await client.connect();
    const count = async () =>
      Number((await client.query('select count(*) from gateway_sign_in_requests')).rows[0].count);
    try {
      expect(await count()).toBeGreaterThan(0);
      await client.query('update gateway_sign_in_requests set expires_at = 0');
      // As those leave who sign in from fresh networks, in more portions than one takes.
      await client.query(
        `insert into gateway_attempts select decode(lpad(to_hex(number), 64, '0'), 'hex'), 1, 0 from generate_series(1, 500) as number`,
      );
      await edge.runScheduled();
      expect(await count()).toBe(0);
      expect((await client.query('select 1 from gateway_attempts where ends_at = 0')).rows).toEqual([]);
    } finally {
      await client.end();
    }
  });

  once(
    'T8: a store that a later version of the program made is 503 and stays as it is, and one of an earlier is gone on with',
    async () => {
      await add('frank');
      const set = await signIn('frank');
      const alterStore = async (statements: string, variables = {}) => {
        await edge.kill();
        changeObjects(storage(), 'GatewayObject', (database) => database.exec(statements));
        await startWith(variables);
      };
      await alterStore(`UPDATE gateway_schema SET version = ${schemaVersion + 1}`);
      expect((await post(`${edge.address}/v2/revoke`, set)).status).toBe(503);
      expect(await account(set)).toBe(503);
      expect(await isKept()).toBe(false);
      expect(edge.lines).toContainEqual(
        expect.objectContaining({
          event: 'unhealthy',
          reason: expect.stringMatching(/store_unavailable.* store_newer$/),
        }),
      );
      // An update that ends half-way, since the last that it makes is there already, leaves nothing of itself.
      await alterStore(`
      UPDATE gateway_schema SET version = 2;
      ALTER TABLE gateway_families DROP COLUMN udid_hash;
      ALTER TABLE gateway_sign_in_requests DROP COLUMN udid_hash;
    `);
      expect(await account(set)).toBe(503);
      await alterStore('DROP TABLE gateway_keys', shortLived);
      expect(await account(set)).toBe(200);
      expect(await isKept()).toBe(true);
      await signIn('frank');
    },
  );

  test('T6: of ten who refresh at once with one token, one wins', async () => {
    await add('dora');
    await runWith(shortLived);
    const set = await signIn('dora');
    await untilOver(set);
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(`${edge.address}/v2/refresh`, set)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(401)]);
  });

  /** Guesses a password until it is throttled; returns what shows of it in another isolate. */
  const guess = async () => {
    await add('bob');
    const browser = new BrowserSession(edge.address);
    let page = await browser.open(await authenticate(edge.address));
    const statuses = [];
    for (let guess = 0; guess < 6; guess++) {
      page = await browser.submit(page, { name: 'bob', password: 'wrong' });
      statuses.push(page.status);
    }
    expect(statuses).toEqual([403, 403, 403, 403, 403, 429]);
    // The platform says whose request it is, and not a header of another name.
    const from = async (name: string) =>
      (await browser.submit(page, { name: 'bob', password }, { headers: { [name]: '203.0.113.9' } })).status;
    page = await browser.open(await authenticate(edge.address));
    expect(await from('x-forwarded-for')).toBe(429);
    expect(await from('cf-connecting-ip')).toBe(303);
    const authUrl = await authenticate(edge.address);
    return async () => {
      const other = new BrowserSession(edge.address);
      return (await other.submit(await other.open(authUrl), { name: 'bob', password })).status;
    };
  };

  test('T7, T12, T13: what was answered stands when everything is killed, a token is not good twice after it, and guesses and sign-ins are counted for all isolates, whichever is asked', async () => {
    await runWith(shortLived);
    const guessAgain = await guess();
    await add('carol');
    // One after another: of more passwords than four that are checked at once, the last is one guess too many.
    const sets: Credentials[] = [];
    while (sets.length < 4) sets.push(await signIn('carol'));
    // Half of them are refreshed while it is killed.
    for (const set of sets) await untilOver(set);
    const answers = sets.map(async (set) => {
      try {
        const response = await post(`${edge.address}/v2/refresh`, set);
        return { status: response.status, body: await readJson(response) };
      } catch {
        return undefined;
      }
    });
    await Promise.race(answers);
    await killAndStart(oneAMinute);
    for (const [index, set] of sets.entries()) {
      const answer = await answers[index];
      const again = await post(`${edge.address}/v2/refresh`, set);
      if (answer?.status === 200) {
        expect(again.status).toBe(401);
        expect([401, 200]).toContain(await account(answer.body as unknown as Credentials));
      } else expect([200, 401]).toContain(again.status);
    }
    expect((await Promise.all(answers)).some((answer) => answer?.status === 200)).toBe(true);
    // This isolate has counted nothing itself.
    expect(await guessAgain()).toBe(429);
    const body = { callback: 'sileo://authentication_success', udid: 'u', model: 'm' };
    const ask = () => post(`${edge.address}/v2/authenticate`, body);
    let asked = await ask();
    // A minute may just have ended; then this one counted it, and another one is asked.
    if (asked.status === 200) {
      await killAndStart(oneAMinute);
      asked = await ask();
    }
    expect(asked.status).toBe(429);
    expect(Number(asked.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test.runIf(gateway.kind === 'hyperdrive')(
    'T8: health says that sign-ins are not kept where a store is out of reach, which is 503',
    async () => {
      await killAndStart({}, { database: 'postgres://nobody:none@127.0.0.1:9/none' });
      expect(await isKept()).toBe(false);
      expect(edge.lines).toContainEqual(
        expect.objectContaining({
          leaf: 'service_data.database_healthy',
          reason: expect.stringMatching(/^Error store_unavailable, because of /),
        }),
      );
      const { status, headers } = await fetch(`${edge.address}/v2/account`, { headers: { authorization: 'Bearer x' } });
      expect([status, headers.get('retry-after')]).toEqual([503, '5']);
    },
  );

  once('T8: a setting that is wrong is told in the log, and takes nothing along but sign-ins', async () => {
    await killAndStart({ GATEWAY_CALLBACKS: 'http:', OPERATOR_KEY: '' });
    const { status, headers } = await fetch(`${edge.address}/v2/login`);
    expect([status, headers.get('retry-after'), headers.get('access-control-allow-origin')]).toEqual([503, '5', null]);
    expect((await fetch(`${edge.address}/v2/operator`, { method: 'POST' })).status).toBe(503);
    expect((await fetch(`${edge.address}/livez`)).status).toBe(200);
    await expect.poll(() => edge.lines.map(({ message }) => String(message)).join('\n')).toMatch(/GATEWAY_CALLBACKS/);
  });
});

test('T12: an object deletes what is over when its alarm goes off, and sets the next', async () => {
  const address = await newObject();
  let now = Date.now();
  const store = openTestedObject(address, () => now);
  const handle = new Uint8Array(32);
  const request = { callback: 'sileo://x', application: 'sileo', model: 'm', maskedUdid: 'u', udidHash: null };
  // What nobody waits for is not done.
  await expect(store.whileWanted(AbortSignal.abort()).addSignInRequest(handle, request, 1000)).rejects.toThrow(
    StoreUnavailable,
  );
  expect(await store.addSignInRequest(handle, request, 1000)).toBe(true);
  const ask = async (name: string, ...parameters: string[]) => {
    const response = await fetch(address, { method: 'POST', body: writeValue({ name, parameters, now }) });
    const text = await response.text();
    if (response.status !== 200) throw new Error(text);
    return readValue(text);
  };
  const ring = async () => Number(await ask('alarm'));
  const rows = async (sql: string) => (await ask('rows', sql)) as unknown[][];
  now += 1000;
  const minute = 60_000;
  expect(await ring()).toBeGreaterThan(Date.now() + 5 * minute);
  expect(await store.findSignInRequest(handle)).toMatchObject({ state: 'expired' });
  // More than one portion: the next comes at once. Each by a call of its own would take most of the time of this file.
  await rows(`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${portion + 50})
    insert into gateway_sign_in_requests (handle_hash, callback, application, model, masked_udid, expires_at, bytes)
    select randomblob(32), callback, application, model, masked_udid, ${now}, bytes
    from gateway_sign_in_requests, numbers`);
  await rows(`update gateway_request_totals set requests = ${portion + 51}, bytes = ${portion + 51} * bytes`);
  now += 60 * minute;
  expect(await ring()).toBeLessThan(Date.now() + minute);
  const count = async () => Number((await rows('select count(*) from gateway_sign_in_requests'))[0]?.[0]);
  await expect.poll(count, patience).toBe(0);
  expect(await rows('select requests, bytes from gateway_request_totals')).toEqual([[0, 0]]);
});

test('T7: an object does all of an operation or nothing of it', async () => {
  const store = openTestedObject(await newObject(), () => 1_000_000);
  await store.addAccount({ id: 'a', name: 'a', displayName: 'a', passwordHash: '' });
  const [one, other] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const request = { callback: 'sileo://x', application: 'sileo', model: 'm', maskedUdid: 'u', udidHash: null };
  for (const handle of [one, other]) await store.addSignInRequest(handle, request, 1000);
  const hashes = { auth: one, secret: one, refresh: one };
  const complete = (handleHash: Uint8Array, familyId: string) => {
    const set = { id: familyId, hashes, life: 1000, refreshLife: 1000 };
    return store.completeSignIn({ handleHash, accountId: 'a', familyId, familyLife: 1000, set });
  };
  expect(await complete(one, 'first')).toMatchObject({ callback: 'sileo://x' });
  // Of tokens that are there already the last statement fails, when the handle is used up and the family is there.
  await expect(complete(other, 'second')).rejects.toThrow(StoreUnavailable);
  expect(await store.findSignInRequest(other)).toMatchObject({ state: 'open' });
  expect(await store.revokeFamily('second', 'a')).toBe(false);
  expect(await store.listDevices('a')).toHaveLength(1);
});

test('T14: of an object that ends after it did what it was asked and before it answers, nothing is done twice, and nobody is taken for a thief', async () => {
  const address = await newObject();
  const gateway = await startGateway({ OBJECT_STORE: address, GATEWAY_INTROSPECTION_SECRETS: secret });
  onTestFinished(gateway.close);
  await addAccount(gateway.store, 'alice');
  const dieAfter = (operation: string) =>
    fetch(address, { method: 'POST', body: writeValue({ name: 'dieAfter', parameters: [operation] }) });
  const send = async (operation: 'refresh' | 'revoke', set: Credentials) =>
    (await post(`${gateway.base}/v2/${operation}`, set)).status;
  const devices = async () => (await gateway.store.listAccounts())[0]?.devices;
  const hasEvent = (event: string) => gateway.log.some((line) => line.includes(`"event":"${event}"`));

  // The same tokens again at once: refused, and the sign-in goes on; after ten seconds whoever has them may be a thief.
  const [kept, late] = [await signIn(gateway.base, 'alice'), await signIn(gateway.base, 'alice')];
  gateway.advance(3_600_000);
  for (const set of [kept, late]) {
    await dieAfter('refresh');
    expect(await send('refresh', set)).toBe(503);
  }
  gateway.advance(9_000);
  expect(await send('refresh', kept)).toBe(401);
  expect([await devices(), hasEvent('reuse-detected')]).toEqual([2, false]);
  gateway.advance(2_000);
  expect(await send('refresh', late)).toBe(401);
  expect([await devices(), hasEvent('reuse-detected')]).toEqual([1, true]);

  // To end a sign-in again is to have ended it.
  const ended = await signIn(gateway.base, 'alice');
  await dieAfter('revoke');
  expect(await send('revoke', ended)).toBe(503);
  expect(await devices()).toBe(1);
  expect(await send('revoke', ended)).toBe(200);

  // A sign-in of which the callback never came is over; the device is asked to begin anew, and can.
  const authUrl = await authenticate(gateway.base);
  const browser = new BrowserSession();
  const page = await browser.open(authUrl);
  await dieAfter('completeSignIn');
  expect((await browser.submit(page, { name: 'alice', password })).status).toBe(503);
  expect((await browser.submit(page, { name: 'alice', password })).status).toBe(410);
  const { auth_token } = await signIn(gateway.base, 'alice');
  const headers = { authorization: `Bearer ${auth_token}` };
  expect((await fetch(`${gateway.base}/v2/account`, { headers })).status).toBe(200);
});
