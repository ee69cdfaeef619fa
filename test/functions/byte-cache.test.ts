import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteCache } from '../../functions/node/byte-cache.ts';

const createCache = (most: number) => new ByteCache<string>(most, (value) => value.length);

describe('ByteCache', () => {
  it('never weighs more than it may, whatever happens to it', () => {
    const step = fc.tuple(
      fc.constantFrom('set', 'get', 'delete'),
      fc.constantFrom(...'abcdefgh'),
      fc.string({ maxLength: 12 }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
        const cache = createCache(30);
        for (const [action, key, value] of steps) {
          if (action === 'set') cache.set(key, value);
          else if (action === 'get') cache.get(key);
          else cache.delete(key);
          const held = [...'abcdefgh'].map((each) => cache.get(each)?.length ?? 0);
          expect(cache.weight).toBe(held.reduce((sum, length) => sum + length, 0));
          expect(cache.weight).toBeLessThanOrEqual(30);
        }
      }),
    );
  });

  it('keeps what is used and forgets what is not', () => {
    const cache = createCache(3);
    for (const key of ['a', 'b', 'c']) cache.set(key, 'x');
    cache.get('a');
    cache.set('d', 'x');
    expect(['a', 'b', 'c', 'd'].map((key) => cache.get(key) !== undefined)).toEqual([true, false, true, true]);
  });

  it('keeps as much as before when all of it was dropped', () => {
    const cache = createCache(3);
    for (const key of ['a', 'b', 'c']) cache.set(key, 'x');
    cache.clear();
    expect([cache.weight, cache.get('a')]).toEqual([0, undefined]);
    for (const key of ['d', 'e', 'f']) cache.set(key, 'x');
    expect(['d', 'e', 'f'].map((key) => cache.get(key))).toEqual(['x', 'x', 'x']);
  });

  it('forgets what is over, from the oldest on', () => {
    const cache = createCache(30);
    for (const [key, value] of Object.entries({ a: 'over', b: 'over', c: 'good', d: 'over' })) cache.set(key, value);
    cache.sweep((value) => value === 'over');
    expect(['a', 'b', 'c', 'd'].map((key) => cache.get(key))).toEqual([undefined, undefined, 'good', 'over']);
    expect(cache.weight).toBe(8);
  });

  it('does not hold what is larger than all of it', () => {
    const cache = createCache(3);
    cache.set('a', 'xxxx');
    expect([cache.get('a'), cache.weight]).toEqual([undefined, 0]);
  });
});
