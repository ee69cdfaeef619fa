import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { buildSearchIndex } from '../../src/site/pagefind-index.ts';
import { whilePagefindRuns } from '../../src/site/pagefind-process.ts';
import { SiteCatalog } from '../../src/site/site-catalog.ts';
import { lastBuild, sources, temporaryFolder, writeCatalog } from './fixture.ts';

const { folder, remove } = temporaryFolder();
const file = path.join(folder, 'catalog.sqlite');
const started: ChildProcess[] = [];
const note = (message: unknown) => {
  started.push((message as { readonly process: ChildProcess }).process);
};

beforeAll(async () => {
  await writeCatalog(file, sources, 'https://index.example');
  subscribe('child_process', note);
});
afterAll(() => {
  unsubscribe('child_process', note);
  remove();
});

/** Makes an index, and has something done to Pagefind's process when it has taken so many records. */
const build = async (into: string, after: (done: number, total: number, pagefind: ChildProcess) => void) => {
  const catalog = new SiteCatalog(file, lastBuild);
  const before = started.length;
  try {
    return await buildSearchIndex(catalog, path.join(folder, into), (done, total) => {
      const pagefind = started[before];
      if (pagefind !== undefined) after(done, total, pagefind);
    });
  } finally {
    catalog.close();
  }
};

/**
 * Stops a process and waits until all of its threads stand still: on a busy machine the others go on until the one that has
 * the signal gets its turn. Where there is no /proc, it does not wait.
 */
const stop = (one: ChildProcess): void => {
  one.kill('SIGSTOP');
  const tasks = `/proc/${one.pid}/task`;
  const stands = (task: string) => /^\d+ \(.*\) T/.test(readFileSync(path.join(tasks, task, 'stat'), 'utf8'));
  while (existsSync(tasks) && !readdirSync(tasks).every(stands)) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
};

describe('Pagefind, which works in a process of its own', () => {
  it('C13: fails the index where its process dies while its files are waited for, and makes it the next time', async () => {
    const failed = build('waiting', (done, total, pagefind) => {
      expect(done).toBe(total);
      // It takes what is asked of it and answers nothing; nothing more is written to it then.
      stop(pagefind);
      const { bytesWritten } = pagefind.stdin as unknown as { readonly bytesWritten: number };
      const kill = () => {
        const input = pagefind.stdin as unknown as { readonly bytesWritten: number; readonly writableLength: number };
        if (input.bytesWritten > bytesWritten && input.writableLength === 0) pagefind.kill('SIGKILL');
        else setImmediate(kill);
      };
      kill();
    });
    await expect(failed).rejects.toThrow('the process of Pagefind ended with SIGKILL');
    expect(existsSync(path.join(folder, 'waiting.kept.json'))).toBe(false);
    expect(await build('waiting', () => {})).toContain('pagefind.js');
  });

  it('is ended, whether its index came out or not', async () => {
    await expect(
      build('refused', () => {
        throw new Error('no room to tell of it');
      }),
    ).rejects.toThrow('no room to tell of it');
    await build('whole', () => {});
    await expect.poll(() => started.every((one) => one.exitCode !== null || one.signalCode !== null)).toBe(true);
  });

  it('C13: fails the index where its process dies while records are given to it, and says how it ended', async () => {
    const killed = () => {
      setImmediate(() => started.at(-1)?.kill('SIGKILL'));
    };
    subscribe('child_process', killed);
    try {
      await expect(build('fed', () => {})).rejects.toThrow('the process of Pagefind ended with SIGKILL');
    } finally {
      unsubscribe('child_process', killed);
    }
  });

  it('says why it does not start', async () => {
    vi.stubEnv('PAGEFIND_EXTENDED_BINARY_PATH', path.join(folder, 'no program'));
    try {
      await expect(build('unstarted', () => {})).rejects.toThrow('the process of Pagefind ended with ENOENT');
    } finally {
      vi.unstubAllEnvs();
    }
    const nothing = async () => {
      throw new Error('no program for this system');
    };
    await expect(whilePagefindRuns(nothing)).rejects.toThrow('no program for this system');
  });
});
