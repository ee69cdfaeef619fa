import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { bounds, columnTypes, connectingMaximum } from '../store/postgres-session.ts';
import type { GatewayTables } from '../store/tables.ts';

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

/** The parts of a `postgres://` address, as the driver takes them. */
const partsOf = (url: string): pg.ClientConfig => {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const mode = searchParams.get('sslmode');
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 5432 : Number(port),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
    ssl: mode !== null && mode !== 'disable',
  };
};

/** A client, and how whoever has it gives it back. */
type Lent = pg.Client & { release(isBroken?: boolean): void };

/** One connection, which one after the other has; in the place of one that broke comes another. */
class OneConnection {
  readonly options: pg.ClientConfig;
  #opened: Promise<Lent> | undefined;
  #client: Lent | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(options: pg.ClientConfig) {
    this.options = options;
  }

  async connect(): Promise<Lent> {
    const before = this.#last;
    const { promise, resolve: giveBack } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    try {
      this.#opened ??= this.#open();
      const client = await this.#opened;
      this.#client = client;
      client.release = (isBroken) => {
        if (isBroken === true) this.#forget(client);
        giveBack();
      };
      return client;
    } catch (error) {
      this.#opened = undefined;
      giveBack();
      throw error;
    }
  }

  async end(): Promise<void> {
    const client = await this.#opened?.catch(() => undefined);
    await client?.end();
  }

  async #open(): Promise<Lent> {
    const client = new UncachedClient(this.options) as UncachedClient & Lent;
    // The query that needs it hears of it too; unheard, the event would end the process.
    client.on('error', () => this.#forget(client));
    await client.connect();
    return client;
  }

  #forget(client: Lent): void {
    if (this.#client === client) this.#opened = undefined;
    client.end().catch(() => {});
  }
}

/**
 * One connection to a database through Hyperdrive, which holds the real ones: statements are not prepared, since each
 * transaction may meet another of those, and bounds go with each transaction (see boundTransaction). With `bounded` false
 * a query takes the time it takes.
 */
export const openHyperdrive = (url: string, bounded = true): Kysely<GatewayTables> => {
  const pool = new OneConnection({
    ...partsOf(url),
    connectionTimeoutMillis: connectingMaximum,
    ...(bounded && { query_timeout: bounds.query_timeout }),
    types: columnTypes,
  });
  return new Kysely<GatewayTables>({ dialect: new PostgresDialect({ pool }) });
};
