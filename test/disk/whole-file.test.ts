import fs, { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { writeLastBuild } from '../../src/catalog/last-build.ts';
import { writeWholeFile } from '../../src/disk/whole-file.ts';
import { takeOutput } from '../../src/publication/owner.ts';
import { keepPendingChanges } from '../../src/publication/package-changes.ts';
import { temporaryFolder } from '../support/folder.ts';

const flush = fs.fsyncSync;

/** What stood under a name each time that something was flushed; undefined where nothing did. */
const watchFlushes = (file: string) => {
  const seen: (string | undefined)[] = [];
  const spy = vi.spyOn(fs, 'fsyncSync').mockImplementation((descriptor) => {
    seen.push(existsSync(file) ? readFileSync(file, 'utf8') : undefined);
    flush(descriptor);
  });
  // Also for those that have it by its name.
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  return seen;
};

it('C12: a file is written aside and takes its name whole, in a folder that need not be there; what fails leaves it', () => {
  const file = path.join(temporaryFolder(), 'a', 'note.json');
  writeWholeFile(file, 'before');
  mkdirSync(`${file}.next`);
  expect(() => writeWholeFile(file, 'after')).toThrow(/EISDIR/);
  expect(readFileSync(file, 'utf8')).toBe('before');
  rmSync(`${file}.next`, { recursive: true });
  writeWholeFile(file, Buffer.from('after'));
  expect(readFileSync(file, 'utf8')).toBe('after');
  expect(existsSync(`${file}.next`)).toBe(false);
});

it('C12: what is durable is flushed before it has its name, and its name after that, and what counts as lost after a power cut costs no flush', () => {
  const file = path.join(temporaryFolder(), 'note.json');
  const flushes = watchFlushes(file);
  writeWholeFile(file, 'one');
  expect(flushes).toEqual([]);
  writeWholeFile(file, 'two', { durable: true });
  expect(flushes).toEqual(['one', 'two']);
});

it.each([
  ['identifier', (state) => takeOutput(temporaryFolder(), state, 'manifest').release()],
  [
    'publication/packages.json',
    (state) =>
      keepPendingChanges(
        state,
        [{ package_id: 'a', repository: 'one', change: 'added', version: '1', previous_version: null }],
        { last: 0, repositories: [] },
      ),
  ],
  [
    'outcomes.json',
    (state) => writeLastBuild(state, { format: 2, builtAt: '2026-05-01T00:00:00.000Z', repositories: [] }),
  ],
] satisfies [string, (state: string) => void][])('C12: %s of the state folder is durable', (name, write) => {
  const file = path.join(temporaryFolder(), name);
  const flushes = watchFlushes(file);
  write(file.slice(0, -name.length - 1));
  expect(existsSync(file)).toBe(true);
  expect(flushes).toEqual([undefined, readFileSync(file, 'utf8')]);
});
