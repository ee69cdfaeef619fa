import { type Kysely, sql } from 'kysely';
import type { GatewayTables } from './tables.ts';

/** How long a connection is waited for, in milliseconds. */
export const connectingMaximum = 5_000;

/** Milliseconds. */
export const bounds = {
  lock_timeout: 4_000,
  statement_timeout: 5_000,
  query_timeout: 6_000,
  // A process that stands still in the middle of a transaction must not keep its locks.
  idle_in_transaction_session_timeout: 10_000,
};

/** Bounds a transaction as these do a connection. */
export const boundTransaction = async (transaction: Kysely<GatewayTables>): Promise<void> => {
  const { lock_timeout: lock, statement_timeout: statement, idle_in_transaction_session_timeout: idle } = bounds;
  await sql`select set_config('lock_timeout', ${String(lock)}, true),
    set_config('statement_timeout', ${String(statement)}, true),
    set_config('idle_in_transaction_session_timeout', ${String(idle)}, true)`.execute(transaction);
};

/**
 * The longest, in milliseconds, that what takes all the time it needs may stand still before PostgreSQL undoes it: a
 * restore or an update of the tables that was suspended, or whose machine is lost, would keep the servers out for hours.
 * Longer than a disk takes to go on with the file.
 */
const standstill = 60_000;

/** Bounds how long a transaction may stand still, and nothing else of it. */
export const boundStandstill = (transaction: Kysely<GatewayTables>): Promise<unknown> =>
  sql`select set_config('idle_in_transaction_session_timeout', ${String(standstill)}, true)`.execute(transaction);

const beginAs = (begin: string): string =>
  [
    begin,
    ...(['lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout'] as const).map(
      (name) => `set local ${name} = ${bounds[name]}`,
    ),
  ].join('; ');

/** Begins a transaction that is bounded so, in one message. */
export const beginBounded: string = beginAs('begin');

/** The same for what is only read, but refused by a standby: what that shows is of the past. */
export const beginReading: string = beginAs('begin read write');

// By the numbers that PostgreSQL gave its types for good (pg_type.dat). Times are milliseconds: they fit a number.
const parsers: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [16, (bool) => bool === 't'],
  [17, (bytea) => Buffer.from(bytea.slice('\\x'.length), 'hex')],
  [20, (int8) => Number(int8)],
  [23, (int4) => Number(int4)],
]);

/** What a column of the store holds, of the text that the database gives for it. */
export const columnTypes = {
  getTypeParser: (type: number) => parsers.get(type) ?? ((text: string) => text),
};
