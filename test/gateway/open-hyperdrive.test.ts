import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import { bounds } from '../../functions/gateway/store/postgres-session.ts';
import { connectHyperdrive } from '../../functions/gateway/workers/hyperdrive-connection.ts';
import { openHyperdriveStore } from '../../functions/gateway/workers/hyperdrive-store.ts';
import { openHyperdrive } from '../../functions/gateway/workers/open-hyperdrive.ts';
import { openWay } from '../support/database-way.ts';
import { newDatabase } from '../support/new-database.ts';

const open = (url: string) => {
  const database = openHyperdrive(url);
  onTestFinished(() => database.destroy());
  return database;
};

const processId = sql<{ pid: number }>`select pg_backend_pid() as pid`;

test('T5: what is read through Hyperdrive is never what it kept of an earlier answer', async () => {
  const database = openHyperdrive(await newDatabase());
  const asked = sql<{ query: string }>`select query from pg_stat_activity where pid = pg_backend_pid()`;
  const { rows } = await asked.execute(database);
  await database.destroy();
  // It keeps no answer to a statement with a volatile function.
  expect(rows[0]?.query).toMatch(/^with uncached as \(select clock_timestamp\(\)\) select /);
});

test('T8: whoever finds the tables made waits for nobody who makes some', async () => {
  const url = await newDatabase();
  await (await connectHyperdrive(url, false)).close();
  const maker = open(url);
  await maker.transaction().execute(async (transaction) => {
    // As of a table that is made or altered: it is in the way of every other migration.
    await sql`select pg_advisory_xact_lock(7310263924016)`.execute(transaction);
    await (await connectHyperdrive(url, false)).close();
  });
});

test('has one connection, which one query after the other has', async () => {
  const database = open(await newDatabase());
  const answers = await Promise.all(Array.from({ length: 8 }, () => processId.execute(database)));
  expect(new Set(answers.map(({ rows }) => rows[0]?.pid)).size).toBe(1);
});

test('has it until a transaction is over, and ends it with the database', async () => {
  const url = await newDatabase();
  const database = openHyperdrive(url);
  const order: string[] = [];
  let other: Promise<unknown> | undefined;
  await database.transaction().execute(async (transaction) => {
    other = processId.execute(database).then(() => order.push('other'));
    await sql`select pg_sleep(0.05)`.execute(transaction);
    order.push('transaction');
  });
  await other;
  expect(order).toEqual(['transaction', 'other']);
  const pid = (await processId.execute(database)).rows[0]?.pid ?? 0;
  await database.destroy();
  const watcher = open(url);
  const isThere = async () =>
    (await sql`select 1 from pg_stat_activity where pid = ${pid}`.execute(watcher)).rows.length > 0;
  await expect.poll(isThere).toBe(false);
});

test('a store has no connection left when what it handed over to go on after an answer is done', async () => {
  const url = await newDatabase();
  const goesOn: Promise<unknown>[] = [];
  const store = openHyperdriveStore(
    () => url,
    (work) => goesOn.push(work),
  );
  expect(await store.listAccounts()).toEqual([]);
  await expect(store.addAccount({ id: 'a', name: 'a', displayName: 'a', passwordHash: '\0' })).rejects.toThrow();
  await store.probe();
  await Promise.all(goesOn);
  const watcher = open(url);
  const countOthers = async () =>
    (
      await sql`select 1 from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`.execute(
        watcher,
      )
    ).rows.length;
  await expect.poll(countOthers).toBe(0);
});

test('takes another connection in the place of one that broke', async () => {
  const database = open(await newDatabase());
  const before = (await processId.execute(database)).rows[0]?.pid;
  await expect(sql`select pg_terminate_backend(pg_backend_pid())`.execute(database)).rejects.toThrow(/terminat/);
  // The query that is asked while the news of it is on its way fails too.
  const ask = async () => (await processId.execute(database).catch(() => undefined))?.rows[0]?.pid;
  await expect.poll(ask).toBeGreaterThan(0);
  expect(await ask()).not.toBe(before);
});

test('says that a database is out of reach, and finds it again', async () => {
  const way = await openWay(await newDatabase());
  way.state.isOpen = false;
  const database = open(way.url);
  for (const _ of [1, 2]) await expect(processId.execute(database)).rejects.toThrow(/terminated|ECONNRESET/);
  way.state.isOpen = true;
  expect((await processId.execute(database)).rows).toHaveLength(1);
});

test('T8: waits for no answer longer than it may, though the database is silent', async () => {
  const database = open(await newDatabase());
  await processId.execute(database);
  const clocks = vi.spyOn(globalThis, 'setTimeout');
  onTestFinished(() => clocks.mockRestore());
  const asked = sql`select pg_sleep(1)`.execute(database);
  // A clock that is not there is no limit: then the answer comes.
  const outcome = asked.then(
    () => 'an answer',
    (error: Error) => error.message,
  );
  const isOver = () => clocks.mock.calls.find(([, milliseconds]) => milliseconds === bounds.query_timeout)?.[0];
  await Promise.race([outcome, expect.poll(isOver).toBeTypeOf('function')]);
  isOver()?.();
  expect(await outcome).toBe('Query read timeout');
});

test('has no use for a connection that could not take a transaction back', async () => {
  const way = await openWay(await newDatabase());
  const database = open(way.url);
  const before = (await processId.execute(database)).rows[0]?.pid;
  const broken = database.transaction().execute(async () => {
    way.cut();
    throw new Error('not done');
  });
  await expect(broken).rejects.toThrow();
  way.state.isOpen = true;
  const ask = async () => (await processId.execute(database).catch(() => undefined))?.rows[0]?.pid;
  await expect.poll(ask).toBeGreaterThan(0);
  expect(await ask()).not.toBe(before);
});

test('takes every part of an address as it is meant', async () => {
  const url = new URL(await newDatabase());
  const owner = open(String(url));
  await sql`create role "a@b:c/d" login password 'p:w/ü%'`.execute(owner);
  onTestFinished(async () => {
    await sql`drop role "a@b:c/d"`.execute(owner);
  });
  url.username = encodeURIComponent('a@b:c/d');
  url.password = encodeURIComponent('p:w/ü%');
  url.search = '?sslmode=disable';
  const { rows } = await sql<{ user: string }>`select current_user::text as user`.execute(open(String(url)));
  expect(rows).toEqual([{ user: 'a@b:c/d' }]);
  url.search = '?sslmode=require';
  await expect(processId.execute(open(String(url)))).rejects.toThrow(/SSL/);
});

test('gives what columns hold as it is, and what is none as text', async () => {
  const kinds = sql`select true as yes, false as no, 5000000000::bigint as large, 7 as small, '\\x00ff'::bytea as bytes,
    'ü' as text, null as nothing, 1.50::numeric as other`;
  const { rows } = await kinds.execute(open(await newDatabase()));
  expect(rows).toEqual([
    {
      ...{ yes: true, no: false, large: 5_000_000_000, small: 7, bytes: Buffer.from([0, 255]), text: 'ü' },
      ...{ nothing: null, other: '1.50' },
    },
  ]);
});
