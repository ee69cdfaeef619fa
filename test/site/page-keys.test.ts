import { describe, expect, it } from 'vitest';
import { deferDigest, deferKey, readKey, rememberLast, rememberRecent } from '../../src/site/page-keys.ts';

describe('cache keys of pages', () => {
  it('are computed when they are read, each its own, and not before', () => {
    const computed: string[] = [];
    const compute = (name: string) => {
      computed.push(name);
      return `of ${name}`;
    };
    const keys = ['one', 'two'].map((name) => deferKey(name, compute));
    expect(computed).toEqual([]);
    expect(keys.toReversed().map(readKey)).toEqual(['of two', 'of one']);
    expect(computed).toEqual(['two', 'one']);
    expect(readKey('as given')).toBe('as given');
  });

  it('are of what a page shows, which is not composed before its key is read', () => {
    let composed = 0;
    const listOf = (names: readonly string[]) => ({
      get names() {
        composed++;
        return names;
      },
    });
    const keys = [['a'], ['a'], ['b']].map((names) => deferDigest(listOf(names)));
    expect([composed, new Set(keys).size]).toEqual([0, 3]);
    const [one, same, other] = keys.map(readKey);
    expect(one).toBe(same);
    expect(one).not.toBe(other);
    expect(composed).toBe(3);
  });

  it('take no second computing of what was asked last, and none of it for what is asked otherwise', () => {
    let times = 0;
    const sum = rememberLast((a: number, b: number) => {
      times++;
      return { of: a + b };
    });
    expect(sum(1, 2)).toBe(sum(1, 2));
    expect(times).toBe(1);
    expect([sum(1, 3).of, sum(2, 2).of, sum(1, 2).of, times]).toEqual([4, 4, 3, 4]);
  });

  it('take no second computing of what was asked of late, and remember no more than there is room for', () => {
    let times = 0;
    const name = rememberRecent(({ id }: { id: number }) => {
      times++;
      return `${id}`;
    });
    const [first, ...others] = Array.from({ length: 4097 }, (_, id) => ({ id }));
    expect([name(first as { id: number }), name(first as { id: number }), times]).toEqual(['0', '0', 1]);
    expect(others.map(name)).toEqual(others.map(({ id }) => `${id}`));
    expect(times).toBe(4097);
    name(first as { id: number });
    expect(times).toBe(4098);
  });

  it('C7: remember nothing of a long text, of which strangers could write as many as there is room for', () => {
    const times: Record<number, number> = {};
    const lengthOf = rememberRecent((text: string) => {
      times[text.length] = (times[text.length] ?? 0) + 1;
      return text.length;
    });
    for (const length of [500, 501, 500, 501]) expect(lengthOf('a'.repeat(length))).toBe(length);
    expect(times).toEqual({ 500: 1, 501: 2 });
  });
});
