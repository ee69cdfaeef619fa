import * as files from 'node:fs';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { makeFolder } from '../../src/disk/make-folder.ts';
import { temporaryFolder } from '../support/folder.ts';

/** Called before the next folder is made. */
let before: ((folder: string) => void) | undefined;

vi.mock('node:fs', async (importOriginal) => {
  const real = await importOriginal<typeof files>();
  const mkdirSync = (folder: string, mode?: number) => {
    const call = before;
    before = undefined;
    try {
      return real.mkdirSync(folder, mode);
    } finally {
      call?.(folder);
    }
  };
  return { ...real, mkdirSync };
});

it.each([
  ['the folder above it', path.dirname],
  ['it', (folder: string) => folder],
])('C12: makes a folder where another process has just made %s', (_, made) => {
  const folder = path.join(temporaryFolder(), 'a', 'b');
  before = (asked) => files.mkdirSync(made(asked), { recursive: true });
  makeFolder(folder);
  expect(files.statSync(folder).isDirectory()).toBe(true);
});
