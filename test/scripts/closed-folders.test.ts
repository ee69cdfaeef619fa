import fs from 'node:fs';
import promises from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { CatalogFiles } from '../../functions/node/catalog-files.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { temporaryFolder } from '../support/folder.ts';
import { replaceFunctions } from '../support/replaced-functions.ts';
import { runScript } from '../support/run-script.ts';

// Whoever runs tests as root may read everything.
const { accessSync, openSync, statSync } = fs;
const refuse = (call: string, file: string): never => {
  const message = `EACCES: permission denied, ${call} '${file}'`;
  throw Object.assign(new Error(message), { code: 'EACCES', syscall: call, path: file });
};
const isIn = (folder: string, file: unknown): file is string =>
  String(file).includes(`${path.sep}${folder}${path.sep}`);
replaceFunctions(fs, {
  openSync: ((file: string, ...how: [string]) =>
    isIn('unopened', file) ? refuse('open', file) : openSync(file, ...how)) as typeof openSync,
  accessSync: (file, mode) => (isIn('unread', file) ? refuse('access', file) : accessSync(file, mode)),
  statSync: ((file: string, options: fs.StatSyncOptions) =>
    isIn('closed', file) ? refuse('stat', file) : statSync(file, options)) as typeof statSync,
});
const { readdir } = promises;
replaceFunctions(promises, {
  readdir: (async (folder: string, ...more: []) =>
    isIn('unlisted', folder) ? refuse('scandir', folder) : readdir(folder, ...more)) as typeof readdir,
});

it('what another user made and keeps closed is not called missing', async () => {
  const folder = temporaryFolder();
  const closed = path.join(folder, 'closed');
  fs.mkdirSync(closed);
  for (const [name, ...parameters] of [
    ['serve', '--out', closed, '--state', folder],
    ['rules', 'nginx', '--publication', closed, '--out', path.join(folder, 'rules')],
    ['accounts', 'list', '--state', closed],
    ['gateway', 'backup', path.join(folder, 'backup'), '--state', path.join(closed, 'state')],
  ] as const) {
    const ended = await runScript(name, parameters);
    expect(ended.status, name).toBe(1);
    expect(ended.text, name).toMatch(
      /EACCES: permission denied, stat '.*closed.*': run this as the user whom it belongs/,
    );
  }
});

it('accounts that another user keeps closed are named with what to do, and nothing may have been done', async () => {
  const state = path.join(temporaryFolder(), 'unopened');
  fs.mkdirSync(state);
  fs.writeFileSync(path.join(state, 'gateway.sqlite'), '');
  for (const parameters of [['list'], ['add', 'alice']]) {
    const ended = await runScript('accounts', [...parameters, '--state', state], { input: 'first password\n' });
    expect([ended.status, ended.error], parameters.join(' ')).toEqual([
      1,
      expect.stringMatching(
        /^The credential store cannot be reached: EACCES: permission denied, open '.*gateway\.sqlite': run this as the user .*\n$/,
      ),
    ]);
  }
});

it('a catalog that another user keeps closed is named in the reason of the health record', async () => {
  const [closed, unread] = ['closed', 'unread'].map((name) => path.join(temporaryFolder(), name)) as [string, string];
  fs.mkdirSync(unread);
  fs.writeFileSync(catalogPath(unread), '');
  const probe = (state: string) => new CatalogFiles(state).probe();
  await expect(probe(closed)).rejects.toThrow(`EACCES: permission denied, stat '${catalogPath(closed)}'`);
  await expect(probe(unread)).rejects.toThrow(`EACCES: permission denied, access '${catalogPath(unread)}'`);
});

it('the doctor examines an address all the same where the manifest is another user’s, and says that it could not read that', async () => {
  const data = path.join(temporaryFolder(), 'unlisted');
  fs.mkdirSync(path.join(data, 'repositories'), { recursive: true });
  fs.copyFileSync('data/service.yaml', path.join(data, 'service.yaml'));
  const { status, out, error } = await runScript('doctor', ['http://127.0.0.1:1/', '--data', data]);
  expect([status, out]).toEqual([1, expect.stringContaining('--allow-private-networks')]);
  expect(error).toMatch(/^The manifest has mistakes\..*\nEACCES: permission denied, scandir '.*repositories'\n$/);
});
