import { linkSync, lstatSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { writeKept } from '../../src/site/kept-file.ts';
import { temporaryFolder } from '../support/folder.ts';

it('C9: leaves a kept file that has the content already, and replaces any other, or a link, rather than write into it', () => {
  const folder = temporaryFolder();
  const [file, published] = [path.join(folder, 'page'), path.join(folder, 'published')];
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
  symlinkSync(published, file);
  writeKept(file, Buffer.from('one'));
  expect(lstatSync(file).isFile()).toBe(true);
  writeFileSync(file, 'changed in place');
  expect(read(published)).toBe('one');
});
