import {
  type AbortableOperationOptions,
  Kysely,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresDriver,
} from 'kysely';
import pg from 'pg';
import { bounds, columnTypes, connectingMaximum } from './postgres-session.ts';
import type { GatewayTables } from './tables.ts';

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

const names = new Map<string, string>();

const nameOf = (text: string) => {
  const name = names.get(text) ?? `gateway_${names.size + 1}`;
  names.set(text, name);
  return name;
};

/**
 * A driver of Kysely that says nothing of a connection that fails to come when nobody waits for it any more: Kysely would
 * write a line of its own, which the readers of a log in JSON cannot read.
 */
class SilentDriver extends PostgresDriver {
  override async acquireConnection(options?: AbortableOperationOptions) {
    try {
      return await super.acquireConnection(options);
    } catch (error) {
      if (options?.signal?.aborted !== true) throw error;
      return new Promise<never>(() => {});
    }
  }
}

class SilentDialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig;

  constructor(config: PostgresDialectConfig) {
    super(config);
    this.#config = config;
  }

  override createDriver() {
    return new SilentDriver(this.#config);
  }
}

/** How a pool asks: of the database itself, by way of a pooler, or for a command that moves everything. */
export type PostgresWay = 'direct' | 'pooled' | 'unbounded';

/**
 * Opens a pool of connections; nothing is connected before the first query. `url` is a `postgres://` address, `pool` the
 * most connections of this process. Every wait is bounded, so that a database out of reach becomes an error, but for a
 * command that moves everything. Behind a pooler each transaction may meet another connection: nothing is prepared, and
 * bounds go with each transaction (see boundTransaction).
 */
export const openPostgres = (url: string, pool: number, way: PostgresWay): Kysely<GatewayTables> => {
  const connections = new pg.Pool({
    connectionString: url,
    Client: way === 'direct' ? PreparingClient : pg.Client,
    max: pool,
    connectionTimeoutMillis: connectingMaximum,
    ...(way === 'direct' && bounds),
    ...(way === 'pooled' && { query_timeout: bounds.query_timeout }),
    application_name: 'debdex-gateway',
    types: columnTypes,
  });
  // A connection that breaks is noticed by the query that needs it, if any. Unheard, the event would end the process:
  // the pool hears it of idle connections alone, and one in the middle of a transaction can be between two queries.
  connections.on('error', () => {});
  connections.on('connect', (client) => client.on('error', () => {}));
  return new Kysely<GatewayTables>({ dialect: new SilentDialect({ pool: connections }) });
};

// What PgBouncer says of the first parameter of a connection that it does not know.
const protocolViolation = '08P01';

/**
 * Whether a pooler stands before the database: the bounds that a connection begins with are refused there, or dropped
 * where the pooler was told to. Throws where the database cannot be reached.
 */
export const isPooled = async (url: string): Promise<boolean> => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectingMaximum, ...bounds });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query("select setting from pg_settings where name = 'lock_timeout'");
    return rows[0]?.setting !== String(bounds.lock_timeout);
  } catch (error) {
    if ((error as { code?: unknown }).code === protocolViolation) return true;
    throw error;
  } finally {
    // Not waited for: a server that stands still by now would not hang up.
    void client.end();
  }
};
