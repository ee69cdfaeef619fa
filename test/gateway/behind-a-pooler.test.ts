import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { type Kysely, sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { backUp, restore } from '../../functions/gateway/store/backup.ts';
import { beginWait } from '../../functions/gateway/store/databases.ts';
import { isPooled } from '../../functions/gateway/store/postgres.ts';
import { connectPostgres } from '../../functions/gateway/store/postgres-connection.ts';
import type { GatewayTables } from '../../functions/gateway/store/tables.ts';
import { temporaryFolder } from '../support/folder.ts';
import { addAccount, post, startGateway } from '../support/gateway-session.ts';
import { newDatabase } from '../support/new-database.ts';
import { signIn } from '../support/package-manager.ts';
import { openPooler } from '../support/pooler.ts';

const settings = ['lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout'] as const;

/** What bounds a transaction of the store, and what a query beside one, in milliseconds. */
const boundsInForce = async (url: string, pool = 3): Promise<Record<string, number>[]> => {
  const connection = await connectPostgres({ url, pool }, undefined);
  onTestFinished(() => connection.close());
  const wait = beginWait();
  const { read, transact } = connection.during(wait);
  const ask = async (database: Kysely<GatewayTables>) => {
    const { rows } = await sql<{ name: string; setting: string }>`select name, setting from pg_settings
      where name in (${sql.join(settings)})`.execute(database);
    return Object.fromEntries(rows.map(({ name, setting }) => [name, Number(setting)]));
  };
  // The others, on a connection that has had a transaction, and one that was taken back.
  const found = [await ask(read), await transact(ask), await ask(read)];
  await expect(transact(() => Promise.reject(new Error('taken back')))).rejects.toThrow('taken back');
  found.push(await ask(read));
  wait.end();
  return found;
};
// In this order less than an operation waits, as long as it does, and enough for one that stands still for a moment.
const expected = { lock_timeout: 4_000, statement_timeout: 5_000, idle_in_transaction_session_timeout: 10_000 };

test.each(['refused', 'dropped'] as const)(
  'T8 a pooler by which bounds of a connection are %s is dealt with: transactions and what is read beside them are bounded, nothing is prepared',
  async (unknown) => {
    const pooler = await openPooler(await newDatabase(), unknown);
    const gateway = await startGateway({ GATEWAY_DATABASE_URL: pooler.url });
    onTestFinished(gateway.close);
    await addAccount(gateway.store, 'alice');
    const credentials = await signIn(gateway.base, 'alice');
    gateway.advance(3_600_000);
    expect((await post(`${gateway.base}/v2/refresh`, credentials)).status).toBe(200);
    expect(await boundsInForce(pooler.url)).toEqual([expected, expected, expected, expected]);
    // Of so few there are none for reading alone.
    expect(await boundsInForce(pooler.url, 1)).toEqual([expected, expected, expected, expected]);
    const location = { kind: 'postgres', url: pooler.url, pool: 1 } as const;
    const file = join(temporaryFolder(), 'backup');
    await backUp(location, file);
    expect(await restore(location, file, { keepSignIns: true })).toMatchObject({ accounts: 1, signIns: 1 });
    expect(pooler.prepared).toBe(0);
  },
);

test('T8 a connection whose transaction did not begin as it should is given up: what comes next has another one', async () => {
  const pooler = await openPooler(await newDatabase(), 'dropped');
  const connection = await connectPostgres({ url: pooler.url, pool: 1 }, undefined);
  onTestFinished(() => connection.close());
  const wait = beginWait();
  const { read, transact } = connection.during(wait);
  const countAccounts = (database: Kysely<GatewayTables>) =>
    database.selectFrom('gateway_accounts').select('id').execute();
  for (const ask of [() => transact(countAccounts), () => countAccounts(read)]) {
    pooler.refusesBounds = true;
    await expect(ask()).rejects.toThrow('lost_timeout');
    expect(await transact(countAccounts)).toEqual([]);
    expect(await countAccounts(read)).toEqual([]);
  }
  wait.end();
});

test('T8 without a pooler a connection is bounded by itself', async () => {
  expect(await boundsInForce(await newDatabase())).toEqual([expected, expected, expected, expected]);
});

test('T8 a database that stands still after its first answer is not waited for', async () => {
  const authenticated = Buffer.from('R\0\0\0\x08\0\0\0\0', 'latin1');
  const ready = Buffer.from('Z\0\0\0\x05I', 'latin1');
  const fields = 'SERROR\0C42501\0Mnot for you\0\0';
  const refused = Buffer.from(`E\0\0\0${String.fromCharCode(4 + fields.length)}${fields}`, 'latin1');
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const answers = [
      [authenticated, ready],
      [refused, ready],
    ];
    socket.on('data', () => void socket.write(Buffer.concat(answers.shift() ?? [])));
    onTestFinished(() => void socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  await expect(isPooled(`postgres://gateway@127.0.0.1:${port}/gateway`)).rejects.toThrow('not for you');
});
