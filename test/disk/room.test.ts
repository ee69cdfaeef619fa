import fs from 'node:fs';
import { expect, it } from 'vitest';
import { findShortage } from '../../src/disk/room.ts';
import { temporaryFolder } from '../support/folder.ts';
import { replaceFunctions } from '../support/replaced-functions.ts';

const { statfsSync } = fs;
let counted: { readonly files: number; readonly ffree: number };

replaceFunctions(fs, {
  statfsSync: ((folder: string) => ({ ...statfsSync(folder), ...counted })) as typeof statfsSync,
});

it('C12: a disk lacks room where it has no inodes left, and not where it counts none', () => {
  const folder = temporaryFolder();
  const at = (files: number, ffree: number) => {
    counted = { files, ffree };
    return findShortage(folder, 0);
  };
  expect(at(2000, 0)).toEqual({ left: '0 inodes', needed: '64 inodes ("df -i")' });
  expect(at(2000, 1)).toEqual({ left: '1 inode', needed: '64 inodes ("df -i")' });
  expect(at(2000, 64)).toBeUndefined();
  expect(at(0, 0)).toBeUndefined();
});
