import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const project = path.join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(path.join(project, file), 'utf8');

it('CONTRIBUTING.md says how often each random test runs by default', () => {
  const usual = new Map<string, number[]>();
  for (const file of globSync('test/**/*.test.ts', { cwd: project })) {
    for (const [, variable = '', times] of read(file).matchAll(/timesFrom\('(\w+)', (\d+)\)/g))
      usual.set(variable, [...(usual.get(variable) ?? []), Number(times)]);
  }
  expect(usual.size).toBeGreaterThan(4);
  const told = new Map(
    Array.from(read('CONTRIBUTING.md').matchAll(/^\| `(\w+)` \| ([\d, ]+) \|/gm), ([, variable = '', times = '']) => [
      variable,
      times.split(', ').map(Number),
    ]),
  );
  const sorted = (counts: ReadonlyMap<string, number[]>) =>
    [...counts].map(([variable, times]) => [variable, times.toSorted((a, b) => a - b)]).sort();
  expect(sorted(told)).toEqual(sorted(usual));
});
