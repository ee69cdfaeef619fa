import { describe } from 'vitest';
import { newDatabase } from './new-database.ts';

/** What a suite is handed for each of its gateways: the environment that names a new, empty store. */
export type NewStore = () => Promise<Readonly<Record<string, string>>>;

/** Runs one suite on both stores: a SQLite file of each gateway's own, and for each a database of the shared PostgreSQL. */
export const describeStores = (name: string, suite: (newStore: NewStore, kind: 'SQLite' | 'PostgreSQL') => void) => {
  describe(`${name} (SQLite)`, () => suite(async () => ({}), 'SQLite'));
  describe(`${name} (PostgreSQL)`, () =>
    suite(async () => ({ GATEWAY_DATABASE_URL: await newDatabase() }), 'PostgreSQL'));
};
