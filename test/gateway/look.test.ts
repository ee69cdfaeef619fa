import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { look } from '../../functions/gateway/pages/look.ts';

const site = readFileSync(path.join(import.meta.dirname, '..', '..', 'src', 'layouts', 'tokens.css'), 'utf8');

/** The values that a style sheet gives to its names in the light theme, and those that the dark one of the system changes. */
const readValues = (css: string): Map<string, string>[] =>
  (css.split(/\}\s*\}/)[0] ?? '')
    .split(/@media (?:screen and )?\(prefers-color-scheme: dark\)/)
    .map(
      (theme) =>
        new Map([...theme.matchAll(/--([\w-]+):\s*([^;]+);/g)].map(([, name = '', value = '']) => [name, value])),
    );

it('gives the pages of the gateway the colours, type and corners of the site, in both themes', () => {
  const [ours, theirs] = [readValues(look), readValues(site)];
  expect(ours.map((theme) => theme.size)).toEqual([16, 12]);
  for (const [index, theme] of ours.entries())
    for (const [name, value] of theme) expect(theirs[index]?.get(name), name).toBe(value);
});
