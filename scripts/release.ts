import path from 'node:path';
import { runCommand } from './options.ts';
import { release } from './release/prepare-release.ts';
import { runProgram } from './release/run-program.ts';

const root = path.join(import.meta.dirname, '..');

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
      run: (program, ...words) => void runProgram(root, program, words, 'inherit'),
      ask: (program, ...words) => runProgram(root, program, words, 'pipe'),
    });
    process.stdout.write(`Released ${version}. Publish it with: git push --follow-tags\n`);
  },
);
