import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createNodeCryptography } from '../../functions/gateway/node/node-cryptography.ts';
import { connect } from '../../functions/gateway/store/connection.ts';
import { createStore } from '../../functions/gateway/store/create-store.ts';
import { beginWait, boundBy, transactPostgres } from '../../functions/gateway/store/databases.ts';
import { openCredentialStore } from '../../functions/gateway/store/open-store.ts';
import { openPostgres } from '../../functions/gateway/store/postgres.ts';
import { createOperations } from '../../functions/gateway/store/store-operations.ts';
import { temporaryFolder } from '../support/folder.ts';
import { addAccount, post, readJson, startGateway, type TestGateway } from '../support/gateway-session.ts';
import { issue, openProtocol } from '../support/issue.ts';
import { newDatabase } from '../support/new-database.ts';
import type { Credentials } from '../support/package-manager.ts';
import { openPassage } from '../support/passage.ts';
import { openPooler } from '../support/pooler.ts';
import { runScript } from '../support/run-script.ts';
import { describeStores } from '../support/stores.ts';

const second = 1_000;

/** Holds every write of the store back until it is called. */
const lock = async (gateway: TestGateway, url: string | undefined): Promise<() => Promise<void>> => {
  if (url === undefined) {
    const other = new DatabaseSync(join(gateway.folder, 'gateway.sqlite'));
    other.exec('BEGIN IMMEDIATE');
    const release = async () => {
      if (other.isOpen) other.close();
    };
    onTestFinished(release);
    return release;
  }
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  await other.query('begin');
  await other.query('lock table gateway_credential_sets, gateway_families in share row exclusive mode');
  let ended: Promise<void> | undefined;
  const release = () => (ended ??= other.end());
  onTestFinished(release);
  return release;
};

/** Has no wait end by time in a test, however long a busy machine takes for what it waits for. */
const stopClock = () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
};

describeStores('waiting', (newStore) => {
  let gateway: TestGateway;
  let url: string | undefined;
  let account: string;
  beforeAll(async () => {
    const environment = await newStore();
    url = environment.GATEWAY_DATABASE_URL;
    gateway = await startGateway(environment);
    account = await addAccount(gateway.store, 'alice');
  });
  afterAll(() => gateway.close());

  /** Sets that have expired already. */
  const issueMany = (count: number): Promise<Credentials[]> =>
    Promise.all(
      Array.from({ length: count }, () => issue(openProtocol(gateway.store, { credentialLife: 0 }), account)),
    );
  const refresh = async (credentials: Credentials, signal?: AbortSignal) =>
    (await post(`${gateway.base}/v2/refresh`, credentials, {}, signal)).status;

  test('T8, T14 a dozen refreshes that meet a lock wait together and not one after another, others are answered, and what was answered with 503 is done when it is asked for again, at once or a minute afterwards', async () => {
    const sets = await issueMany(12);
    const [live] = await Promise.all([issue(openProtocol(gateway.store), account)]);
    const release = await lock(gateway, url);
    const headers = { authorization: `Bearer ${live.auth_token}` };
    const said = vi.spyOn(console, 'error');
    const begun = performance.now();
    let answered = 0;
    const before = gateway.log.length;
    const statuses = Promise.all(
      sets.map(async (set) => {
        const status = await refresh(set);
        answered++;
        return status;
      }),
    );
    let reads = 0;
    while (answered === 0) {
      // Leaves most of the processor to those that wait.
      await sleep(250);
      expect((await fetch(`${gateway.base}/v2/account`, { headers })).status).toBe(200);
      if (answered === 0) reads++;
    }
    expect(await statuses).toEqual(sets.map(() => 503));
    // The log says what was waited for in vain: the time, or the lock by PostgreSQL's own code.
    for (const line of gateway.log.slice(before)) {
      expect(JSON.parse(line).reason).toMatch(url === undefined ? / too_late$/ : / (?:too_late|55P03)$/);
    }
    // One after another they would have taken a minute.
    expect(performance.now() - begun).toBeLessThan(30 * second);
    expect(reads).toBeGreaterThan(0);
    await release();
    const [some, others] = [sets.slice(0, 6), sets.slice(6)];
    expect(await Promise.all(some.map((set) => refresh(set)))).toEqual(some.map(() => 200));
    // What was answered with 503 is not done later either.
    expect(await gateway.health()).toBe(true);
    gateway.advance(60 * second);
    expect(await Promise.all(others.map((set) => refresh(set)))).toEqual(others.map(() => 200));
    // A line of a library among those of the log would be no JSON.
    expect(said.mock.calls).toEqual([]);
    said.mockRestore();
  });

  test('T14 a refresh whose client has left is not done, and its retry is; no line of the log takes it for a fault of the store', async () => {
    const [set, ahead] = await issueMany(2);
    if (!set || !ahead) throw new Error('no sets');
    const release = await lock(gateway, url);
    const client = new AbortController();
    const before = gateway.log.length;
    // Who asks for the lock, where there is one connection; who leaves stands in line behind.
    const aheadSeen = gateway.nextRequest();
    const done = refresh(ahead);
    await aheadSeen;
    const seen = gateway.nextRequest();
    const abandoned = refresh(set, client.signal).catch(() => 'left');
    const { closed } = await seen;
    client.abort();
    expect(await abandoned).toBe('left');
    await closed;
    await release();
    expect(await done).toBe(200);
    expect(await gateway.health()).toBe(true);
    expect(await refresh(set)).toBe(200);
    expect(gateway.log.slice(before)).toEqual([]);
  });

  test('T14 of two who present one token the second is answered where the first has left', async () => {
    const [set] = await issueMany(1);
    if (!set) throw new Error('no set');
    const release = await lock(gateway, url);
    const client = new AbortController();
    const seen = gateway.nextRequest();
    const abandoned = refresh(set, client.signal).catch(() => 'left');
    const { closed } = await seen;
    const seenToo = gateway.nextRequest();
    const second = refresh(set);
    await seenToo;
    client.abort();
    expect(await abandoned).toBe('left');
    await closed;
    await release();
    expect(await second).toBe(200);
  });

  test('T14 an operation for a client that has left before it began does nothing', async () => {
    const store = gateway.store.whileWanted(AbortSignal.abort());
    await expect(store.signOutAccount('alice')).rejects.toMatchObject({ code: 'store_unavailable' });
    const [set] = await issueMany(1);
    if (!set) throw new Error('no set');
    expect(await refresh(set)).toBe(200);
  });
});

test('T14 the grace of a retry counts from when the refresh happened, not from when it was asked for', async () => {
  const gateway = await startGateway();
  const account = await addAccount(gateway.store, 'alice');
  const set = await issue(openProtocol(gateway.store, { credentialLife: 0 }), account);
  const release = await lock(gateway, undefined);
  const seen = gateway.nextRequest();
  const first = post(`${gateway.base}/v2/refresh`, set);
  await seen;
  gateway.advance(14 * second);
  await release();
  const answer = await first;
  expect(answer.status).toBe(200);
  const { auth_token } = await readJson(answer);
  // The answer was lost; the client asks again.
  gateway.advance(9 * second);
  expect((await post(`${gateway.base}/v2/refresh`, set)).status).toBe(401);
  const headers = { authorization: `Bearer ${auth_token}` };
  expect((await fetch(`${gateway.base}/v2/account`, { headers })).status).toBe(200);
  await gateway.close();
});

test('T8 more operations than may wait are refused at once', async () => {
  stopClock();
  let openNow = () => {};
  const opening = new Promise<void>((resolve) => {
    openNow = resolve;
  });
  const all = createStore(async () => {
    await opening;
    const connection = await connect({ kind: 'sqlite', file: join(temporaryFolder(), 'gateway.sqlite') });
    return { ...connection, operations: createOperations(createNodeCryptography()) };
  });
  const leaving = new AbortController();
  const store = all.whileWanted(leaving.signal);
  // For the database to open: to wait for a lock in it takes more of the processor, and they are counted before that.
  const waiting = Array.from({ length: 4_200 }, () =>
    store.hasAccounts().then(
      () => 'done',
      (error) => String(error.cause?.message),
    ),
  );
  expect(await Promise.race(waiting.slice(4_100))).toBe('too many operations wait');
  leaving.abort();
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['the client has left', 'too many operations wait']));
  openNow();
  expect(await all.hasAccounts()).toBe(false);
  await all.close();
});

describe('a PostgreSQL that stands still', () => {
  test('T8 is 503 for all within one wait, with nothing consumed', async () => {
    const url = new URL(await newDatabase());
    const passage = await openPassage(new URL(url));
    url.port = String(passage.port);
    const gateway = await startGateway({ GATEWAY_DATABASE_URL: url.href });
    const account = await addAccount(gateway.store, 'alice');
    const protocol = openProtocol(gateway.store, { credentialLife: 0 });
    const sets = await Promise.all(Array.from({ length: 12 }, () => issue(protocol, account)));
    passage.hold(true);
    const begun = performance.now();
    const answers = await Promise.all(sets.map((set) => post(`${gateway.base}/v2/refresh`, set)));
    expect(answers.map(({ status }) => status)).toEqual(sets.map(() => 503));
    expect(performance.now() - begun).toBeLessThan(30 * second);
    passage.hold(false);
    await expect.poll(gateway.health).toBe(true);
    const again = await Promise.all(sets.map((set) => post(`${gateway.base}/v2/refresh`, set)));
    expect(again.map(({ status }) => status)).toEqual(sets.map(() => 200));
    await gateway.close();
    passage.close();
  });

  test.each(['itself', 'a pooler'])(
    'T8 is left where %s is somewhere else by now, though no connection to it breaks',
    async (what) => {
      const database = await newDatabase();
      const url = new URL(what === 'itself' ? database : (await openPooler(database, 'refused')).url);
      const passage = await openPassage(new URL(url));
      onTestFinished(() => void passage.close());
      url.port = String(passage.port);
      const gateway = await startGateway({ GATEWAY_DATABASE_URL: url.href });
      onTestFinished(gateway.close);
      const account = await addAccount(gateway.store, 'alice');
      const [set, live] = [
        await issue(openProtocol(gateway.store, { credentialLife: 0 }), account),
        await issue(openProtocol(gateway.store), account),
      ];
      const headers = { authorization: `Bearer ${live.auth_token}` };
      const read = async () => (await fetch(`${gateway.base}/v2/account`, { headers })).status;
      // Some connections to read by, and some to write by.
      expect(await Promise.all([read(), read(), read(), gateway.health(), gateway.health()])).toEqual([
        ...[200, 200, 200],
        ...[true, true],
      ]);
      passage.abandon();
      const write = async () => (await post(`${gateway.base}/v2/refresh`, set)).status;
      // Never so long without a question that a connection is given up for that.
      expect(await Promise.all([read(), read(), read(), write()])).toEqual([503, 503, 503, 503]);
      await expect.poll(async () => (await Promise.all([read(), read(), read()])).join()).toBe('200,200,200');
      await expect.poll(write).toBe(200);
    },
  );

  test('T8 gives a place among its connections back that it has not taken', { timeout: 60_000 }, async () => {
    const taken: Socket[] = [];
    const silent = createServer((socket) => void taken.push(socket.on('error', () => {})));
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const { port } = silent.address() as AddressInfo;
    const database = openPostgres(`postgres://user@127.0.0.1:${port}/database`, 1, 'direct');
    onTestFinished(() => database.destroy());
    onTestFinished(() => {
      for (const socket of taken) socket.destroy();
      silent.close();
    });
    await expect(sql`select 1`.execute(database)).rejects.toThrow('timeout');
  });

  test('T8 is too late for the log, also where it stands still before the store is open', async () => {
    const url = new URL(await newDatabase());
    const passage = await openPassage(new URL(url));
    url.port = String(passage.port);
    passage.hold(true);
    const gateway = await startGateway({ GATEWAY_DATABASE_URL: url.href });
    const before = gateway.log.length;
    const request = { callback: 'sileo://authentication_success', udid: '00008030-001A2B3C4D5E6F70', model: 'a' };
    const ask = () => post(`${gateway.base}/v2/authenticate`, request);
    const statuses = (await Promise.all([ask(), ask(), ask()])).map(({ status }) => status);
    expect(statuses).toEqual([503, 503, 503]);
    const reasons = gateway.log.slice(before).map((line) => JSON.parse(line).reason);
    expect(reasons).toEqual(statuses.map(() => 'Error store_unavailable, because of Error too_late'));
    passage.hold(false);
    await gateway.close();
    passage.close();
  });
});

/** A new database with the tables of a store: its owner, and a role that may log in there and nothing else. */
const openWithRole = async (limits = '') => {
  const url = new URL(await newDatabase());
  const first = openCredentialStore({ kind: 'postgres', url: url.href, pool: 1 }, createNodeCryptography());
  await first.hasAccounts();
  await first.close();
  const owner = new pg.Client({ connectionString: url.href });
  await owner.connect();
  const role = `role_${url.pathname.slice(1)}`;
  await owner.query(`create role ${role} login password 'role' ${limits}`);
  [url.username, url.password] = [role, 'role'];
  const end = async () => {
    await owner.query(`drop owned by ${role}`);
    await owner.query(`drop role ${role}`);
    await owner.end();
  };
  return { url, owner, role, end };
};

test('T8 a PostgreSQL that has no connection left is waited for', async () => {
  const { url, owner, role, end } = await openWithRole('connection limit 1');
  await owner.query(`grant all on all tables in schema public to ${role}`);
  const other = new pg.Client({ connectionString: url.href });
  await other.connect();
  let refused = 0;
  stopClock();
  const store = createStore(async () => {
    try {
      const connection = await connect({ kind: 'postgres', url: url.href, pool: 1 });
      return { ...connection, operations: createOperations(createNodeCryptography()) };
    } catch (error) {
      refused++;
      throw error;
    }
  });
  const asked = store.hasAccounts();
  await expect.poll(() => refused).toBeGreaterThan(0);
  await other.end();
  expect(await asked).toBe(false);
  await store.close();
  await end();
});

test('T8 a PostgreSQL that cannot be asked for its tables is not taken for one without', async () => {
  const { url, end } = await openWithRole();
  const refused = connect({ kind: 'postgres', url: url.href, pool: 1 });
  await expect(refused).rejects.toThrow('permission denied for table gateway_schema');
  await end();
});

test('a store on PostgreSQL that is closed ends all of its connections, so that a command does not stay for them', async () => {
  const location = { kind: 'postgres', url: await newDatabase(), pool: 3 } as const;
  const store = openCredentialStore(location, createNodeCryptography());
  await store.probe();
  const end = vi.spyOn(pg.Pool.prototype, 'end');
  onTestFinished(() => end.mockRestore());
  await store.close();
  // Those for writing and those for reading.
  expect(end).toHaveBeenCalledTimes(2);
});

test('T8 a store that is locked while it opens opens once it is free', async () => {
  const gateway = await startGateway();
  expect(await gateway.health()).toBe(true);
  const other = new DatabaseSync(join(gateway.folder, 'gateway.sqlite'));
  other.exec('BEGIN EXCLUSIVE');
  const file = join(gateway.folder, 'gateway.sqlite');
  const second = openCredentialStore({ kind: 'sqlite', file }, createNodeCryptography());
  const probed = second.probe();
  await gateway.store.hasAccounts();
  other.exec('ROLLBACK');
  await probed;
  other.close();
  await second.close();
  await gateway.close();
});

test('T14 on PostgreSQL what an operation does after a commit is left undone again where its client leaves', async () => {
  const database = openPostgres(await newDatabase(), 1, 'direct');
  onTestFinished(() => database.destroy());
  const client = new AbortController();
  const wait = beginWait(client.signal);
  onTestFinished(wait.end);
  const committed = Promise.withResolvers<void>();
  const operation = async () => {
    await transactPostgres(database, wait, async () => {});
    committed.resolve();
    await once(client.signal, 'abort');
    await sleep(0);
  };
  const result = boundBy(wait, operation());
  await committed.promise;
  client.abort();
  await expect(result).rejects.toThrow('the client has left');
});

/** Opens connections of their own to a database, in which nobody else is. */
const connectToo = async (url: string, count: number): Promise<pg.Client[]> => {
  const clients = Array.from({ length: count }, () => new pg.Client({ connectionString: url }));
  await Promise.all(clients.map((client) => client.connect()));
  onTestFinished(async () => void (await Promise.all(clients.map((client) => client.end()))));
  return clients;
};

test('a removal that waits on PostgreSQL for a refresh which waits for it is done when that is over', async () => {
  const url = await newDatabase();
  const gateway = await startGateway({ GATEWAY_DATABASE_URL: url });
  onTestFinished(gateway.close);
  const account = await addAccount(gateway.store, 'alice');
  await issue(openProtocol(gateway.store), account);
  const [other, family, watcher] = (await connectToo(url, 3)) as [pg.Client, pg.Client, pg.Client];
  // It waits before the removal waits for it, and does not look why: the removal is what PostgreSQL takes back.
  await other.query("set deadlock_timeout = '1h'");
  await other.query('begin');
  expect((await other.query('update gateway_credential_sets set created_at = 1')).rowCount).toBe(1);
  await family.query('begin');
  expect((await family.query('update gateway_families set last_used_at = 1')).rowCount).toBe(1);
  const waiting = async () => {
    const ofDatabase = "datname = current_database() and wait_event_type = 'Lock'";
    const { rows } = await watcher.query(`select count(*)::int as waiting from pg_stat_activity where ${ofDatabase}`);
    return rows[0]?.waiting;
  };
  const removed = gateway.store.removeAccount('alice');
  await expect.poll(waiting).toBe(1);
  const updated = other.query('update gateway_accounts set display_name = name');
  await expect.poll(waiting).toBe(2);
  await family.query('rollback');
  expect((await updated).rowCount).toBe(1);
  await other.query('commit');
  expect(await removed).toBe(true);
  expect(await gateway.store.findAccount('alice')).toBeUndefined();
});

/** Adds one sign-in more than those that are ended in one portion. */
const addPortionAndOne = async (owner: pg.Client, account: string): Promise<void> => {
  await owner.query(`
    insert into gateway_families
      (id, account_id, application, model, masked_udid, created_at, ends_at, last_used_at)
      select n, '${account}', '', '', '', 0, 9e15, 0 from generate_series(1, 501) as n`);
  const hash = (of: string) => `decode(md5('${of}' || n), 'hex')`;
  await owner.query(`
    insert into gateway_credential_sets
      (id, family_id, auth_hash, secret_hash, refresh_hash, created_at, expires_at, refresh_expires_at, ends_at)
      select n, n, ${hash('a')}, ${hash('s')}, ${hash('r')}, 0, 9e15, 9e15, 9e15 from generate_series(1, 501) as n`);
};

test.each([
  ['a device signs out', 1, '500 devices'],
  ['somebody else ends a whole portion', 500, '1 device'],
])('T15 who signs everybody out on PostgreSQL while %s leaves nobody signed in', async (_, last, devices) => {
  const url = await newDatabase();
  const gateway = await startGateway({ GATEWAY_DATABASE_URL: url });
  onTestFinished(gateway.close);
  const account = await addAccount(gateway.store, 'alice');
  const [owner, other] = (await connectToo(url, 2)) as [pg.Client, pg.Client];
  await addPortionAndOne(owner, account);
  await other.query('begin');
  await other.query(`update gateway_families set revoked_at = 1 where id::int <= ${last}`);
  const environment = { GATEWAY_DATABASE_URL: url };
  const ended = runScript('accounts', ['sign-out', '--all', '--state', gateway.folder], { environment });
  const blocked = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await expect.poll(async () => (await owner.query(blocked)).rowCount).toBe(1);
  await other.query('commit');
  expect(await ended).toMatchObject({ status: 0, out: `Signed everybody out, on ${devices}.\n` });
  expect((await owner.query('select id from gateway_families where revoked_at is null')).rows).toEqual([]);
});

test('T15 who signs everybody out on PostgreSQL is told of every device, whatever is taken back and however long it takes', async () => {
  const url = await newDatabase();
  const gateway = await startGateway({ GATEWAY_DATABASE_URL: url });
  onTestFinished(gateway.close);
  const account = await addAccount(gateway.store, 'alice');
  const [owner] = (await connectToo(url, 1)) as [pg.Client];
  await addPortionAndOne(owner, account);
  await owner.query(`
    create sequence portions;
    create function take_back() returns trigger language plpgsql as $$ declare portion int := nextval('portions'); begin
      if portion = 2 then raise exception using errcode = 'deadlock_detected'; end if;
      if portion < 4 then perform pg_sleep(2.6); end if;
      return null;
    end $$;
    create trigger take_back before update on gateway_families execute function take_back()`);
  const environment = { GATEWAY_DATABASE_URL: url };
  const signOut = () => runScript('accounts', ['sign-out', '--all', '--state', gateway.folder], { environment });
  expect(await signOut()).toMatchObject({ status: 0, out: 'Signed everybody out, on 501 devices.\n' });
  expect((await owner.query("select nextval('portions')::int as next")).rows).toEqual([{ next: 6 }]);
});

test('T9 a command whose outcome the store did not tell, or that it did a part of, is in the audit all the same', async () => {
  const url = await newDatabase();
  const gateway = await startGateway({ GATEWAY_DATABASE_URL: url });
  onTestFinished(gateway.close);
  await addAccount(gateway.store, 'alice');
  const [owner] = (await connectToo(url, 1)) as [pg.Client];
  await owner.query(`
    create function fail() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
    create trigger fail before update on gateway_families execute function fail();
    create trigger fail before insert or update on gateway_accounts execute function fail()`);
  const environment = { GATEWAY_DATABASE_URL: url };
  for (const parameters of [['sign-out', '--all'], ['disable', 'ALICE'], ['add', 'Bob'], ['list']]) {
    const { status, error } = await runScript('accounts', [...parameters, '--state', gateway.folder], {
      environment,
      input: 'a password\n',
    });
    const changes = parameters[0] !== 'list';
    expect([status, error.includes('look with list, or give it again')]).toEqual([changes ? 1 : 0, changes]);
  }
  const lines = readFileSync(join(gateway.folder, 'gateway-audit.jsonl'), 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { event: 'everybody-signed-out', reason: 'unconfirmed', operator: expect.any(String) },
    { event: 'account-disabled', name: 'alice', reason: 'unconfirmed' },
    { event: 'account-added', name: 'bob', reason: 'unconfirmed' },
  ]);
});
