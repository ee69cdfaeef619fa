import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/** The project's folder. */
export const project = path.join(import.meta.dirname, '..', '..');

/** A recipe of `deploy/`, as it is published. */
export const recipe = (file: string): string => readFileSync(path.join(project, 'deploy', file), 'utf8');

/**
 * A recipe with the addresses and folders of a test in the place of an operator's. Throws if the recipe does not
 * contain one of them, so that the test notices when the recipe changes.
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
  /** Sends it a signal and waits until it has ended. Returns its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts what `npm run serve` runs, without npm, and waits until it listens. It ends with the test at the latest. */
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
