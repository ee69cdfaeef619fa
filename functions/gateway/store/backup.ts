import { type Kysely, sql, type Transaction } from 'kysely';
import { BackupRefused, type BackupRow, RestoreUnconfirmed, readBackupFile, writeBackupFile } from './backup-file.ts';
import { databaseTime, timeOf } from './clock.ts';
import type { StoreLocation } from './credential-store.ts';
import { beginWait, transactSqlite, untilUnlocked } from './databases.ts';
import { isCurrent, migrate, schemaVersion } from './migrations.ts';
import { boundStandstill } from './postgres-session.ts';
import { openSqlite } from './sqlite.ts';
import type { GatewayTables } from './tables.ts';

/** The table that stays when every sign-in ends. */
const accounts = 'gateway_accounts';

/** Tables that others refer to come first; then the rest, whatever a later version adds. */
const parentsFirst = [accounts, 'gateway_families', 'gateway_credential_sets'];

/** What lives for minutes, or tells of this database alone. */
const leftOut = new Set([
  'gateway_sign_in_requests',
  'gateway_request_totals',
  'gateway_attempts',
  'gateway_probe',
  'gateway_schema',
]);

/**
 * Tables in the order in which the servers' own transactions come to them: what locks them in another waits for a
 * transaction that waits for it.
 */
const asWritten = [
  'gateway_request_totals',
  'gateway_sign_in_requests',
  accounts,
  'gateway_browsers',
  'gateway_families',
  'gateway_credential_sets',
];

const pageRows = 500;
const insertRows = 100;

/**
 * Writes a backup of the store, as it is at one moment, to a new file (see writeBackupFile). The servers go on meanwhile.
 * Resolves to the number of accounts and of rows in all.
 */
export const backUp = (location: StoreLocation, file: string): Promise<{ accounts: number; rows: number }> =>
  withStore(location, async ({ read, now, findSchema }) => {
    let count = 0;
    const rows = await writeBackupFile(file, async (sink) => {
      // One transaction sees one moment: on SQLite always, on PostgreSQL at this level.
      const moment = read.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
      await moment.execute(async (transaction) => {
        const { rows } = await sql<{ made: number }>`select ${now()} as made`.execute(transaction);
        await sink.begin({ version: schemaVersion, made: rows[0]?.made ?? 0 });
        for (const { name, columns } of await listTables(transaction, await findSchema(transaction))) {
          for await (const row of readTable(transaction, name, columns[0] ?? '')) {
            if (name === accounts) count++;
            await sink.add({ table: name, row });
          }
        }
      });
    });
    return { accounts: count, rows };
  });

/** What a restore did; the names are of accounts. */
export interface Restored {
  readonly made: Date;
  readonly accounts: number;
  readonly signIns: number;
  /** Disabled since the backup, and still so. */
  readonly stillDisabled: readonly string[];
  /** Enabled since, and disabled again. */
  readonly disabledAgain: readonly string[];
  /** Removed since, and back. */
  readonly back: readonly string[];
  /** With another password since, and the one of the backup again. */
  readonly passwords: readonly string[];
  /** Added since, and gone. */
  readonly gone: readonly string[];
}

/**
 * Puts a backup in the place of everything in the store, or changes nothing. Unless told to keep them, it ends every
 * sign-in: a backup knows nothing of what was spent or revoked after it, and would bring it back. An account disabled by
 * now stays so. Throws BackupRefused where the file is not whole or newer than this program, and RestoreUnconfirmed where
 * nobody can know whether it was done.
 */
export const restore = async (
  location: StoreLocation,
  file: string,
  { keepSignIns }: { readonly keepSignIns: boolean },
): Promise<Restored> => {
  // First, because a store that is opened is made.
  const { head, rows } = await readBackupFile(file);
  if (head.version > schemaVersion) {
    throw new BackupRefused(`${file} is of a newer version of this program (${head.version}, not ${schemaVersion})`);
  }
  return withStore(location, (store) =>
    store.transact(async (transaction) => {
      const tables = await listTables(transaction, await store.findSchema(transaction));
      await store.keepWritersOut(transaction, [...new Set([...asWritten, ...tables.map(({ name }) => name)])]);
      const before = new Map((await readAccounts(transaction)).map((account) => [account.id, account]));
      for (const { name } of tables.toReversed()) await sql`delete from ${sql.table(name)}`.execute(transaction);
      await transaction.deleteFrom('gateway_attempts').execute();
      await transaction.deleteFrom('gateway_sign_in_requests').execute();
      await transaction.updateTable('gateway_request_totals').set({ requests: 0, bytes: 0 }).execute();
      const batches = createBatches(transaction, tables, file);
      const stillDisabled: string[] = [];
      for await (const { table, row } of rows) {
        const known = table === accounts ? before.get(String(row.id)) : undefined;
        const stays = known !== undefined && known.disabled_at !== null && row.disabled_at === null;
        if (stays) stillDisabled.push(known.name);
        if (table === accounts || keepSignIns) {
          await batches.add({ table, row: stays ? { ...row, disabled_at: known.disabled_at } : row });
        }
      }
      await batches.end();
      await store.putNewestLast(transaction);
      const after = new Map((await readAccounts(transaction)).map((account) => [account.id, account]));
      const namesOf = (list: Iterable<{ id: string; name: string }>, which: (id: string) => boolean) =>
        [...list].filter(({ id }) => which(id)).map(({ name }) => name);
      return {
        made: new Date(head.made),
        accounts: after.size,
        signIns: batches.count('gateway_families'),
        stillDisabled,
        disabledAgain: namesOf(
          after.values(),
          (id) => before.get(id)?.disabled_at === null && after.get(id)?.disabled_at !== null,
        ),
        back: before.size > 0 ? namesOf(after.values(), (id) => !before.has(id)) : [],
        passwords: namesOf(after.values(), (id) => {
          const known = before.get(id);
          return known !== undefined && known.password_hash !== after.get(id)?.password_hash;
        }),
        gone: namesOf(before.values(), (id) => !after.has(id)),
      };
    }),
  );
};

const readAccounts = (transaction: Transaction<GatewayTables>) =>
  transaction.selectFrom(accounts).select(['id', 'name', 'disabled_at', 'password_hash']).orderBy('name').execute();

interface Table {
  readonly name: string;
  /** The first one is the key. */
  readonly columns: readonly string[];
}

const listTables = async (transaction: Transaction<GatewayTables>, schema: string | undefined): Promise<Table[]> => {
  const found = await transaction.introspection.getTables();
  const rank = ({ name }: Table) => (parentsFirst.includes(name) ? parentsFirst.indexOf(name) : parentsFirst.length);
  return found
    .filter((table) => table.schema === schema && !table.isView)
    .filter(({ name }) => name.startsWith('gateway_') && !leftOut.has(name))
    .map(({ name, columns }) => ({ name, columns: columns.map((column) => column.name) }))
    .sort((one, other) => rank(one) - rank(other) || (one.name < other.name ? -1 : 1));
};

/** A table's rows in the order of its key, a page at a time. */
async function* readTable(transaction: Transaction<GatewayTables>, table: string, key: string) {
  let last: unknown;
  for (;;) {
    const after = last === undefined ? sql`` : sql`where ${sql.ref(key)} > ${last}`;
    const { rows } = await sql<BackupRow['row']>`select * from ${sql.table(table)} ${after}
      order by ${sql.ref(key)} limit ${sql.lit(pageRows)}`.execute(transaction);
    yield* rows;
    last = rows.at(-1)?.[key];
    if (rows.length < pageRows) return;
  }
}

/** Inserts rows some at a time; they come table by table. */
const createBatches = (transaction: Transaction<GatewayTables>, tables: readonly Table[], file: string) => {
  const counts = new Map<string, number>();
  let batch: BackupRow[] = [];
  const flush = async () => {
    const [first] = batch;
    if (!first) return;
    const columns = Object.keys(first.row);
    const lines = batch.map(({ row }) => sql`(${sql.join(columns.map((column) => sql`${row[column] ?? null}`))})`);
    const names = sql.join(columns.map((column) => sql.ref(column)));
    await sql`insert into ${sql.table(first.table)} (${names}) values ${sql.join(lines)}`.execute(transaction);
    batch = [];
  };
  return {
    add: async (row: BackupRow) => {
      const known = tables.find(({ name }) => name === row.table);
      if (!known || !Object.keys(row.row).every((column) => known.columns.includes(column))) {
        throw new BackupRefused(`${file} has a table or column that this program does not know`);
      }
      if (batch.length === insertRows || batch[0]?.table !== row.table) await flush();
      batch.push(row);
      counts.set(row.table, (counts.get(row.table) ?? 0) + 1);
    },
    end: flush,
    count: (table: string) => counts.get(table) ?? 0,
  };
};

interface OpenStore {
  readonly read: Kysely<GatewayTables>;
  /** The schema of its tables, where a database has several: others may have tables of the same names. */
  findSchema(transaction: Transaction<GatewayTables>): Promise<string | undefined>;
  now(): ReturnType<typeof timeOf>;
  transact<Result>(work: (transaction: Transaction<GatewayTables>) => Promise<Result>): Promise<Result>;
  /** Lets nobody else write until the transaction ends; the tables are locked in this order. */
  keepWritersOut(transaction: Transaction<GatewayTables>, tables: readonly string[]): Promise<unknown>;
  /** Has the newest set come last, where a clock is judged by that (see startClock): they came in the order of their keys. */
  putNewestLast(transaction: Transaction<GatewayTables>): Promise<unknown>;
}

/** A transaction on PostgreSQL. Throws RestoreUnconfirmed where only the answer to its commit may be lost. */
const transactKnowingly = async <Result>(
  database: Kysely<GatewayTables>,
  change: (transaction: Transaction<GatewayTables>) => Promise<Result>,
): Promise<Result> => {
  let isCommitting = false;
  try {
    return await database.transaction().execute(async (transaction) => {
      const result = await change(transaction);
      isCommitting = true;
      return result;
    });
  } catch (error) {
    // What the server says as it hangs up, or a pooler when it has lost the server, is FATAL.
    if (!isCommitting || (error as { severity?: unknown }).severity === 'ERROR') throw error;
    throw new RestoreUnconfirmed('the connection broke in the very commit', { cause: error });
  }
};

// The store as the servers have it, but with all the time that its size takes.
const withStore = async <Result>(location: StoreLocation, work: (store: OpenStore) => Promise<Result>) => {
  if (location.kind === 'postgres') {
    const { openPostgres } = await import('./postgres.ts');
    await using database = openPostgres(location.url, 1, 'unbounded');
    await migrate(database, 'postgres');
    return await work({
      read: database,
      findSchema: async (transaction) => {
        const { rows } = await sql<{ schema: string }>`select nspname as schema from pg_class
          join pg_namespace on pg_namespace.oid = relnamespace
          where pg_class.oid = 'gateway_schema'::regclass`.execute(transaction);
        return rows[0]?.schema;
      },
      now: () => databaseTime,
      transact: (change) => transactKnowingly(database, change),
      keepWritersOut: async (transaction, tables) => {
        await boundStandstill(transaction);
        const names = sql.join(tables.map((name) => sql.table(name)));
        await sql`lock table ${names} in share row exclusive mode`.execute(transaction);
      },
      putNewestLast: async () => {},
    });
  }
  const wait = beginWait();
  const connections = await untilUnlocked(wait, async () => openSqlite(location.file)).finally(wait.end);
  const transact: OpenStore['transact'] = (change) => {
    const forLock = beginWait();
    return transactSqlite(connections.write, forLock, change).finally(forLock.end);
  };
  try {
    const opening = beginWait();
    await untilUnlocked(opening, async () => {
      if (!(await isCurrent(connections.read, 'sqlite'))) await migrate(connections.write, 'sqlite');
    }).finally(opening.end);
    const result = await work({
      read: connections.read,
      findSchema: async () => undefined,
      now: () => timeOf(Date.now),
      transact,
      keepWritersOut: async () => {},
      putNewestLast: (transaction) =>
        sql`update gateway_credential_sets set rowid = (select max(rowid) + 1 from gateway_credential_sets)
          where id = (select id from gateway_credential_sets order by created_at desc limit 1)`.execute(transaction),
    });
    try {
      while (connections.giveBack());
    } catch {
      // What a server that writes in this moment has to give back later is no failure of what has been done.
    }
    return result;
  } finally {
    connections.close();
  }
};
