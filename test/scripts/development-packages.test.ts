import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, it } from 'vitest';

const scripts = path.join(import.meta.dirname, '..', '..', 'scripts');

/** Runs a command where a package is not installed, as after `npm ci --omit=dev`. */
const runWithout = (name: string, script: string, parameters: readonly string[]) => {
  const hook = `import { registerHooks } from 'node:module';
    registerHooks({ resolve: (specifier, context, next) => next(specifier === '${name}' ? 'absent-${name}' : specifier, context) });`;
  const options = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`];
  const command = [...options, path.join(scripts, `${script}.ts`), ...parameters];
  return spawnSync(process.execPath, command, { encoding: 'utf8' });
};

it.each([
  ['fuzz', 'fast-check'],
  ['picture', 'playwright-core'],
  ['images', 'playwright-core'],
])('npm run %s says that %s is not installed, before it does anything', (script, name) => {
  expect(runWithout(name, script, [])).toMatchObject({
    status: 1,
    stdout: '',
    stderr: `absent-${name}, which ${script} needs, is not installed here: install the development packages too, with npm ci, and run it again.\n`,
  });
});

it('npm run fuzz tells its flags also without the packages of tests', () => {
  expect(runWithout('fast-check', 'fuzz', ['--help'])).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('--minutes N'),
  });
});
