import { describe } from 'vitest';
import { newDatabase } from './new-database.ts';
import { newObject } from './new-object.ts';

/** What a suite is handed for each of its gateways: the environment that names a new, empty store. */
type NewStore = () => Promise<Readonly<Record<string, string>>>;

type Kind = 'SQLite' | 'PostgreSQL' | 'Durable Object';
type Suite = (newStore: NewStore, kind: Kind) => void;

/** Runs one suite on the stores of Node: a SQLite file of each gateway's own, and for each a database of the shared PostgreSQL. */
export const describeStores = (name: string, suite: Suite) => {
  describe(`${name} (SQLite)`, () => suite(async () => ({}), 'SQLite'));
  describe(`${name} (PostgreSQL)`, () =>
    suite(async () => ({ GATEWAY_DATABASE_URL: await newDatabase() }), 'PostgreSQL'));
};

/** The same, and on a Durable Object of its own, in the platform's own runtime. */
export const describeEveryStore = (name: string, suite: Suite) => {
  describeStores(name, suite);
  describe(`${name} (Durable Object)`, () =>
    suite(async () => ({ OBJECT_STORE: await newObject() }), 'Durable Object'));
};
