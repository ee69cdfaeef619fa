import { accessSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { describeUnusable } from '../../functions/node/unusable-files.ts';
import { temporaryFolder } from '../support/folder.ts';

// Whoever runs tests as root may read everything.
const refuse: typeof accessSync = (file, mode) => {
  accessSync(file, mode);
  throw Object.assign(new Error('permission denied'), { code: 'EACCES' });
};

it('files of the gateway that another user made are named with what to do, and those that are not there are not', () => {
  const folder = temporaryFolder();
  const [made, missing] = [path.join(folder, 'gateway.sqlite'), path.join(folder, 'audit.jsonl')];
  writeFileSync(made, '');
  const files = [made, missing].map((file) => ({ file, otherwise: 'nobody can sign in' }));
  expect(describeUnusable(files)).toEqual([]);
  expect(describeUnusable(files, refuse)).toEqual([
    expect.stringMatching(/gateway\.sqlite \(EACCES\), so nobody can sign in: .*chown/),
  ]);
});

it('a file of the gateway that is of no use to any user is given to nobody', () => {
  const file = path.join(temporaryFolder(), 'audit.jsonl');
  symlinkSync('audit.jsonl', file);
  expect(describeUnusable([{ file, otherwise: 'it is not written' }])).toEqual([
    `This server cannot read and write ${file} (ELOOP), so it is not written.`,
  ]);
});
