import type * as fs from 'node:fs';
import { linkSync, lstatSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { writeKept } from '../../src/site/kept-file.ts';
import { temporaryFolder } from '../support/folder.ts';

/** The file that the disk cannot read. */
const damaged = vi.hoisted(() => ({ file: '' }));
vi.mock('node:fs', async (load) => {
  const original = await load<typeof fs>();
  const read = (file: string, ...how: []) => {
    if (file === damaged.file) throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
    return original.readFileSync(file, ...how);
  };
  return { ...original, readFileSync: read };
});

it('C9: leaves a kept file that has the content already, and replaces any other, or a link, rather than write into it', () => {
  const folder = temporaryFolder();
  const [file, published] = [path.join(folder, 'page'), path.join(folder, 'out')];
  const read = (name: string) => readFileSync(name, 'utf8');
  writeKept(file, Buffer.from('one'));
  linkSync(file, published);
  const { ino, mtimeMs } = lstatSync(file);
  writeKept(file, Buffer.from('one'));
  expect(lstatSync(file)).toMatchObject({ ino, mtimeMs, nlink: 2 });
  for (const content of ['two', 'three']) {
    writeKept(file, Buffer.from(content));
    expect([read(file), read(published)]).toEqual([content, 'one']);
  }
  rmSync(file);
  // A link is as long as where it leads: as the content.
  symlinkSync('out', file);
  writeKept(file, Buffer.from('one'));
  expect(lstatSync(file).isFile()).toBe(true);
  writeFileSync(file, 'changed in place');
  expect(read(published)).toBe('one');
});

it('C9: replaces a kept file that cannot be read any more', () => {
  const file = path.join(temporaryFolder(), 'page');
  writeKept(file, Buffer.from('one'));
  linkSync(file, `${file}.before`);
  damaged.file = file;
  writeKept(file, Buffer.from('one'));
  damaged.file = '';
  expect(lstatSync(file).nlink).toBe(1);
  expect(readFileSync(file, 'utf8')).toBe('one');
});
