import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const project = path.join(import.meta.dirname, '..', '..');
const read = (name: string) => JSON.parse(readFileSync(path.join(project, name), 'utf8'));

// Node tells its release by an object that another can stand in for.
const asRelease = (release: string): string =>
  `data:text/javascript,Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${release}' } })`;

const start = (release: string) => {
  const flags = ['--import', asRelease(release), '--import', './scripts/ahead.mjs', '--eval', ''];
  return spawnSync(process.execPath, flags, { cwd: project, encoding: 'utf8' });
};

it.each(['20.19.5', '22.22.0', '23.11.1'])('H10: on Node.js %s a command says in one line what it needs', (release) => {
  const { status, stdout, stderr } = start(release);
  expect(status).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toBe(
    `Debdex needs Node.js 24 or newer, and this is ${release}: "npm ci" brings one for "npm start" and "npm run …", ` +
      'or install a newer one (https://nodejs.org).\n',
  );
});

it.each(['24.0.0', '26.10.0', '100.0.0'])('H10: on Node.js %s a command begins', (release) => {
  expect(start(release)).toMatchObject({ status: 0, stderr: '' });
});

// An operator may have any release that npm runs on: the one that is pinned comes with every installation.
it('H10: an installation without packages of development has a Node that everything runs on', () => {
  const { engines, dependencies } = read('package.json');
  const oldest = Number(/^>=(\d+)$/.exec(engines.node)?.[1]);
  expect(Number.parseInt(dependencies.node, 10)).toBeGreaterThanOrEqual(oldest);
  expect(read('package-lock.json').packages['node_modules/node'].dev).toBeUndefined();
});

it('H10: every command of an operator looks at the release first', () => {
  const { scripts } = read('package.json') as { scripts: Record<string, string> };
  const forMaintainers = /^(?:test|check|bench|ci|release|fuzz|soak|corpus|images|picture|fix|client-types)/;
  const commands = Object.entries(scripts).filter(([name]) => !forMaintainers.test(name));
  expect(commands.map(([name]) => name).sort()).toEqual(
    [
      'accept',
      'accounts',
      'build',
      'bundle',
      'doctor',
      'gateway',
      'manifest',
      'mirror',
      'rules',
      'serve',
      'start',
      'upload',
    ].sort(),
  );
  for (const [name, line] of commands) expect(line).toMatch(`--import ./scripts/ahead.mjs scripts/${name}.ts`);
});
