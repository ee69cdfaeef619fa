import type { DatabaseSync } from 'node:sqlite';

/**
 * Inserts so many copies of the newest row of a table of the gateway's SQLite store. `changed` has, by column, the SQL
 * for what differs, in which `n` counts from 1. To make them by what the gateway does takes a hundred times as long.
 */
export const repeatRow = (
  database: DatabaseSync,
  table: string,
  times: number,
  changed: Readonly<Record<string, string>>,
): void => {
  const names = database.prepare('select name from pragma_table_info(?)').all(table);
  const columns = names.map(({ name }) => changed[String(name)] ?? `"${name}"`);
  database.exec(`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${times})
    insert into ${table} select ${columns} from (select * from ${table} order by rowid desc limit 1), numbers`);
};

/** The same of a sign-in, which is a family and its set. */
export const repeatSignIn = (database: DatabaseSync, times: number): void => {
  repeatRow(database, 'gateway_families', times, { id: "'family' || n" });
  const hashes = { auth_hash: 'randomblob(32)', secret_hash: 'randomblob(32)', refresh_hash: 'randomblob(32)' };
  repeatRow(database, 'gateway_credential_sets', times, { id: "'set' || n", family_id: "'family' || n", ...hashes });
};
