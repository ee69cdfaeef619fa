import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { look } from '../../functions/gateway/pages/look.ts';

const site = readFileSync(path.join(import.meta.dirname, '..', '..', 'src', 'layouts', 'tokens.css'), 'utf8');

const readValues = (css = ''): Map<string, string> =>
  new Map(Array.from(css.matchAll(/--([\w-]+):\s*([^;]+);/g), ([, name = '', value = '']) => [name, value]));

it('gives the pages of the gateway the colours, type and corners of the site, in both themes', () => {
  const [light, dark] = (look.split(/\}\s*\}/)[0] ?? '').split('@media (prefers-color-scheme: dark)').map(readValues);
  expect([light?.size, dark?.size]).toEqual([16, 12]);
  const theirs = readValues(site);
  for (const [name, value] of light ?? []) {
    const inDark = dark?.get(name);
    expect(theirs.get(name), name).toBe(inDark === undefined ? value : `light-dark(${value}, ${inDark})`);
  }
});
