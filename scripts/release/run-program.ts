import { spawnSync } from 'node:child_process';
import { CommandFailure } from '../options.ts';

/**
 * Runs a program in a folder. Returns its output if `stdout` is "pipe"; otherwise the program prints it.
 *
 * @throws CommandFailure if it cannot be run, or its exit code is not 0
 */
export const runProgram = (
  root: string,
  program: string,
  words: readonly string[],
  stdout: 'inherit' | 'pipe',
): string => {
  const result = spawnSync(program, words, { cwd: root, stdio: ['ignore', stdout, 'inherit'], encoding: 'utf8' });
  const said = [program, ...words].join(' ');
  if (result.error !== undefined) throw new CommandFailure(`${said}: ${result.error.message}`);
  if (result.status !== 0) throw new CommandFailure(`${said} failed: nothing is released. Mend it and try again.`);
  return result.stdout ?? '';
};
