import { closeSync, mkdirSync, openSync, renameSync, symlinkSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { isCatalogSound, isDamage, markCatalog, placeMarked } from '../../src/catalog/soundness.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { temporaryFolder } from '../support/folder.ts';

/** What SQLite throws when it does this. */
const failureOf = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  return expect.fail('nothing was thrown');
};

const readAll = (file: string): void => {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    database.prepare('SELECT * FROM word ORDER BY text').all();
  } finally {
    database.close();
  }
};

it('C12: a file that is no database, or has a page that is none, is told from one that lacks a table or a disk', () => {
  const folder = temporaryFolder();
  const [none, broken] = [path.join(folder, 'none'), path.join(folder, 'broken')];
  writeFileSync(none, 'x'.repeat(4096));
  expect(failureOf(() => readAll(none))).toMatchObject({ errcode: 26 });
  expect(isDamage(failureOf(() => readAll(none)))).toBe(true);
  const database = new DatabaseSync(broken);
  database.exec('PRAGMA page_size = 4096; CREATE TABLE word (text TEXT)');
  expect(isDamage(failureOf(() => database.prepare('SELECT * FROM nothing')))).toBe(false);
  database.close();
  const descriptor = openSync(broken, 'r+');
  writeSync(descriptor, Buffer.alloc(4096, 0xff), 0, 4096, 4096);
  closeSync(descriptor);
  expect(failureOf(() => readAll(broken))).toMatchObject({ errcode: 11 });
  expect(isDamage(failureOf(() => readAll(broken)))).toBe(true);
  const withCode = (errcode: number, code = 'ERR_SQLITE_ERROR') =>
    Object.assign(new Error('of the test'), { code, errcode });
  // The higher bytes say of which kind: of a virtual table, of an index.
  expect([267, 779].map((errcode) => isDamage(withCode(errcode)))).toEqual([true, true]);
  expect([10, 13, 266].map((errcode) => isDamage(withCode(errcode)))).toEqual([false, false, false]);
  expect(isDamage(withCode(11, 'EIO'))).toBe(false);
  expect(isDamage('damage')).toBe(false);
});

it('C12: a catalog is known whether the process ended before it replaced another one or after', async () => {
  const state = temporaryFolder();
  const file = catalogPath(state);
  const next = path.join(state, 'next');
  const make = (content: string) => writeFileSync(next, `SQLite format 3\0${content}`);
  const place = () => renameSync(next, file);
  const killed = (work: () => void) => () => {
    work();
    throw new Error('killed');
  };
  make('first');
  placeMarked(state, await markCatalog(next), place);
  for (const work of [() => {}, place]) {
    make('second');
    const mark = await markCatalog(next);
    expect(() => placeMarked(state, mark, killed(work))).toThrow('killed');
    expect(await isCatalogSound(state, file, false)).toBe(true);
  }
  make('foreign');
  place();
  expect(await isCatalogSound(state, file, false)).toBe(false);
});

it('C12: a folder, or a pipe that would be waited for without an end, in the place of a catalog is named', () => {
  const folder = temporaryFolder();
  const [inner, device] = [path.join(folder, 'inner'), path.join(folder, 'device')];
  mkdirSync(inner);
  symlinkSync('/dev/null', device);
  expect(() => CatalogFile.openReadOnly(inner)).toThrow(
    `EISDIR: a folder is in the place of the file inner, open '${inner}'`,
  );
  expect(() => CatalogFile.openReadOnly(device)).toThrow('EINVAL: no regular file is in the place of the file device');
});
