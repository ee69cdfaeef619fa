import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { prepareRehearsal, removeRehearsal } from '../../src/pipeline/rehearsal.ts';
import { temporaryFolder } from '../support/folder.ts';

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
