import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from './folder.ts';
import { removeUnused } from './unused-files.ts';

it('removes the files of a cache that were not read for two days, or never in an hour, in all of its folders', () => {
  const cache = temporaryFolder();
  mkdirSync(path.join(cache, 'deep'));
  // In hours before now.
  for (const [name, read, written] of [
    ['unread', 2, 2],
    ['deep/unread', 2, 2],
    ['new', 0.5, 0.5],
    ['read', 47, 90],
    ['forgotten', 49, 90],
  ] as const) {
    const file = path.join(cache, name);
    writeFileSync(file, '');
    utimesSync(file, 1e6 - read * 3600, 1e6 - written * 3600);
  }
  removeUnused(cache, new Date(1e9));
  expect(readdirSync(cache, { recursive: true }).sort()).toEqual(['deep', 'new', 'read']);
  removeUnused(path.join(cache, 'none'), new Date(1e9));
});
