import {
  type AbortableOperationOptions,
  Kysely,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresDriver,
} from 'kysely';
import pg from 'pg';
import { beginBounded, beginReading, bounds, columnTypes, connectingMaximum } from './postgres-session.ts';
import type { GatewayTables } from './tables.ts';

// What PostgreSQL says of a change that it does not take while it is a standby of another server.
const readOnly = '25006';

/**
 * A client that is of no use any more where its server has become another's standby, and where an answer stays out: the
 * server's address may lead elsewhere by now, while what is sent on a connection to where it led before goes nowhere for
 * a quarter of an hour.
 */
class LeavingClient extends pg.Client {
  /** Whether the server is a standby, as it says of itself when a connection begins (version 14 and later). */
  isStandby = false;
  /** Whether it is to be given up when it is no longer needed: a transaction that failed is taken back first. */
  isUseless = false;

  constructor(config: pg.ClientConfig) {
    super(config);
    this.connection.on('parameterStatus', ({ parameterName, parameterValue }: Record<string, string>) => {
      if (parameterName === 'in_hot_standby') this.isStandby = parameterValue === 'on';
    });
  }

  override query(...given: unknown[]): never {
    const asked: Promise<unknown> = Reflect.apply(super.query, this, given);
    // The driver's own limit has no code.
    asked.catch((error) => {
      this.isUseless ||= error.code === readOnly || error.message === 'Query read timeout';
    });
    return asked as never;
  }
}

/**
 * A client that has the server parse and plan each query once for each connection: the store has a fixed set of texts,
 * and every value is a parameter.
 */
class PreparingClient extends LeavingClient {
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
 * A client whose transactions are bounded by themselves, and whose queries each are one: behind a pooler bounds of a
 * connection would be those of everybody else too. Of a query nothing is waited for until all of it is sent, so that it
 * takes one round trip as it would alone.
 */
class BoundedClient extends LeavingClient {
  #isInTransaction = false;

  constructor(config: pg.ClientConfig) {
    super({ ...config, pipeline: true });
  }

  // As of the client that prepares.
  override query(...given: unknown[]): never {
    const ask = (...query: unknown[]): Promise<unknown> => Reflect.apply(super.query, this, query);
    const [text, values] = given;
    if (typeof text !== 'string' || !Array.isArray(values)) return ask(...given) as never;
    if (text === 'begin') {
      this.#isInTransaction = true;
      const begun = ask(beginBounded);
      // It may have begun all the same, and nobody takes back what did not begin.
      begun.catch(() => {
        this.isUseless = true;
      });
      return begun as never;
    }
    if (text === 'commit' || text === 'rollback') this.#isInTransaction = false;
    else if (!this.#isInTransaction) return this.#askBounded(ask, text, values) as never;
    return ask(text, values) as never;
  }

  async #askBounded(ask: (...query: unknown[]) => Promise<unknown>, ...query: [string, unknown[]]) {
    const sent = [ask(beginReading), ask(...query), ask('commit')];
    // Whoever has the connection next must not find the transaction open.
    const [begun] = await Promise.allSettled(sent);
    if (begun?.status === 'rejected') {
      // What was asked has been answered without it.
      this.isUseless = true;
      throw begun.reason;
    }
    return sent[1];
  }
}

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

/** After how many milliseconds without an answer an unbounded connection asks whether the other machine is there. */
const silence = 10_000;

/** How a pool asks: of the database itself, by way of a pooler, or for a command that moves everything. */
export type PostgresWay = 'direct' | 'pooled' | 'unbounded';

const clients = { direct: PreparingClient, pooled: BoundedClient, unbounded: pg.Client };

// What it shows is of the past: what was revoked since may be alive there.
const refuseStandby = (client: pg.PoolClient, done: (error?: Error) => void) => {
  const { isStandby } = client as unknown as LeavingClient;
  done(isStandby ? Object.assign(new Error('the server is a standby'), { code: readOnly }) : undefined);
};

/**
 * Opens a pool of connections; nothing is connected before the first query. `url` is a `postgres://` address, `pool` the
 * most connections of this process. Every wait is bounded, so that a database out of reach becomes an error, but for a
 * command that moves everything. Behind a pooler each transaction may meet another connection: nothing is prepared, and
 * bounds go with each transaction, and a standby is told by what it refuses: what PgBouncer says of the server may be as
 * old as its first connection. A standby is taken for a server only by such a command.
 */
export const openPostgres = (url: string, pool: number, way: PostgresWay): Kysely<GatewayTables> => {
  const connections = new pg.Pool({
    connectionString: url,
    Client: clients[way] as unknown as typeof pg.Client,
    max: pool,
    connectionTimeoutMillis: connectingMaximum,
    ...(way === 'direct' && bounds),
    ...(way === 'pooled' && { query_timeout: bounds.query_timeout }),
    application_name: 'debdex-gateway',
    types: columnTypes,
    ...(way === 'direct' && { verify: refuseStandby }),
    // Where no wait is bounded, a machine that is gone would be waited for until this process ends.
    ...(way === 'unbounded' && { keepAlive: true, keepAliveInitialDelayMillis: silence }),
  });
  // A connection that breaks is noticed by the query that needs it, if any. Unheard, the event would end the process:
  // the pool hears it of idle connections alone, and one in the middle of a transaction can be between two queries.
  connections.on('error', () => {});
  connections.on('connect', (client) => client.on('error', () => {}));
  // It keeps none that has begun to end.
  connections.on('release', (_, client) => {
    if ((client as unknown as LeavingClient).isUseless) void client.end();
  });
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
