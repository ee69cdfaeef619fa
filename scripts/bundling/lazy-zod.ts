import {
  array,
  boolean,
  discriminatedUnion,
  email,
  int,
  iso,
  literal,
  number,
  object,
  enum as oneOf,
  record,
  strictObject,
  string,
  union,
  url,
  type z as zod,
} from 'zod';

// The contract creates its two hundred schemas when its modules load. That is half of the start of a Worker, which uses
// three of them, and a seventh of that of a server. Their bundles have this module in place of zod: it notes how a schema
// is made, and makes it when it is first used.

/** The part of zod that the contract uses. If it used any other, what is bundled would fail when it starts. */
const used = {
  ...{ array, boolean, discriminatedUnion, email, enum: oneOf, int, iso, literal, number, object, record },
  ...{ strictObject, string, union, url },
};

/** The methods that use a schema, and what zod itself uses of one that is a part of another. */
const questions: ReadonlySet<string | symbol> = new Set(['parse', 'safeParse', '_zod']);

const makers = new WeakMap<object, () => unknown>();

/** A value, with all schemas in it made. */
const made = (value: unknown): unknown => {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return value;
  const make = makers.get(value);
  if (make !== undefined) return make();
  if (Array.isArray(value)) return value.map(made);
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, made(each)]));
};

type Method = (...given: unknown[]) => unknown;

const refuse = (): never => {
  throw new TypeError('A schema is looked into before it is made, which is too early at a start');
};

const later = (make: () => unknown): unknown => {
  let known: { readonly value: unknown } | undefined;
  const makeOnce = (): unknown => {
    known ??= { value: make() };
    return known.value;
  };
  const member = (name: string | symbol): unknown => {
    const owner = makeOnce() as Record<string | symbol, unknown>;
    const found = owner[name];
    return typeof found === 'function' ? (...given: unknown[]) => (found as Method).apply(owner, given) : found;
  };
  const recorder = new Proxy(() => {}, {
    get: (_, name) => (questions.has(name) ? member(name) : later(() => member(name))),
    apply: (_, __, given) => later(() => (makeOnce() as Method)(...given.map(made))),
    has: refuse,
    ownKeys: refuse,
    getPrototypeOf: refuse,
  });
  makers.set(recorder, makeOnce);
  return recorder;
};

/** zod's own interface, except that schemas are made when they are first used (`parse`, `safeParse`). */
export const z = Object.fromEntries(
  Object.entries(used).map(([name, value]) => [name, later(() => value)]),
) as unknown as typeof zod;
