import { describe } from 'vitest';
import { newDatabase } from './new-database.ts';
import { newObject } from './new-object.ts';

/** What a suite is handed for each of its gateways: the environment that names a new, empty store. */
type NewStore = () => Promise<Readonly<Record<string, string>>>;

export type Kind = 'SQLite' | 'PostgreSQL' | 'Durable Object';
type Suite = (newStore: NewStore, kind: Kind) => void;

/**
 * The stores: a SQLite file of each gateway's own, for each a database of the shared PostgreSQL, or a Durable Object of its
 * own, in the platform's own runtime.
 */
export const newStores: Readonly<Record<Kind, NewStore>> = {
  SQLite: async () => ({}),
  PostgreSQL: async () => ({ GATEWAY_DATABASE_URL: await newDatabase() }),
  'Durable Object': async () => ({ OBJECT_STORE: await newObject() }),
};

const describeKinds = (name: string, suite: Suite, kinds: readonly Kind[]) => {
  for (const kind of kinds) describe(`${name} (${kind})`, () => suite(newStores[kind], kind));
};

/** Runs one suite on the stores of Node. */
export const describeStores = (name: string, suite: Suite) => describeKinds(name, suite, ['SQLite', 'PostgreSQL']);

/** The same, and on an object. */
export const describeEveryStore = (name: string, suite: Suite) =>
  describeKinds(name, suite, Object.keys(newStores) as Kind[]);
