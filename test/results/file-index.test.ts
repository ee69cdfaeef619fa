import { describe, expect, it } from 'vitest';
import {
  decodeAscending,
  decodeDigit,
  decodeNumbers,
  encodeAscending,
  encodeDigit,
  encodeNumbers,
  filesOf,
} from '../../src/results/file-index.ts';

describe('numbers of the search index', () => {
  it('are the same after they were text, however large, and JSON leaves the text as it is', () => {
    const numbers = [0, 1, 31, 32, 33, 63, 64, 1023, 1024, 99_999, 2 ** 31, 2 ** 40 + 5, 0];
    const text = encodeNumbers(numbers);
    expect(decodeNumbers(text)).toEqual(numbers);
    expect(JSON.stringify(text)).toBe(`"${text}"`);
    const ascending = [0, 3, 4, 36, 70_000, 70_001];
    expect(decodeAscending(encodeAscending(ascending))).toEqual(ascending);
    // The distance is what is written.
    expect(encodeAscending([70_000, 70_001]).length).toBe(encodeNumbers([70_000]).length + 1);
    expect([decodeNumbers(''), decodeAscending(''), encodeNumbers([])]).toEqual([[], [], '']);
    for (let digit = 0; digit < 64; digit++) expect(decodeDigit(`x${encodeDigit(digit)}`, 1)).toBe(digit);
  });
});

describe('the files with words of a beginning', () => {
  const shelf = ['b', 'bcd', 'bce', 'bd', 'd'].map((first) => [first, ''] as const);

  it('are those where they may stand, and no others', () => {
    expect(filesOf(shelf, 'bc')).toEqual([0, 3]);
    expect(filesOf(shelf, 'bcd')).toEqual([1, 2]);
    expect(filesOf(shelf, 'bcda')).toEqual([1, 2]);
    expect(filesOf(shelf, 'be')).toEqual([3, 4]);
    expect(filesOf(shelf, 'b')).toEqual([0, 4]);
    expect(filesOf(shelf, 'z')).toEqual([4, 5]);
    // Words that begin with what is before all of them may stand in the first.
    expect(filesOf([['bx', '']], 'b')).toEqual([0, 1]);
    expect(filesOf(shelf, 'a')).toEqual([0, 1]);
    expect(filesOf([], 'a')).toEqual([0, 0]);
  });
});
