import { Socket } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createNodeCryptography } from '../../functions/gateway/node/node-cryptography.ts';
import { backUp } from '../../functions/gateway/store/backup.ts';
import { schemaVersion } from '../../functions/gateway/store/migrations.ts';
import { openCredentialStore } from '../../functions/gateway/store/open-store.ts';
import { operateOn, remoteStore } from '../../functions/gateway/workers/remote-store.ts';
import { temporaryFolder } from '../support/folder.ts';
import { addAccount } from '../support/gateway-session.ts';
import { issue, openProtocol } from '../support/issue.ts';
import { newDatabase } from '../support/new-database.ts';

const cryptography = createNodeCryptography();

/** What the tables of version 4 had not. */
const backToFourth = `drop index gateway_credential_sets_unspent; drop index gateway_accounts_with_password;
  update gateway_schema set version = 4`;

const places = {
  SQLite: async () => {
    const file = join(temporaryFolder(), 'gateway.sqlite');
    const run = async (statements: string) => {
      const database = new DatabaseSync(file);
      database.exec(statements);
      database.close();
    };
    return { location: { kind: 'sqlite', file } as const, run };
  },
  PostgreSQL: async () => {
    const url = await newDatabase();
    const run = async (statements: string) => {
      const client = new pg.Client(url);
      await client.connect();
      await client.query(statements);
      await client.end();
    };
    return { location: { kind: 'postgres', url, pool: 3 } as const, run };
  },
};

test.each(Object.entries(places))(
  'a store of before is gone on with, and one of a later program refused in words and a code (%s)',
  async (_, make) => {
    const { location, run } = await make();
    const use = async <Result>(work: (store: ReturnType<typeof openCredentialStore>) => Promise<Result>) => {
      const store = openCredentialStore(location, cryptography);
      return work(store).finally(() => store.close());
    };
    const accountId = await use(async (store) => {
      const id = await addAccount(store, 'alice');
      await issue(openProtocol(store), id);
      return id;
    });
    await run(backToFourth);
    expect(await use((store) => store.listDevices(accountId))).toHaveLength(1);
    // Fails where they were not made again.
    await run(backToFourth);
    await run(`update gateway_schema set version = ${schemaVersion + 1}`);
    // The same where a Worker asks an object.
    const fromAfar = (store: ReturnType<typeof openCredentialStore>) =>
      remoteStore(() => ({ operate: (name, parameters) => operateOn(store, name, parameters) }));
    for (const reach of [(store: ReturnType<typeof openCredentialStore>) => store, fromAfar]) {
      await expect(use((store) => reach(store).listDevices(accountId))).rejects.toMatchObject({
        cause: { code: 'store_newer', message: expect.stringContaining('a newer version of this program') },
      });
    }
    await run('update gateway_schema set version = 4');
    expect(await use((store) => store.hasAccounts())).toBe(true);
  },
);

// So is one that is killed: it was tried with thousands of rows, on an object too.
test.each(Object.entries(places))(
  'T7 an update of the tables that ends half-way leaves nothing of itself, and the next start makes it (%s)',
  async (_, make) => {
    const { location, run } = await make();
    const use = async () => {
      const store = openCredentialStore(location, cryptography);
      return store.hasAccounts().finally(() => store.close());
    };
    await use();
    // Of what the third step makes the last is there already.
    await run(`alter table gateway_families drop column udid_hash;
      alter table gateway_sign_in_requests drop column udid_hash; update gateway_schema set version = 2`);
    for (const _time of ['once', 'again']) {
      await expect(use()).rejects.toMatchObject({
        cause: { message: expect.stringMatching(/gateway_keys.* already exists/) },
      });
    }
    await run('drop table gateway_keys');
    expect(await use()).toBe(false);
  },
);

test('PostgreSQL undoes an update of the tables that stands still', async () => {
  const { location, run } = await places.PostgreSQL();
  const use = async () => {
    const store = openCredentialStore(location, cryptography);
    await store.hasAccounts().finally(() => store.close());
  };
  await use();
  await run(`${backToFourth}; create table noted (most text);
    create function note() returns trigger language plpgsql as
      $$ begin insert into noted select current_setting('idle_in_transaction_session_timeout'); return new; end $$;
    create trigger note after update on gateway_schema for each row execute function note()`);
  await use();
  const client = new pg.Client(location.url);
  await client.connect();
  onTestFinished(() => client.end());
  expect((await client.query('select most from noted')).rows).toEqual([{ most: '1min' }]);
});

test('PostgreSQL on a machine that is gone is not waited for, however long an update of the tables may take', async () => {
  const { location } = await places.PostgreSQL();
  const keepAlive = vi.spyOn(Socket.prototype, 'setKeepAlive');
  onTestFinished(() => keepAlive.mockRestore());
  const store = openCredentialStore(location, cryptography);
  await store.hasAccounts().finally(() => store.close());
  expect(keepAlive.mock.calls).toEqual([[true, 10_000]]);
});

test('T8 a store that somebody else keeps locked opens, is read and backed up', async () => {
  const file = join(temporaryFolder(), 'gateway.sqlite');
  const first = openCredentialStore({ kind: 'sqlite', file }, cryptography);
  await addAccount(first, 'alice');
  const other = new DatabaseSync(file);
  other.exec('begin immediate');
  const second = openCredentialStore({ kind: 'sqlite', file }, cryptography);
  expect(await second.listAccounts()).toHaveLength(1);
  expect(await backUp({ kind: 'sqlite', file }, `${file}.backup`)).toMatchObject({ accounts: 1 });
  other.exec('rollback');
  other.close();
  await Promise.all([first.close(), second.close()]);
});

test('T13 the page of devices looks at no spent set, and the sign-in page at no account of a provider', async () => {
  const file = join(temporaryFolder(), 'gateway.sqlite');
  const store = openCredentialStore({ kind: 'sqlite', file }, cryptography);
  await store.listAccounts();
  const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare');
  await store.listDevices('nobody');
  await store.hasAccounts();
  const asked = prepare.mock.calls.map(([text]) => text);
  prepare.mockRestore();
  await store.close();
  const database = new DatabaseSync(file);
  const plans = asked.map((text) => {
    const parameters = Array(text.split('?').length - 1).fill(0);
    return JSON.stringify(database.prepare(`explain query plan ${text}`).all(...parameters));
  });
  database.close();
  expect(plans).toEqual([
    expect.stringContaining('gateway_credential_sets_unspent (family_id=?)'),
    expect.stringContaining('gateway_accounts_with_password'),
  ]);
});
