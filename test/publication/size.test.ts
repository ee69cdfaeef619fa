import { rmSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Ledger, readFolderSize } from '../../src/catalog/ledger.ts';
import { CatalogBuild } from '../../src/catalog/state-catalog.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { readPublishedSize } from '../../src/publication/size.ts';
import { temporaryFolder } from '../support/folder.ts';

const folder = path.posix.dirname(documentPath.package('a'));

/** An output folder with documents of packages and other files, and the catalog whose ledger has them. */
const publish = (others: Readonly<Record<string, number>>) => {
  const parent = temporaryFolder();
  const output = new OutputFolder(path.join(parent, 'dist'));
  const catalog = new CatalogBuild(path.join(parent, 'state'));
  const ledger = new Ledger(catalog);
  const write = (file: string, size: number) => {
    output.write(file, 'x'.repeat(size));
    ledger.set(file, { digest: new Uint8Array(16), date: '2026-05-01T12:00:00.000Z', size });
  };
  for (const [name, size] of [
    ['com.example.b', 400],
    ['com.example.a', 400],
    ['com.example.c', 3],
  ] as const) {
    write(documentPath.package(name), size);
  }
  for (const [file, size] of Object.entries(others)) write(file, size);
  const known = () => [{ folder, ...readFolderSize(catalog.database, folder) }];
  return { output, known, state: path.join(parent, 'state') };
};

it('what is published is as large by what the catalog has of packages as by all of their files', () => {
  for (const others of [
    {},
    { 'index.html': 7, 'v2/jailbreak/repository/one.json': 399 },
    { 'a/z.js': 400 },
    { 'z.js': 401 },
  ]) {
    const { output, known, state } = publish(others);
    output.write('.debdex/own', 'of nobody');
    const walked = readPublishedSize(output, state, 'one');
    expect(walked.files).toBe(3 + Object.keys(others).length);
    expect(readPublishedSize(output, state, 'two', known)).toEqual(walked);
  }
});

it('the files of packages are not looked at one by one, and what was measured is measured once', () => {
  const { output, known, state } = publish({ 'index.html': 7 });
  rmSync(output.resolve(documentPath.package('com.example.c')));
  const size = readPublishedSize(output, state, 'one', known);
  expect(size).toEqual({ files: 4, bytes: 810, largest: { path: documentPath.package('com.example.a'), bytes: 400 } });
  const never = () => expect.fail('measured again');
  expect(readPublishedSize(output, state, 'one', never)).toEqual(size);
});

it('what hosts are to be given below .well-known counts, and notes of our own do not', () => {
  const { output, state } = publish({});
  const { files, bytes } = readPublishedSize(output, state, 'one');
  output.write('.well-known/some', 'x'.repeat(1000));
  output.write('.debdex/own', 'x'.repeat(2000));
  expect(readPublishedSize(output, state, 'two')).toEqual({
    ...{ files: files + 1, bytes: bytes + 1000, largest: { path: '.well-known/some', bytes: 1000 } },
  });
});

it('there is nothing of a folder that is empty', () => {
  const { known } = publish({});
  expect(known()[0]?.files).toBe(3);
  const catalog = new CatalogBuild(path.join(temporaryFolder(), 'state'));
  const nothing = { files: 0, bytes: 0, largest: { path: '', bytes: 0 } };
  expect(readFolderSize(catalog.database, folder)).toEqual(nothing);
  const parent = temporaryFolder();
  const output = new OutputFolder(path.join(parent, 'dist'));
  output.write('a/empty', '');
  const size = { files: 1, bytes: 0, largest: { path: 'a/empty', bytes: 0 } };
  const whole = () => [
    { folder: 'a', ...size },
    { folder, ...nothing },
  ];
  expect(readPublishedSize(output, path.join(parent, 'state'), 'one', whole)).toEqual(size);
  expect(readPublishedSize(output, path.join(parent, 'state'), 'two')).toEqual(size);
});
