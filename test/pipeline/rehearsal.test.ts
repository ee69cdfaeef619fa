import files, { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { prepareRehearsal, removeRehearsal } from '../../src/pipeline/rehearsal.ts';
import { temporaryFolder } from '../support/folder.ts';
import { replaceFunctions } from '../support/replaced-functions.ts';

const { linkSync } = files;
let knowsLinks = true;
replaceFunctions(files, {
  linkSync: (from, to) => {
    if (!knowsLinks) throw Object.assign(new Error('EPERM: of the test'), { code: 'EPERM' });
    linkSync(from, to);
  },
});

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();

it('C12: a rehearsal has the files that a build reads, but neither those that a server writes nor those of another rehearsal', () => {
  const state = temporaryFolder();
  const linked = ['catalog.sqlite', 'history/one.jsonl', 'snapshots/v1/one/meta.json'];
  const copied = ['identifier', 'outcomes.json'];
  const others = [
    'build.lock',
    'build.lock.json',
    'catalog.next.0f0f.sqlite',
    'downloads.sqlite-wal',
    'gateway.sqlite',
  ];
  for (const file of [...linked, ...copied, ...others, 'site/named', 'rehearsal/left.json']) {
    mkdirSync(path.dirname(path.join(state, file)), { recursive: true });
    writeFileSync(path.join(state, file), 'before');
  }
  const folder = prepareRehearsal(state);
  expect(filesOf(folder)).toEqual([...linked, ...copied].sort());
  const numberOf = (below: string, file: string) => statSync(path.join(below, file)).ino;
  for (const file of linked) expect(numberOf(folder, file), file).toBe(numberOf(state, file));
  // What is written where it stands is another file.
  for (const file of copied) writeFileSync(path.join(folder, file), 'after');
  for (const file of copied) expect(readFileSync(path.join(state, file), 'utf8')).toBe('before');
  removeRehearsal(state);
  expect(existsSync(folder)).toBe(false);
});

it('C12: on a disk without hard links a rehearsal has copies', () => {
  const state = temporaryFolder();
  const kept = ['catalog.sqlite', 'snapshots/v1/one/meta.json'];
  for (const file of kept) {
    mkdirSync(path.dirname(path.join(state, file)), { recursive: true });
    writeFileSync(path.join(state, file), file);
  }
  knowsLinks = false;
  try {
    const folder = prepareRehearsal(state);
    expect(filesOf(folder)).toEqual(kept);
    for (const file of kept) expect(readFileSync(path.join(folder, file), 'utf8')).toBe(file);
  } finally {
    knowsLinks = true;
  }
});
