import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { computeKey } from '../../src/site/bundle.ts';
import { temporaryFolder } from '../support/folder.ts';

const project = path.join(import.meta.dirname, '..', '..');

it('C12: a bundle is known by every file that it is made of, the settings of the compiler included', () => {
  const checkout = temporaryFolder();
  const settings = readdirSync(project).filter((name) => /^(?:tsconfig.*|package.*)\.json$|^astro\.config/.test(name));
  expect(settings).toHaveLength(5);
  const files = [...settings, 'CHANGELOG.md', 'src/one.ts'];
  mkdirSync(path.join(checkout, 'src'));
  for (const name of files) writeFileSync(path.join(checkout, name), 'before');
  const keys = [computeKey(checkout)];
  for (const name of files) {
    writeFileSync(path.join(checkout, name), 'after');
    expect(keys, name).not.toContain(computeKey(checkout));
    keys.push(computeKey(checkout));
  }
});
