import { describe, expect, it } from 'vitest';
import { deferKey, readKey, rememberLast } from '../../src/site/page-keys.ts';

describe('cache keys of pages', () => {
  it('are computed when they are read, each its own, and not before', () => {
    const computed: string[] = [];
    const keys = ['one', 'two'].map((name) =>
      deferKey(() => {
        computed.push(name);
        return `of ${name}`;
      }),
    );
    expect(computed).toEqual([]);
    expect(keys.toReversed().map(readKey)).toEqual(['of two', 'of one']);
    expect(computed).toEqual(['two', 'one']);
    expect(readKey('as given')).toBe('as given');
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
});
