import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { CommandFailure, runCommand } from './options.ts';
import { release } from './release/prepare-release.ts';

const root = path.join(import.meta.dirname, '..');

const spawn = (program: string, words: readonly string[], stdout: 'inherit' | 'pipe'): string => {
  const result = spawnSync(program, words, { cwd: root, stdio: ['ignore', stdout, 'inherit'], encoding: 'utf8' });
  const said = [program, ...words].join(' ');
  if (result.error !== undefined) throw new CommandFailure(`${said}: ${result.error.message}`);
  if (result.status !== 0) throw new CommandFailure(`${said} failed: nothing is released. Mend it and try again.`);
  return result.stdout ?? '';
};

await runCommand(
  {
    name: 'release',
    operand: 'VERSION',
    summary: 'Checks that all is green, dates the CHANGELOG, sets the version, commits and tags.',
    options: {},
  },
  async (_, version) => {
    release(version, {
      root,
      today: new Date(),
      run: (program, ...words) => void spawn(program, words, 'inherit'),
      ask: (program, ...words) => spawn(program, words, 'pipe'),
    });
    process.stdout.write(`Released ${version}. Publish it with: git push --follow-tags\n`);
  },
);
