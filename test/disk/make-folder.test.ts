import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { makeFolder } from '../../src/disk/make-folder.ts';
import { temporaryFolder } from '../support/folder.ts';
import { runScript } from '../support/run-script.ts';

it('makes a folder with those above it, says whether it did, and leaves what is in the way', () => {
  const root = temporaryFolder();
  const folder = path.join(root, 'a', 'b');
  expect([makeFolder(folder, 0o700), makeFolder(folder), makeFolder(`${folder}/`)]).toEqual([true, false, false]);
  expect([folder, path.dirname(folder)].map((one) => statSync(one).mode & 0o777)).toEqual([0o700, 0o700]);
  symlinkSync(folder, path.join(root, 'link'));
  expect(makeFolder(path.join(root, 'link', 'c'))).toBe(true);
  expect(makeFolder(path.join(root, 'link'))).toBe(false);
  writeFileSync(path.join(root, 'file'), '');
  expect(() => makeFolder(path.join(root, 'file'))).toThrow(/\/file is no folder: name one, or a name that is free$/);
  expect(() => makeFolder(path.join(root, 'file/a/b'))).toThrow(
    /\/file\/a\/b cannot be made, because \S+\/file is no folder: name another place$/,
  );
  symlinkSync(path.join(root, 'gone'), path.join(root, 'astray'));
  expect(() => makeFolder(path.join(root, 'astray'))).toThrow(
    /\/astray is a link to \S+\/gone, where there is no folder/,
  );
  expect(existsSync(path.join(root, 'gone'))).toBe(false);
  symlinkSync('loop', path.join(root, 'loop'));
  for (const name of ['loop', 'loop/a', 'loop/a/b'])
    expect(() => makeFolder(path.join(root, name))).toThrow(/\/loop is a link to loop, where there is no folder/);
  mkdirSync(path.join(root, 'relative'));
  expect(makeFolder(path.relative(process.cwd(), path.join(root, 'relative', 'one')))).toBe(true);
});

// Node's own mkdir with `recursive` never ends there.
it.runIf(existsSync('/proc/self'))(
  'C12: a place in which no folder can be made is told by each command that publishes, or follows what is published',
  async () => {
    const folder = temporaryFolder();
    const own = (name: string) => path.join(folder, name);
    const nowhere = '/proc/debdex/one';
    for (const [name, parameters] of [
      ['build', ['--sample', '--no-site', '--state', nowhere, '--out', own('out')]],
      ['build', ['--sample', '--no-site', '--state', own('state'), '--out', nowhere]],
      ['upload', [nowhere, '--out', own('dist')]],
      ['mirror', ['http://127.0.0.1:9', nowhere]],
      ['serve', ['--from', 'http://127.0.0.1:9', '--port', '0', '--state', nowhere]],
      ['rules', ['nginx', '--out', nowhere, '--publication', own('dist')]],
    ] as const) {
      if (name === 'upload') {
        const built = [
          '--sample',
          '--no-site',
          '--state',
          own('kept'),
          '--out',
          own('dist'),
          '--report',
          `${nowhere}/x`,
        ];
        const { status, text } = await runScript('build', built);
        expect([status, text]).toEqual([0, expect.stringContaining('/proc takes no folders: name another place')]);
      }
      const { status, text } = await runScript(name, parameters);
      expect([status === 0, text], name).toEqual([
        false,
        expect.stringContaining('/proc takes no folders: name another place'),
      ]);
    }
  },
  120_000,
);

it('C12: a place below a file is told by each command that publishes, or follows what is published', async () => {
  const folder = temporaryFolder();
  const own = (name: string) => path.join(folder, name);
  writeFileSync(own('file'), '');
  const below = own('file/below');
  for (const [name, parameters] of [
    ['build', ['--sample', '--no-site', '--state', below, '--out', own('out')]],
    ['build', ['--sample', '--no-site', '--state', own('state'), '--out', below]],
    ['mirror', ['http://127.0.0.1:9', below]],
    ['serve', ['--from', 'http://127.0.0.1:9', '--port', '0', '--state', below]],
  ] as const) {
    const { status, text } = await runScript(name, parameters);
    expect([status === 0, text], name).toEqual([false, expect.stringMatching(/\/file is no folder: name/)]);
  }
});
