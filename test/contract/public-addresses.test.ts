import { expect, test } from 'vitest';
import { isSegment, longestSegment } from '../../src/contract/public-addresses.ts';

test('a segment of an address has so many bytes at most, whatever its letters', () => {
  for (const [letter, bytes] of [
    ['a', 1],
    ['é', 2],
    ['日', 3],
    ['😀', 4],
  ] as const) {
    const most = Math.floor(longestSegment / bytes);
    expect(isSegment(letter.repeat(most)), letter).toBe(true);
    expect(isSegment(letter.repeat(most + 1)), letter).toBe(false);
  }
  for (const name of ['', '...', '.a']) expect(isSegment(name)).toBe(true);
  for (const name of ['.', '..']) expect(isSegment(name)).toBe(false);
});
