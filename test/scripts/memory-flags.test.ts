import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { memoryFlags } from '../../scripts/memory-flags.ts';

it('npm runs what may have little memory with the flags that are written down, and nothing else with any', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const flagsOf = (line: string) => line.match(/--(?!import)\S+/g) ?? [];
  const nodes = Object.entries(scripts).filter(([, line]) => /^(?:exec )?node /.test(line));
  const given = nodes.map(([name, line]) => [name, flagsOf(line)] as const).filter(([, flags]) => flags.length > 0);
  expect(Object.fromEntries(given)).toEqual(memoryFlags);
});
