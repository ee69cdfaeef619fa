import { expect, it } from 'vitest';
import { AskedBefore } from '../../functions/node/asked-before.ts';

it('what is asked again is known, among thousands of others', () => {
  const before = new AskedBefore();
  expect(before.note('control')).toBe(false);
  expect(before.note('control')).toBe(true);
  const others = Array.from({ length: 5000 }, (_, index) => `question ${index}`);
  expect(others.filter((asked) => before.note(asked))).toEqual([]);
  // Some were displaced by others.
  expect(others.filter((asked) => before.note(asked)).length).toBeGreaterThan(3000);
});

it('what came before too many others is forgotten', () => {
  const before = new AskedBefore();
  before.note('control');
  for (let index = 0; index < 200_000; index++) before.note(`question ${index}`);
  expect(before.note('control')).toBe(false);
});
