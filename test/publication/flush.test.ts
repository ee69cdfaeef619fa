import fs, { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { flushFiles } from '../../src/publication/flush.ts';
import { temporaryFolder } from '../support/folder.ts';
import { replaceFunctions } from '../support/replaced-functions.ts';

// Whether what was flushed survives a loss of power no test can see. What the system is told to flush, it can.
const told = { opened: new Map<number, string>(), flushed: [] as string[] };
const { openSync: open, fsyncSync: flush, statSync: stat } = fs;
replaceFunctions(fs, {
  openSync: (...given) => {
    const descriptor = open(...given);
    told.opened.set(descriptor, String(given[0]));
    return descriptor;
  },
  fsyncSync: (descriptor) => {
    told.flushed.push(told.opened.get(descriptor) ?? 'what was not opened here');
    flush(descriptor);
  },
  // So called, a folder is on a file system of its own.
  statSync: ((...given: Parameters<typeof stat>) => {
    const stats = stat(...given);
    return path.basename(String(given[0])) === 'elsewhere' ? { ...stats, dev: Number(stats?.dev) + 1 } : stats;
  }) as typeof stat,
});

/** Puts a command in the place of the system's `sync` that notes how it is called; returns how it was. */
const replaceSync = (status: number): (() => string[]) => {
  const folder = temporaryFolder();
  const noted = path.join(folder, 'noted');
  writeFileSync(path.join(folder, 'sync'), `#!/bin/sh\nprintf '%s\\n' "$@" >>"${noted}"\nexit ${status}\n`);
  chmodSync(path.join(folder, 'sync'), 0o755);
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  return () => (existsSync(noted) ? readFileSync(noted, 'utf8').trim().split('\n') : []);
};

/** A folder with so many files in each of these; the files and all that holds their names. */
const placeFiles = (folders: readonly string[], each: number) => {
  const root = temporaryFolder();
  const files = new Set<string>();
  for (const folder of folders) {
    mkdirSync(path.join(root, folder), { recursive: true });
    for (let number = 0; number < each; number++) {
      const file = path.join(root, folder, `${number}.json`);
      writeFileSync(file, '{}');
      files.add(file);
    }
  }
  return { root, files };
};

describe('flushing', () => {
  beforeEach(() => {
    told.opened.clear();
    told.flushed.length = 0;
  });

  it('C12: of a few files has each written to the disk, and each folder up to the root, which holds the name of the next', async () => {
    const sync = replaceSync(0);
    const { root, files } = placeFiles(['a/b', 'a/c'], 2);
    await flushFiles(root, files);
    const folders = ['', 'a', 'a/b', 'a/c'].map((name) => path.join(root, name));
    expect(told.flushed.toSorted()).toEqual([...files, ...folders].toSorted());
    expect(sync()).toEqual([]);
  });

  it('C12: of many has every file system that they are on written to the disk, each once', async () => {
    const sync = replaceSync(0);
    const { root, files } = placeFiles(['a', 'elsewhere'], 40);
    await flushFiles(root, files);
    expect(sync()).toEqual(['-f', root, path.join(root, 'elsewhere')]);
    expect(told.flushed).toEqual([]);
  });

  it('C12: has many written one by one where the system cannot do so at once', async () => {
    const sync = replaceSync(1);
    const { root, files } = placeFiles(['a', 'elsewhere'], 40);
    await flushFiles(root, files);
    expect(sync()).toHaveLength(3);
    const folders = [root, path.join(root, 'a'), path.join(root, 'elsewhere')];
    expect(told.flushed.toSorted()).toEqual([...files, ...folders].toSorted());
  });
});
