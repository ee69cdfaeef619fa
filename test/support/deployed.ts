import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/** The folder of the project. */
export const project = path.join(import.meta.dirname, '..', '..');

/** A recipe of `deploy/`, as it ships. */
export const recipe = (file: string): string => readFileSync(path.join(project, 'deploy', file), 'utf8');

/**
 * A recipe in which the addresses and folders of an operator's machine are those of a test. Throws where one of them does
 * not stand in it, so that a recipe that changes is not tested with what it was.
 */
export const placed = (text: string, places: Readonly<Record<string, string>>): string =>
  Object.entries(places).reduce((before, [there, here]) => {
    if (!before.includes(there)) throw new Error(`The recipe does not have "${there}"`);
    return before.replaceAll(there, here);
  }, text);

/** A server that was started as an operator starts it. */
export interface ServerProcess {
  readonly address: string;
  readonly port: number;
  readonly child: ChildProcess;
  /** Tells it to stop and waits until it is gone; returns its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts `npm run serve` without npm, and waits until it listens. It ends with the test at the latest. */
export const startServerProcess = async (flags: readonly string[]): Promise<ServerProcess> => {
  const child = spawn(process.execPath, ['scripts/serve.ts', ...flags], { cwd: project });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (said += piece));
  while (!said.includes('Listening on')) {
    const told = once(child.stdout, 'data').then(() => 'told');
    if ((await Promise.race([ended, told])) !== 'told') {
      throw new Error(`The server ended (${child.exitCode ?? child.signalCode}): ${said}`);
    }
  }
  const address = /http:\/\/\S+/.exec(said.slice(said.indexOf('Listening on')))?.[0] ?? '';
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return ended;
  };
  return { address, port: Number(new URL(address).port), child, stop };
};
