import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import type { GatewayTables } from './tables.ts';

const int8 = 20;

/**
 * A client that has the server parse and plan each query once for each connection: the store has a fixed set of texts,
 * and every value is a parameter.
 */
class PreparingClient extends pg.Client {
  // Every overload passes here; only the form that Kysely uses, a text and its values, is changed.
  override query(...given: unknown[]): never {
    const [text, values] = given;
    const prepared = typeof text === 'string' && Array.isArray(values) ? [{ name: nameOf(text), text, values }] : given;
    return Reflect.apply(super.query, this, prepared) as never;
  }
}

/** How long a connection is waited for, in milliseconds. */
const connectingMaximum = 5_000;

/** Milliseconds. */
const bounds = {
  lock_timeout: 4_000,
  statement_timeout: 5_000,
  query_timeout: 6_000,
  // A process that stands still in the middle of a transaction must not keep its locks.
  idle_in_transaction_session_timeout: 10_000,
};

const types = {
  // Times are milliseconds: they fit a number, and pg would give them as text.
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === int8 ? Number : pg.types.getTypeParser(oid, format as 'text'),
};

const names = new Map<string, string>();

const nameOf = (text: string) => {
  const name = names.get(text) ?? `gateway_${names.size + 1}`;
  names.set(text, name);
  return name;
};

/**
 * Opens a pool of connections; nothing is connected before the first query. `url` is a `postgres://` address, `pool` the
 * most connections of this process. Every wait is bounded, so that a database out of reach becomes an error, but for a
 * command that moves everything: with `bounded` false its queries take the time they take.
 */
export const openPostgres = (url: string, pool: number, { bounded = true } = {}): Kysely<GatewayTables> => {
  const connections = new pg.Pool({
    connectionString: url,
    Client: PreparingClient,
    max: pool,
    connectionTimeoutMillis: connectingMaximum,
    ...(bounded && bounds),
    application_name: 'debdex-gateway',
    types,
  });
  return kyselyOn(connections);
};

const kyselyOn = (connections: pg.Pool) => {
  // A connection that breaks is noticed by the query that needs it, if any. Unheard, the event would end the process:
  // the pool hears it of idle connections alone, and one in the middle of a transaction can be between two queries.
  connections.on('error', () => {});
  connections.on('connect', (client) => client.on('error', () => {}));
  return new Kysely<GatewayTables>({ dialect: new PostgresDialect({ pool: connections }) });
};

/**
 * A client that asks for what no cache may answer. Hyperdrive answers for a minute with what it read before, unless told
 * otherwise when it is set up, and never where a statement has a volatile function (docs, "Query caching"): a token that
 * was revoked must not be good for a minute more.
 */
class UncachedClient extends pg.Client {
  override query(...given: unknown[]): never {
    const [text, ...more] = given;
    const asked = typeof text === 'string' && /^select\b/i.test(text) ? [`${uncached} ${text}`, ...more] : given;
    return Reflect.apply(super.query, this, asked) as never;
  }
}

// The database does not evaluate what nobody refers to.
const uncached = 'with uncached as (select clock_timestamp())';

/**
 * One connection to a database through Hyperdrive, which holds the real ones: statements are not prepared, since each
 * transaction may meet another of those, and bounds go with each transaction (see boundTransaction).
 */
export const openHyperdrive = (url: string): Kysely<GatewayTables> =>
  kyselyOn(
    new pg.Pool({
      connectionString: url,
      Client: UncachedClient,
      max: 1,
      connectionTimeoutMillis: connectingMaximum,
      query_timeout: bounds.query_timeout,
      types,
    }),
  );

/** Bounds a transaction as openPostgres bounds connections. */
export const boundTransaction = async (transaction: Kysely<GatewayTables>): Promise<void> => {
  const { lock_timeout: lock, statement_timeout: statement, idle_in_transaction_session_timeout: idle } = bounds;
  await sql`select set_config('lock_timeout', ${String(lock)}, true),
    set_config('statement_timeout', ${String(statement)}, true),
    set_config('idle_in_transaction_session_timeout', ${String(idle)}, true)`.execute(transaction);
};
