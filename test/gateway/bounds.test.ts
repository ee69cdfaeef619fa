import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { readStoreLocation } from '../../functions/gateway/configuration.ts';
import { createNodeCryptography } from '../../functions/gateway/node/node-cryptography.ts';
import type { CredentialStore } from '../../functions/gateway/store/credential-store.ts';
import { openCredentialStore } from '../../functions/gateway/store/open-store.ts';
import { usualBounds } from '../../functions/gateway/store/sign-in-requests.ts';
import { openSqlite } from '../../functions/gateway/store/sqlite.ts';
import { temporaryFolder } from '../support/folder.ts';
import { addAccount, post, startGateway, type TestGateway } from '../support/gateway-session.ts';
import { issue, openProtocol } from '../support/issue.ts';
import { type Credentials, signIn } from '../support/package-manager.ts';
import { describeStores } from '../support/stores.ts';

const minute = 60_000;
const hour = 60 * minute;
const body = { callback: 'sileo://authentication_success', udid: 'u', model: 'm' };

const bytesOnDisk = (folder: string) =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

test('T12 a client network may ask for so many sign-ins in a minute, and a throttled one writes nothing', async () => {
  const gateway = await startGateway({ GATEWAY_SIGN_IN_RATE: '10', TRUSTED_PROXIES: '1' });
  const ask = (address: string) => post(`${gateway.base}/v2/authenticate`, body, { 'X-Forwarded-For': address });
  const count = async (addresses: readonly string[]) => {
    const statuses: number[] = [];
    for (const address of addresses) statuses.push((await ask(address)).status);
    expect(statuses.every((status) => status === 200 || status === 429)).toBe(true);
    return statuses.filter((status) => status === 200).length;
  };
  const times = <T>(number: number, make: (index: number) => T) =>
    Array.from({ length: number }, (_, index) => make(index));

  expect(await count(times(15, () => '198.51.100.7'))).toBe(10);
  const refused = await ask('198.51.100.7');
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).toBe('6');
  const size = bytesOnDisk(gateway.folder);
  expect(await count(times(20, () => '198.51.100.7'))).toBe(0);
  expect(bytesOnDisk(gateway.folder)).toBe(size);
  // Another address is not concerned; nor is anybody who is signed in.
  expect(await count(['198.51.100.8'])).toBe(1);
  // Whoever holds a /56, or a /48, has no more than two and four times as much.
  expect(await count(times(25, (index) => `2001:db8:1:${(0x200 + index).toString(16)}::1`))).toBe(20);
  expect(await count(times(45, (index) => `2001:db8:2:${(index * 256).toString(16)}::1`))).toBe(40);
  // Half a minute later half of it is there again.
  gateway.advance(30_000);
  expect(await count(times(15, () => '198.51.100.7'))).toBe(5);
  await gateway.close();
});

test('T12 the log of a SQLite store that has grown long is cut when it begins anew', async () => {
  const file = join(temporaryFolder(), 'gateway.sqlite');
  const { write, close } = openSqlite(file);
  onTestFinished(close);
  await sql`create table long (bytes blob)`.execute(write);
  const sizeAfter = async (bytes: number) => {
    await sql`insert into long values (randomblob(${bytes}))`.execute(write);
    return statSync(`${file}-wal`).size;
  };
  expect(await sizeAfter(2 ** 23)).toBeGreaterThan(2 ** 23);
  expect(await sizeAfter(1)).toBeLessThanOrEqual(2 ** 22);
});

test('T12 too many sign-ins under way are no trouble of the store, in the log neither', async () => {
  const gateway = await startGateway();
  expect((await post(`${gateway.base}/v2/authenticate`, body)).status).toBe(200);
  const file = new DatabaseSync(join(gateway.folder, 'gateway.sqlite'));
  file.exec(`update gateway_request_totals set requests = ${usualBounds.requests}`);
  file.close();
  const refused = await post(`${gateway.base}/v2/authenticate`, body);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '60']);
  expect(gateway.log.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ event: 'sign-in-throttled', address: '127.0.0.1', reason: 'too many are under way' }),
  ]);
  await gateway.close();
});

describeStores('bounds', (newStore, kind) => {
  let gateway: TestGateway;
  let environment: Readonly<Record<string, string>>;
  beforeAll(async () => {
    environment = await newStore();
    gateway = await startGateway(environment);
    await addAccount(gateway.store, 'alice');
  });
  afterAll(() => gateway.close());

  const openBounded = (requestBounds: { requests: number; bytes: number }) =>
    openCredentialStore(readStoreLocation(environment, gateway.folder), createNodeCryptography(), {
      clock: gateway.now,
      requestBounds,
    });
  const request = {
    callback: 'sileo://authentication_success',
    application: 'sileo',
    model: 'm',
    maskedUdid: '••••',
    udidHash: new Uint8Array(32),
  };
  const ask = (store: CredentialStore, callback = request.callback) =>
    store.addSignInRequest(crypto.getRandomValues(new Uint8Array(32)), { ...request, callback }, 10 * minute);
  const askMany = async (store: CredentialStore, count: number, callback?: string) => {
    let taken = 0;
    // So many at once that they wait for each other, and so few that none waits for as long as the store lets it.
    for (let asked = 0; asked < count; asked += 50) {
      const some = Array.from({ length: Math.min(50, count - asked) }, () => ask(store, callback));
      taken += (await Promise.all(some)).filter(Boolean).length;
    }
    return taken;
  };

  /** Performs a statement in the database itself. */
  const perform = async (statement: string): Promise<void> => {
    const url = environment.GATEWAY_DATABASE_URL;
    if (url === undefined) {
      const file = new DatabaseSync(join(gateway.folder, 'gateway.sqlite'));
      file.exec(statement);
      file.close();
      return;
    }
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  /**
   * Inserts so many copies of the row of a table that is the last by a column, some columns of which have bytes of their
   * own: to make them by what the gateway does takes a hundred times as long.
   */
  const repeatLast = (table: string, last: string, times: number, copied: string, own: readonly string[]) => {
    const bytes = own.map(() => (kind === 'SQLite' ? 'randomblob(32)' : 'sha256(random()::text::bytea)'));
    return perform(`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${times})
      insert into ${table} (${own.join()}, ${copied})
      select ${bytes.join()}, ${copied.replace(/^id\b/, "'copy' || n")}
      from (select * from ${table} where ${last} is not null order by ${last} desc limit 1) as one, numbers`);
  };

  test('T12 sign-in requests are bounded in number: the stranger is refused, not the signed-in', async () => {
    const store = openBounded({ requests: 20, bytes: 2 ** 20 });
    const credentials = await signIn(gateway.base, 'alice');
    // The one of this sign-in still has its row.
    expect(await askMany(store, 30)).toBe(19);
    const protocol = openProtocol(store);
    const stranger = { callback: 'sileo://authentication_success', udid: 'u', model: 'm' };
    expect(await protocol.authenticate(stranger)).toBeUndefined();
    gateway.advance(hour);
    const result = await protocol.refresh(credentials);
    expect(result.decision).toBe('rotate');
    // Those that are over make room.
    expect(await askMany(store, 30)).toBe(20);
    gateway.advance(2 * hour);
    // With what the throttle counted for the sign-in.
    expect((await store.sweep()).deleted).toBeGreaterThanOrEqual(20);
    expect(await askMany(store, 30)).toBe(20);
    gateway.advance(2 * hour);
    await store.sweep();
    await store.close();
  });

  test('T12 and in bytes, whatever they consist of', async () => {
    const store = openBounded({ requests: 10_000, bytes: 30_000 });
    const large = `sileo://authentication_success?${'ü'.repeat(1_000)}`;
    const added = await askMany(store, 20, large);
    // Each takes two bytes for a letter like this, and something for the row.
    expect(added).toBeGreaterThan(10);
    expect(added).toBeLessThan(15);
    // What is over gives its bytes back, whether it is deleted for want of room or by the sweep.
    gateway.advance(hour / 2);
    expect(await askMany(store, 20, large)).toBe(added);
    gateway.advance(2 * hour);
    await store.sweep();
    expect(await askMany(store, 20, large)).toBe(added);
    gateway.advance(2 * hour);
    await store.sweep();
    await store.close();
  });

  test('T12 a sweep goes by in portions until there is nothing left', async () => {
    const store = openBounded({ requests: 10_000, bytes: 2 ** 24 });
    expect(await askMany(store, 1)).toBe(1);
    const copied = 'callback, application, model, masked_udid, expires_at, bytes';
    await repeatLast('gateway_sign_in_requests', 'expires_at', 249, copied, ['handle_hash']);
    await perform('update gateway_request_totals set requests = 250 * requests, bytes = 250 * bytes');
    gateway.advance(2 * hour);
    const sweeps = [];
    do sweeps.push(await store.sweep());
    while (sweeps.at(-1)?.more);
    expect(sweeps.map(({ deleted }) => deleted)).toEqual([200, 50]);
    await store.close();
  });

  test.each(['revoked_at', 'ends_at'] as const)(
    'T12 a sign-in whose time is over by %s goes by in portions too, with its sets before it',
    async (column) => {
      const store = openBounded(usualBounds);
      while ((await store.sweep()).more);
      const accountId = await addAccount(store, `of-${column}`);
      const protocol = openProtocol(store, { credentialLife: 0 });
      const result = await protocol.refresh(await issue(protocol, accountId));
      if (result.decision !== 'rotate') throw new Error(result.decision);
      const held: Credentials = result.credentials;
      const copied = 'id, family_id, created_at, expires_at, refresh_expires_at, ends_at, spent_at';
      const own = ['auth_hash', 'secret_hash', 'refresh_hash'];
      await repeatLast('gateway_credential_sets', 'spent_at', 248, copied, own);
      if (column === 'revoked_at') {
        await protocol.revoke(held);
        gateway.advance(29 * 24 * hour);
        while ((await store.sweep()).more);
        // Known until then.
        expect(await protocol.revoke(held)).toMatchObject({ decision: 'revoke' });
        gateway.advance(24 * hour);
      } else gateway.advance(366 * 24 * hour);
      const sweeps = [];
      do sweeps.push((await store.sweep()).deleted);
      while (sweeps.at(-1) !== 0);
      // What goes with a family is not counted; of other tables there are a few rows.
      expect(Math.max(...sweeps)).toBeLessThan(210);
      expect(sweeps.reduce((sum, deleted) => sum + deleted)).toBeGreaterThanOrEqual(250);
      await store.close();
    },
  );

  if (kind === 'SQLite') {
    test('T12 what was written and deleted leaves neither a large file nor a large log', async () => {
      const file = join(gateway.folder, 'gateway.sqlite');
      const store = openBounded({ requests: 100_000, bytes: 2 ** 28 });
      await store.sweep();
      const raw = new DatabaseSync(file);
      raw.exec('BEGIN IMMEDIATE');
      const insert = raw.prepare(`insert into gateway_sign_in_requests
        (handle_hash, callback, application, model, masked_udid, expires_at, bytes) values (?, ?, '', '', '', ?, 2300)`);
      for (let count = 0; count < 4_000; count++) {
        insert.run(crypto.getRandomValues(new Uint8Array(32)), 'x'.repeat(2_000), gateway.now());
      }
      raw.exec('update gateway_request_totals set requests = requests + 4000, bytes = bytes + 4000 * 2300; COMMIT');
      raw.close();
      expect(bytesOnDisk(gateway.folder)).toBeGreaterThan(8 * 2 ** 20);
      gateway.advance(2 * hour);
      let largestLog = 0;
      for (let more = true; more; ) {
        ({ more } = await store.sweep());
        largestLog = Math.max(largestLog, statSync(`${file}-wal`).size);
      }
      // A megabyte stays free for what is written next; the log is empty.
      expect(statSync(file).size).toBeLessThan(2.5 * 2 ** 20);
      expect(statSync(`${file}-wal`).size).toBe(0);
      expect(largestLog).toBeLessThan(12 * 2 ** 20);
      await store.close();
    });

    test('T12 a file from before can give space back too', async () => {
      const file = join(gateway.folder, 'old.sqlite');
      const open = () => openCredentialStore({ kind: 'sqlite', file }, createNodeCryptography());
      const first = open();
      const id = createNodeCryptography().randomId();
      await first.addAccount({ id, name: 'old', displayName: 'old', passwordHash: '' });
      await issue(openProtocol(first), id);
      await first.close();
      const raw = new DatabaseSync(file);
      raw.exec('PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = NONE; VACUUM');
      expect(raw.prepare('PRAGMA auto_vacuum').get()).toEqual({ auto_vacuum: 0 });
      raw.close();
      const second = open();
      expect(await second.listDevices(id)).toHaveLength(1);
      await second.close();
      const again = new DatabaseSync(file);
      expect(again.prepare('PRAGMA auto_vacuum').get()).toEqual({ auto_vacuum: 2 });
      again.close();
    });
  }
});
