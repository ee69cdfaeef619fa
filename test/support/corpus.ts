import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

const project = path.join(import.meta.dirname, '..', '..');
const shared = path.join(project, '..', 'shared');

/** Whether a corpus of real repositories is beside the project. */
export const hasCorpus = existsSync(path.join(shared, 'corpus'));
if (!hasCorpus) process.stdout.write('skipped: there is no corpus of real repositories beside the project\n');

/** A server of the corpus, and a manifest that names its repositories. */
export interface CorpusOrigin {
  readonly port: number;
  readonly manifest: string;
  stop(): void;
}

/** Serves the corpus, and writes its manifest into this folder. */
export const startCorpus = async (folder: string): Promise<CorpusOrigin> => {
  const manifest = path.join(folder, 'manifest.json');
  const tool = path.join(shared, 'tools', 'origin.mjs');
  const origin = spawn(process.execPath, [tool, '--manifest', manifest], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface(origin.stdout)) {
    return { port: JSON.parse(line).port, manifest, stop: () => origin.kill() };
  }
  throw new Error('the origin of the corpus did not start');
};

/** Runs the build command for this manifest, without the site. */
export const buildFrom = (manifest: string, { state, out }: { state: string; out: string }) => {
  const flags = ['--manifest', manifest, '--state', state, '--out', out, '--allow-private-networks', '--no-site'];
  return spawnSync('npm', ['run', '--silent', 'build', '--', ...flags], { cwd: project, encoding: 'utf8' });
};
