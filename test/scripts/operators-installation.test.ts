import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { watchMemory } from '../bench/process-tree.ts';
import { folderOnSameDisk, makeProductionTree, plainEnvironment } from '../support/production-tree.ts';

// Root may write everywhere, so that everything is tried as the user whom Unix systems keep for nobody.
const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;
if (nobody === undefined) {
  process.stderr.write('SKIPPED: that a checkout of another user is enough, which only root can try.\n');
}

// Made only where it is used: usually all of this is skipped, and nothing would remove it.
const folder = path.join(folderOnSameDisk(), `debdex-operator-${process.pid}`);
const tree = path.join(folder, 'debdex');
const own = path.join(folder, 'own');
const home = path.join(folder, 'home');
const environment = plainEnvironment(home);
const state = path.join(own, 'state');
const out = path.join(own, 'out');
const places = ['--state', state, '--out', out];

/** Names, sizes and times of everything in the checkout. */
const lookAtTree = (): string[] =>
  readdirSync(tree, { recursive: true, withFileTypes: true }).map((entry) => {
    const file = path.join(entry.parentPath, entry.name);
    const { size, mtimeMs } = statSync(file);
    return entry.isFile() ? `${file} ${size} ${mtimeMs}` : `${file} ${mtimeMs}`;
  });

const begin = (name: string, parameters: readonly string[]): ChildProcess =>
  spawn('npm', ['run', '--silent', name, '--', ...parameters], {
    ...nobody,
    cwd: tree,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });

const run = async (name: string, parameters: readonly string[]) => {
  const child = begin(name, parameters);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (piece) => (text += piece));
  const memory = watchMemory(child.pid ?? 0);
  const [code] = await once(child, 'close');
  return { code, text, memory: memory() ?? 0 };
};

const serve = async (parameters: readonly string[]) => {
  const child = begin('serve', [...parameters, '--port', '0']);
  const memory = watchMemory(child.pid ?? 0);
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (piece) => (text += piece));
  child.stdout?.setEncoding('utf8').on('data', (piece) => (text += piece));
  onTestFinished(() => void child.kill('SIGKILL'));
  while (!/Listening on \S+\n/.test(text)) {
    await Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data'), once(child, 'close')]);
    if (child.exitCode !== null) throw new Error(text);
  }
  return { address: /http:\/\/\S+/.exec(text)?.[0] ?? '', child, memory };
};

const stop = async (child: ChildProcess): Promise<unknown> => {
  child.kill('SIGTERM');
  const [code] = await once(child, 'close');
  return code;
};

beforeAll(() => {
  mkdirSync(folder);
  chmodSync(folder, 0o755);
  mkdirSync(tree);
  mkdirSync(own);
  mkdirSync(home);
  makeProductionTree(tree);
  // Who sets up the machine bundles; the service finds what is there.
  const made = spawnSync('npm', ['run', 'bundle'], { cwd: tree, env: plainEnvironment(folder), encoding: 'utf8' });
  if (made.status !== 0) throw new Error(made.stdout + made.stderr);
  for (const each of [own, home]) if (nobody !== undefined) chownSync(each, nobody.uid, nobody.gid);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const most = 512 * 2 ** 20;

// Half a minute of two processors: run when something of installation, memory or rights changes.
describe.skipIf(process.env.DEBDEX_TEST_INSTALLATION === undefined)(
  'an installation without packages of development, of another user',
  () => {
    it('H10: builds with the bundle of the pages in 512 MB, and writes into state and output alone', async () => {
      const before = lookAtTree();
      const built = await run('build', ['--sample', ...places]);
      expect(built.code, built.text).toBe(0);
      expect(existsSync(path.join(out, 'index.html'))).toBe(true);
      expect(existsSync(path.join(state, 'site', 'bundle')), 'the pages were not bundled again').toBe(false);
      expect(built.memory).toBeLessThan(most);
      expect(lookAtTree()).toEqual(before);
      expect(readdirSync(own).sort()).toEqual(['out', 'state']);
    });

    it('H10: serves in 512 MB, and gives replicas, mirrors and uploads what was built', async () => {
      const before = lookAtTree();
      const { address, child, memory } = await serve(places);
      for (const path_ of [
        '/',
        '/v2/',
        '/v2/jailbreak/package/search?q=sample',
        '/v2/readyz',
        '/v2/livez',
        // Makes the store of accounts, which commands do not.
        '/v2/login',
        '/search-index/index.json',
      ]) {
        expect((await fetch(address + path_)).status, path_).toBe(200);
      }
      const mirrored = await run('mirror', [address, path.join(own, 'mirror')]);
      expect(mirrored.code, mirrored.text).toBe(0);
      const replica = await serve(['--from', address, '--state', path.join(own, 'replica')]);
      await expect
        .poll(async () => (await fetch(`${replica.address}/v2/jailbreak/package/search?q=sample`)).status)
        .toBe(200);
      expect(replica.memory()).toBeLessThan(most);
      expect(await stop(replica.child)).toBe(0);
      expect(memory()).toBeLessThan(most);
      expect(await stop(child)).toBe(0);
      expect(lookAtTree()).toEqual(before);
    });

    it('H10: runs every other command', async () => {
      const ended: [string, readonly string[], number, RegExp][] = [
        ['upload', [path.join(own, 'uploaded'), '--out', out], 0, /./],
        ['rules', ['nginx', '--publication', out, '--out', path.join(own, 'rules')], 0, /./],
        ['rules', ['cloudflare-workers', '--publication', out, '--out', path.join(own, 'worker')], 0, /./],
        ['accept', ['--state', state], 0, /./],
        ['accounts', ['list', '--state', state], 0, /./],
        ['gateway', ['backup', path.join(own, 'backup.json'), '--state', state], 0, /./],
        ['doctor', ['--help'], 0, /./],
        ['accounts', ['--help'], 0, /^Usage: /],
        ['gateway', ['-h'], 0, /^Usage: /],
      ];
      for (const [name, parameters, code, words] of ended) {
        const end = await run(name, parameters);
        expect(end.code, `${name} ${parameters.join(' ')}\n${end.text}`).toBe(code);
        expect(end.text, name).toMatch(words);
        expect(end.text, name).not.toMatch(/Cannot find|ERR_MODULE/);
      }
    });
  },
);
