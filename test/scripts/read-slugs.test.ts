import { expect, it } from 'vitest';
import { UsageError } from '../../scripts/options.ts';
import { readSlugs } from '../../scripts/read-slugs.ts';

const known = new Set(['one', 'two', 'Three']);

it('reads slugs between commas, with blanks as people type them', () => {
  expect(readSlugs('only', 'one', known)).toEqual(['one']);
  expect(readSlugs('only', ' one, two ,,Three,', known)).toEqual(['one', 'two', 'Three']);
});

it('refuses what names no repository, or one that the manifest does not have, and says which', () => {
  for (const text of ['', ' , ,']) expect(() => readSlugs('only', text, known), text).toThrow(UsageError);
  expect(() => readSlugs('retry-now', 'one,three,four', known)).toThrow('--retry-now: the manifest has no three, four');
});
