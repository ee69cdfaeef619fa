import { describe } from 'vitest';
import { newDatabase } from './new-database.ts';
import { newObject } from './new-object.ts';

/** Makes a new, empty store for each gateway of a suite, and returns the environment that names it. */
type NewStore = () => Promise<Readonly<Record<string, string>>>;

export type Kind = 'SQLite' | 'PostgreSQL' | 'Durable Object';
type Suite = (newStore: NewStore, kind: Kind) => void;

/**
 * The stores: a SQLite file for each gateway, a database of the shared PostgreSQL for each, or for each a Durable
 * Object in the platform's own runtime.
 */
export const newStores: Readonly<Record<Kind, NewStore>> = {
  SQLite: async () => ({}),
  PostgreSQL: async () => ({ GATEWAY_DATABASE_URL: await newDatabase() }),
  'Durable Object': async () => ({ OBJECT_STORE: await newObject() }),
};

const describeKinds = (name: string, suite: Suite, kinds: readonly Kind[]) => {
  for (const kind of kinds) describe(`${name} (${kind})`, () => suite(newStores[kind], kind));
};

/** Runs a suite on each of Node's stores. */
export const describeStores = (name: string, suite: Suite) => describeKinds(name, suite, ['SQLite', 'PostgreSQL']);

/** The same, and also on an object. */
export const describeEveryStore = (name: string, suite: Suite) =>
  describeKinds(name, suite, Object.keys(newStores) as Kind[]);
