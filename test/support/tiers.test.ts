import { existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from './folder.ts';
import { findTiers, slow } from './tiers.ts';

const tests = path.join(import.meta.dirname, '..');

/** The tiers of these files, by path below a folder of tests. */
const tiersOf = (files: Readonly<Record<string, string>>) => {
  const folder = path.join(temporaryFolder(), 'test');
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  }
  return findTiers(folder);
};
// Composed, so that this file is not itself assigned by it.
const importOf = (name: string) => ['import', `'${name}';\n`].join(' ');
const importFrom = (name: string) => ['import { one } from', `'${name}';\n`].join(' ');
const [mocking, clocked, weighing, measuring, bundling, rendering] = [
  ['vi', "mock('node:fs');"].join('.'),
  ['vi', "spyOn(Date, 'now');"].join('.'),
  ['process', 'memoryUsage', '();'].join('.').replace('.(', '('),
  ['process', 'threadCpuUsage', '();'].join('.').replace('.(', '('),
  importFrom(['../../src/site', 'bundle.ts'].join('/')),
  ['load', 'Bundle(ready);'].join(''),
];

describe('the tier of a test', () => {
  it('is one for every file there is, and every file that is said to be slow is there', () => {
    const { unit, system, apart } = findTiers();
    const all = globSync('**/*.test.ts', { cwd: tests, exclude: ['corpus/**'] }).map((name) => `test/${name}`);
    expect([...unit, ...system, ...apart].sort()).toEqual(all.sort());
    expect([...slow].filter((name) => !existsSync(path.join(tests, name)))).toEqual([]);
  });

  it('is found by what it imports itself, or by way of others of the tests', () => {
    const heavy = importFrom('node:child_process');
    const { unit, system } = tiersOf({
      'a/plain.test.ts': importFrom('node:fs') + importFrom('../support/plain.ts'),
      'a/process.test.ts': heavy,
      'a/dynamic.test.ts': ['await import', "('pg');"].join(''),
      'a/bare.test.ts': importOf('playwright-core'),
      'a/far.test.ts': importFrom('../support/one.ts'),
      'a/site.test.ts': importFrom('../../src/pipeline/site-step.ts'),
      'support/plain.ts': '',
      'support/one.ts': importFrom('./two.ts'),
      'support/two.ts': importFrom('./one.ts') + heavy,
    });
    expect(unit).toEqual(['test/a/plain.test.ts']);
    const names = ['bare', 'dynamic', 'far', 'process', 'site'];
    expect(system).toEqual(names.map((name) => `test/a/${name}.test.ts`));
  });

  it('leaves alone who changes its process for those after it, or asks what it holds', () => {
    const heavy = importFrom('node:child_process');
    const { unit, system, apart } = tiersOf({
      'mock.test.ts': mocking ?? '',
      'measured.test.ts': measuring ?? '',
      'rendered.test.ts': rendering ?? '',
      'heavy-clock.test.ts': heavy + clocked,
      'heavy-weight.test.ts': heavy + weighing,
      'heavy-bundle.test.ts': heavy + bundling,
      'clock.test.ts': clocked ?? '',
      'heavy.test.ts': heavy,
    });
    expect(apart).toEqual(
      ['heavy-bundle', 'heavy-clock', 'heavy-weight', 'measured', 'mock', 'rendered'].map(
        (name) => `test/${name}.test.ts`,
      ),
    );
    expect(system).toEqual(['test/heavy.test.ts']);
    expect(unit).toEqual(['test/clock.test.ts']);
  });
});
