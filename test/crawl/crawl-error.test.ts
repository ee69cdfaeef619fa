import { mkdirSync, readFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { sayFault } from '../../src/crawl/crawl-error.ts';
import { SnapshotError } from '../../src/snapshots/store.ts';
import { temporaryFolder } from '../support/folder.ts';

it('C8: tells a fault of the store in words that name no folder of the machine, and no class', () => {
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, "it's a, name"));
  const faults = [
    () => readFileSync(path.join(folder, "it's a, name", 'none')),
    () => readFileSync(path.join(folder, "it's a, name")),
    () => renameSync(path.join(folder, 'none'), path.join(folder, 'other')),
    () => {
      throw new SnapshotError('damaged', 'the snapshot of one, two cannot be read, ever');
    },
  ];
  const told = faults.map((fail) => {
    try {
      return fail();
    } catch (error) {
      return sayFault(error);
    }
  });
  expect(told).toEqual([
    'ENOENT: no such file or directory',
    'EISDIR: illegal operation on a directory',
    'ENOENT: no such file or directory',
    'the snapshot of one, two cannot be read, ever',
  ]);
  expect(sayFault('gone')).toBe('gone');
});
