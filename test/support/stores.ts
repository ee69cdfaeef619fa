import { afterAll, beforeAll, describe } from 'vitest';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

/** What a suite is handed for each of its gateways: the environment that names a new, empty store. */
export type NewStore = () => Promise<Readonly<Record<string, string>>>;

/** Runs one suite on both stores: a SQLite file of each gateway's own, and a PostgreSQL server with a database for each. */
export const describeStores = (name: string, suite: (newStore: NewStore, kind: 'SQLite' | 'PostgreSQL') => void) => {
  describe(`${name} (SQLite)`, () => suite(async () => ({}), 'SQLite'));
  describe(`${name} (PostgreSQL)`, () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(() => server.remove());
    suite(async () => ({ GATEWAY_DATABASE_URL: await server.createDatabase() }), 'PostgreSQL');
  });
};
