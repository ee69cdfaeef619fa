import { copyFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { BrowserSession } from '../support/browser-session.ts';
import { startGatewayProcess } from '../support/gateway-processes.ts';
import { addAccount, post, readJson, startGateway, type TestGateway } from '../support/gateway-session.ts';
import { issue, openProtocol } from '../support/issue.ts';
import { newDatabase } from '../support/new-database.ts';
import { type Credentials, signIn } from '../support/package-manager.ts';
import { openPooler } from '../support/pooler.ts';
import { startPostgres } from '../support/postgres-server.ts';

const hour = 3_600_000;

const statuses = async (base: string, credentials: Credentials) => ({
  refresh: (await post(`${base}/v2/refresh`, credentials)).status,
  revoke: (await post(`${base}/v2/revoke`, credentials)).status,
});

/** The set is as it was: it refreshes, and what comes of it is alive. */
const expectUnconsumed = async (base: string, credentials: Credentials) => {
  const response = await post(`${base}/v2/refresh`, credentials);
  expect(response.status).toBe(200);
  const headers = { authorization: `Bearer ${(await readJson(response)).auth_token}` };
  expect((await fetch(`${base}/v2/account`, { headers })).status).toBe(200);
};

/** What an hour later may be refreshed. */
const signInWith = async (gateway: TestGateway): Promise<Credentials> => {
  await addAccount(gateway.store, 'alice');
  const credentials = await signIn(gateway.base, 'alice');
  gateway.advance(hour);
  expect(await gateway.health()).toBe(true);
  return credentials;
};

const start = async (): Promise<{ gateway: TestGateway; credentials: Credentials }> => {
  const gateway = await startGateway();
  return { gateway, credentials: await signInWith(gateway) };
};

test('T8 PostgreSQL that is away at the start is used once it is there, and out of reach later it is 503 with nothing consumed until its return is noticed', async () => {
  const database = await startPostgres();
  const url = await database.createDatabase();
  await database.stop();
  const gateway = await startGateway({ GATEWAY_DATABASE_URL: url });
  expect(await gateway.health()).toBe(false);
  expect(
    (await post(`${gateway.base}/v2/refresh`, { auth_token: 'a', payment_secret: 'b', refresh_token: 'c' })).status,
  ).toBe(503);
  await database.start();
  expect(await gateway.health()).toBe(true);
  const credentials = await signInWith(gateway);

  await database.stop();
  expect(await gateway.health()).toBe(false);
  const refresh = await post(`${gateway.base}/v2/refresh`, credentials);
  expect(refresh.status).toBe(503);
  expect(refresh.headers.get('retry-after')).toBe('5');
  expect(await readJson(refresh)).toEqual({
    message: '503 Service Unavailable',
    error: 'The credential store cannot be reached; send the same again',
    date: expect.any(String),
  });
  expect((await post(`${gateway.base}/v2/revoke`, credentials)).status).toBe(503);
  const body = { callback: 'sileo://authentication_success', udid: 'u', model: 'm' };
  expect((await post(`${gateway.base}/v2/authenticate`, body)).status).toBe(503);
  const authorization = `Bearer ${credentials.auth_token}`;
  expect((await fetch(`${gateway.base}/v2/account`, { headers: { authorization } })).status).toBe(503);
  const page = await new BrowserSession().open(`${gateway.base}/v2/login`);
  expect(page.status).toBe(503);
  expect(page.text).toContain('not possible at the moment');
  await database.start();
  await expect.poll(gateway.health).toBe(true);
  await expectUnconsumed(gateway.base, credentials);
  await gateway.close();
  await database.remove();
});

test.each(['directly', 'by way of a pooler'])(
  'T8 PostgreSQL, asked %s, that is only a standby by now is 503, not read for what was true before, until it is one no more',
  async (way) => {
    const database = await startPostgres();
    onTestFinished(database.remove);
    const url = await database.createDatabase();
    const pooler = way === 'directly' ? undefined : await openPooler(url, 'dropped');
    const gateway = await startGateway({ GATEWAY_DATABASE_URL: pooler?.url ?? url });
    onTestFinished(gateway.close);
    const credentials = await signInWith(gateway);
    await database.stop();
    writeFileSync(join(database.folder, 'data', 'standby.signal'), '');
    await database.start();
    expect(await statuses(gateway.base, credentials)).toEqual({ refresh: 503, revoke: 503 });
    const headers = { authorization: `Bearer ${credentials.auth_token}` };
    const account = await fetch(`${gateway.base}/v2/account`, { headers });
    expect([account.status, account.headers.get('www-authenticate')]).toEqual([503, null]);
    expect(account.headers.get('retry-after')).toBe('5');
    const operator = new pg.Client({ connectionString: url });
    await operator.connect();
    await operator.query('select pg_promote()');
    await operator.end();
    if (pooler) pooler.repeatsStandby = true;
    await expect.poll(gateway.health).toBe(true);
    await expectUnconsumed(gateway.base, credentials);
  },
);

test('T8 a connection on which nothing can be written is given up for one on which it can', async () => {
  const url = await newDatabase();
  const first = await startGateway({ GATEWAY_DATABASE_URL: url });
  const credentials = await signInWith(first);
  await first.close();
  const operator = new pg.Client({ connectionString: url });
  await operator.connect();
  onTestFinished(() => operator.end());
  const { pathname } = new URL(url);
  // As of a server that was told so, or of a standby that does not say that it is one.
  const say = `alter database ${pathname.slice(1)}`;
  await operator.query(`${say} set default_transaction_read_only = on`);
  const gateway = await startGateway({ GATEWAY_DATABASE_URL: url }, { now: first.now() });
  onTestFinished(gateway.close);
  expect(await statuses(gateway.base, credentials)).toEqual({ refresh: 503, revoke: 503 });
  expect(gateway.log.map((line) => JSON.parse(line).reason)).toContain(
    'Error store_unavailable, because of error 25006',
  );
  await operator.query(`${say} reset default_transaction_read_only`);
  await expect.poll(gateway.health).toBe(true);
  await expectUnconsumed(gateway.base, credentials);
});

test('T8 a full disk is 503 with nothing consumed', async () => {
  const { gateway, credentials } = await start();
  const accountId = await addAccount(gateway.store, 'bob');
  const limited = await startGatewayProcess({ STATE_DIR: gateway.folder }, { fileLimit: 800 });
  try {
    await limited.setAhead(gateway.now() - Date.now());
    // The write-ahead log grows until the limit of the other process stands in its way.
    const protocol = openProtocol(gateway.store);
    let status = 200;
    for (let filled = 0; status === 200 && filled < 400; filled++) {
      await issue(protocol, accountId);
      status = (
        await post(`${limited.base}/v2/authenticate`, {
          callback: 'sileo://authentication_success',
          udid: 'u',
          model: 'm',
        })
      ).status;
    }
    expect(status).toBe(503);
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(await statuses(limited.base, credentials)).toEqual({ refresh: 503, revoke: 503 });
    }
    await expectUnconsumed(gateway.base, credentials);
  } finally {
    await limited.kill();
    await gateway.close();
  }
});

test('a transaction that SQLite undoes by itself, as where the disk fails, is told by its own reason', async () => {
  const gateway = await startGateway();
  onTestFinished(gateway.close);
  expect(await gateway.health()).toBe(true);
  const database = new DatabaseSync(join(gateway.folder, 'gateway.sqlite'));
  onTestFinished(() => database.close());
  database.exec(`create trigger undo before insert on gateway_accounts
    begin select raise(rollback, 'undone') where new.name = 'alice'; end`);
  const added = await addAccount(gateway.store, 'alice').catch((error: Error) => error);
  expect(added).toMatchObject({ cause: { message: 'undone' } });
  expect(await addAccount(gateway.store, 'bob')).toEqual(expect.any(String));
});

test('T8 a database file that was moved away is 503, not written to for nothing', async () => {
  const { gateway, credentials } = await start();
  const file = join(gateway.folder, 'gateway.sqlite');
  renameSync(file, `${file}.away`);
  expect(await gateway.health()).toBe(false);
  expect(gateway.reasons).toEqual(['Error store_unavailable, because of Error ENOENT']);
  expect(await statuses(gateway.base, credentials)).toEqual({ refresh: 503, revoke: 503 });
  renameSync(`${file}.away`, file);
  expect(await gateway.health()).toBe(true);
  await expectUnconsumed(gateway.base, credentials);
  await gateway.close();
});

test('the log tells what is the matter with a SQLite file', async () => {
  const damaged = await startGateway();
  onTestFinished(damaged.close);
  writeFileSync(join(damaged.folder, 'gateway.sqlite'), 'no database'.repeat(1_000));
  const { gateway, credentials } = await start();
  onTestFinished(gateway.close);
  const file = join(gateway.folder, 'gateway.sqlite');
  copyFileSync(file, `${file}.copy`);
  renameSync(`${file}.copy`, file);
  for (const [{ base, log }, reason] of [
    [damaged, 'ERR_SQLITE_ERROR (file is not a database)'],
    [gateway, 'file_replaced'],
  ] as const) {
    expect(await statuses(base, credentials)).toEqual({ refresh: 503, revoke: 503 });
    expect(JSON.parse(log.at(-1) ?? '').reason).toBe(`Error store_unavailable, because of Error ${reason}`);
  }
});

test('T8 who is signed in is let in though the time of it cannot be noted, as with a full disk', async () => {
  const gateway = await startGateway();
  onTestFinished(gateway.close);
  const account = await addAccount(gateway.store, 'alice');
  const { auth_token } = await issue(openProtocol(gateway.store), account);
  gateway.advance(hour / 2);
  let asked = 0;
  const touchFamily = () => {
    asked++;
    return Promise.reject(new Error('full'));
  };
  const protocol = openProtocol({ ...gateway.store, touchFamily });
  expect(await protocol.check(auth_token)).toMatchObject({ accountId: account });
  expect(asked).toBe(1);
});

test('T8 a database that another process keeps locked is 503 with nothing consumed, and still read', async () => {
  const { gateway, credentials } = await start();
  const live = await signIn(gateway.base, 'alice');
  const other = new DatabaseSync(join(gateway.folder, 'gateway.sqlite'));
  other.exec('BEGIN IMMEDIATE');
  const refresh = post(`${gateway.base}/v2/refresh`, credentials);
  const authorization = `Bearer ${live.auth_token}`;
  expect((await fetch(`${gateway.base}/v2/account`, { headers: { authorization } })).status).toBe(200);
  expect((await refresh).status).toBe(503);
  other.exec('ROLLBACK');
  await expectUnconsumed(gateway.base, credentials);
  other.close();
  await gateway.close();
});

test('T8 a write that fails takes none of those down that share its sync', async () => {
  const { gateway, credentials } = await start();
  const accountId = await addAccount(gateway.store, 'bob');
  const protocol = openProtocol(gateway.store);
  const { handle = '' } =
    (await protocol.authenticate({ callback: 'sileo://authentication_success', udid: 'u', model: 'm' })) ?? {};
  const doomed = gateway.store.completeSignIn({
    handleHash: new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(handle))),
    accountId,
    familyId: 'family',
    familyLife: hour,
    // No such hashes: the insertion fails after the handle was used up in the same transaction.
    set: { id: 'set', hashes: { auth: null, secret: null, refresh: null } as never, life: 0, refreshLife: 0 },
  });
  const [failed, refreshed, issued] = await Promise.allSettled([
    doomed,
    post(`${gateway.base}/v2/refresh`, credentials),
    issue(protocol, accountId),
  ]);
  expect(failed).toMatchObject({ status: 'rejected', reason: { code: 'store_unavailable' } });
  expect(refreshed).toMatchObject({ status: 'fulfilled', value: { status: 200 } });
  expect(issued.status).toBe('fulfilled');
  expect(await protocol.lookUpHandle(handle)).toMatchObject({ state: 'open' });
  await gateway.close();
});
