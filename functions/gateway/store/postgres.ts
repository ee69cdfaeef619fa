import { Kysely, PostgresDialect } from 'kysely';
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
    types: columnTypes,
  });
  // A connection that breaks is noticed by the query that needs it, if any. Unheard, the event would end the process:
  // the pool hears it of idle connections alone, and one in the middle of a transaction can be between two queries.
  connections.on('error', () => {});
  connections.on('connect', (client) => client.on('error', () => {}));
  return new Kysely<GatewayTables>({ dialect: new PostgresDialect({ pool: connections }) });
};
