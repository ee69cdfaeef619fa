import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { markSvg } from '../../scripts/images/compose.ts';

it('the icon of the site is the mark that the command for images draws', () => {
  const file = new URL('../../src/public/favicon.svg', import.meta.url);
  expect(readFileSync(file, 'utf8')).toBe(`${markSvg()}\n`);
});
