import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkDependencies, lockedFolders } from '../../scripts/check-dependencies.ts';

const root = path.join(import.meta.dirname, '..', '..');
const read = (name: string) => JSON.parse(readFileSync(path.join(root, name), 'utf8'));
const integrity = `sha512-${'a'.repeat(86)}==`;
const lock = (fields = {}) => ({ packages: { '': {}, 'node_modules/a': { version: '1.2.3', integrity, ...fields } } });

describe('the dependencies', () => {
  it('of this project are exact, hashed, and run install scripts by name alone', () => {
    for (const folder of lockedFolders) {
      expect(checkDependencies(read(`${folder}/package.json`), read(`${folder}/package-lock.json`))).toEqual([]);
    }
    const allowed = Object.entries(read('package.json').allowScripts).filter(([, may]) => may);
    expect(allowed).toEqual([['node', true]]);
  });

  it.each([
    '^1.2.3',
    '~1.2.3',
    '1.2',
    '*',
    'latest',
    '>=1',
    '1.2.3 - 2',
    'github:a/b',
    'file:../a',
    'npm:b@^1.2.3',
    'npm:b',
  ])('are refused where one is the range %s', (version) => {
    expect(checkDependencies({ devDependencies: { a: version } }, lock())).toEqual([
      expect.stringContaining('name one exact version'),
    ]);
  });

  it.each(['1.2.3', 'npm:b@1.2.3', 'npm:@b/c@1.2.3'])('are taken where one is %s', (version) => {
    expect(checkDependencies({ devDependencies: { a: version } }, lock())).toEqual([]);
  });

  it.each([
    [{ integrity: undefined }, 'without a SHA-512'],
    [{ integrity: 'sha1-aaaa' }, 'without a SHA-512'],
    [{ version: '1.2.4' }, 'package-lock.json has a 1.2.4'],
    [{ resolved: 'git+ssh://git@example.org/a.git' }, 'only a registry'],
    [{ hasInstallScript: true }, 'decide about it'],
  ])('are refused where the lock has %j', (fields, fault) => {
    expect(checkDependencies({ dependencies: { a: '1.2.3' } }, lock(fields))).toEqual([expect.stringContaining(fault)]);
  });

  it('are refused where a decision about a script outlives its package', () => {
    expect(checkDependencies({ allowScripts: { b: true } }, lock())).toEqual([expect.stringContaining('names b')]);
  });
});
