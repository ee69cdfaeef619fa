import { globSync, readFileSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { memoryFlags } from '../../scripts/memory-flags.ts';

it('npm runs what may have little memory with the flags that are written down, and nothing else with any', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const flagsOf = (line: string) => line.match(/--(?!import)\S+/g) ?? [];
  const nodes = Object.entries(scripts).filter(([, line]) => /^(?:exec )?node /.test(line));
  const given = nodes.map(([name, line]) => [name, flagsOf(line)] as const).filter(([, flags]) => flags.length > 0);
  expect(Object.fromEntries(given)).toEqual(memoryFlags);
});

it('recipes and documents start each command with the same', () => {
  const files = globSync(['deploy/**', 'docs/*.md', '*.md']).filter((file) => statSync(file).isFile());
  const given = files.sort().flatMap((file) => {
    // A command is one line, or a list of words with one on each.
    const words = readFileSync(file, 'utf8').replaceAll(/["',[\]]|^\s*- /gm, ' ');
    const starts = Array.from(
      words.matchAll(/\bnode\s((?:\s*--\S+(?:\s+\.\/\S+)?)+)\s+\S*?(build|serve|start)\.m?[jt]s\b/g),
    );
    const commands = starts.map(([, flags = '', command = '']) => ({
      file,
      command,
      flags: flags.match(/--(?:max|heap)\S+/g) ?? [],
    }));
    // None is written in a way that is not looked at here.
    const mentions = words.match(/--(?:max-semi-space-size|heap-growing-percent)=/g) ?? [];
    expect(commands.flatMap(({ flags }) => flags).length, file).toBe(mentions.length);
    return commands.filter(({ flags }) => flags.length > 0);
  });
  expect(new Set(given.map(({ file }) => file)).size).toBeGreaterThanOrEqual(6);
  for (const { file, command, flags } of given) {
    expect(flags, `${command} in ${file}`).toEqual(memoryFlags[command as keyof typeof memoryFlags]);
  }
});
