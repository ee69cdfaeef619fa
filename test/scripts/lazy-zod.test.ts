import { describe, expect, it } from 'vitest';
import { z as zod } from 'zod';
import { z as lazy } from '../../scripts/bundling/lazy-zod.ts';

/** The same schema made of either, of everything that schemas of the contract are made with. */
const makeSchemas = (z: typeof zod) => {
  const name = z.string('must be a string').min(1, 'must not be empty').max(5).describe('A name.');
  const one = z.strictObject({ kind: z.literal('one'), at: z.iso.datetime(), names: z.array(name).max(2) });
  const two = z.strictObject({ kind: z.literal('two'), url: z.url().optional(), mail: z.email().nullable() });
  return z.record(
    z.string(),
    z.union([
      z.discriminatedUnion('kind', [one, two]),
      one.partial().extend({ kind: z.enum(['a', 'b']), flag: z.boolean().default(true) }),
      z.object({ count: z.number().int().min(0) }).refine(({ count }) => count !== 7, 'not seven'),
      z.int().transform((value) => value + 1),
    ]),
  );
};

const values = [
  null,
  {},
  { x: { kind: 'one', at: '2026-01-01T00:00:00Z', names: ['a', 'b'] } },
  { x: { kind: 'one', at: 'x', names: ['', 'abcdef', 'c'], more: 1 } },
  { x: { kind: 'two', mail: 'a@b.example' }, y: { kind: 'two', mail: null, url: 'https://a.example/' } },
  { x: { kind: 'a' }, y: { kind: 'b', flag: false, names: [] } },
  { x: { count: 6, more: 1 }, y: 4 },
  { x: { count: 7 } },
  { x: { count: -1 } },
  { x: 1.5 },
];

describe('schemas of what only serves', () => {
  it('E1: judge as those of zod do', () => {
    const [theirs, ours] = [makeSchemas(zod), makeSchemas(lazy)];
    for (const value of values) {
      const [expected, found] = [theirs.safeParse(value), ours.safeParse(value)];
      expect([found.success, found.data, found.error?.issues], JSON.stringify(value)).toEqual([
        expected.success,
        expected.data,
        expected.error?.issues,
      ]);
    }
    expect(values.filter((value) => ours.safeParse(value).success)).toHaveLength(5);
    expect(() => ours.parse(null)).toThrow(/expected record/);
  });

  it('E1: judge the same as parts of schemas of zod', () => {
    const partOf = (schema: unknown) =>
      zod.union([zod.array(schema as zod.ZodType), zod.object({ a: schema as zod.ZodType })]);
    const [theirs, ours] = [partOf(makeSchemas(zod)), partOf(makeSchemas(lazy))];
    for (const value of values.flatMap((one) => [[one], { a: one }])) {
      const [expected, found] = [theirs.safeParse(value), ours.safeParse(value)];
      expect([found.success, found.data], JSON.stringify(value)).toEqual([expected.success, expected.data]);
    }
  });

  it('E1: are made when they are first asked, once, and no others', () => {
    let [asked, others] = [0, 0];
    const schema = lazy.strictObject({ a: lazy.string().superRefine(() => void asked++) });
    lazy.string().check(() => void others++);
    // Whatever it may be by then, it is looked at when it is made.
    const literals = ['a'];
    const late = lazy.enum(literals as ['a']);
    literals.push('b');
    expect(late.safeParse('b').success).toBe(true);
    literals.push('c');
    expect(late.safeParse('c').success).toBe(false);
    schema.parse({ a: '' });
    schema.parse({ a: '' });
    expect([asked, others]).toEqual([2, 0]);
  });

  it('E1: refuse to be looked into, and know no more of zod than the contract uses', () => {
    const schema = lazy.strictObject({ a: lazy.string() });
    expect(() => ({ ...schema.shape })).toThrow('A schema is looked into before it is made');
    expect(() => 'a' in schema.shape).toThrow('A schema is looked into before it is made');
    expect(() => lazy.bigint()).toThrow(TypeError);
  });
});
