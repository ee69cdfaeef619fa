import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isDiskFull } from '../../src/pipeline/disk-room.ts';
import { runInProcess, startProcess } from '../../src/site/own-process.ts';
import { temporaryFolder } from './fixture.ts';

const { folder, remove } = temporaryFolder();
const module = pathToFileURL(path.join(folder, 'work.mjs'));
const own = new URL('../../src/site/own-process.ts', import.meta.url).href;

beforeAll(() => {
  writeFileSync(
    module,
    `import { answerOrder } from ${JSON.stringify(own)};
    answerOrder(async ({ wish }, onProgress) => {
      if (wish === 'fail') throw new Error('could not be done', { cause: new Error('as it was not') });
      if (wish === 'write') throw Object.assign(new Error('no space'), { code: 'ENOSPC', syscall: 'write' });
      if (wish === 'deep') throw new Error('could not', { cause: Object.assign(new Error('no space'), { code: 'ENOSPC' }) });
      if (wish === 'wrap') {
        const told = { code: 'ERR_SQLITE_ERROR', errcode: 13, cause: new Error('full') };
        throw Object.assign(new Error('while it was written'), told);
      }
      if (wish === 'odd') throw Object.assign(new Error('odd'), { code: () => {} });
      if (wish === 'word') throw 'a word';
      if (wish === 'end') process.exit(3);
      onProgress({ half: process.pid });
      return { pid: process.pid, wish };
    });`,
  );
});
afterAll(remove);

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe('work in a process of its own', () => {
  it('hands over what came out and how far it was, and ends with it', async () => {
    const told: { half: number }[] = [];
    const own = startProcess<object, { pid: number; wish: string }, { half: number }>(module);
    const { pid, wish } = await own.tell({ wish: 'do it' }, (progress) => told.push(progress));
    expect(wish).toBe('do it');
    expect(pid).not.toBe(process.pid);
    expect(told).toEqual([{ half: pid }]);
    own.end();
    while (isAlive(pid)) await setTimeout(10);
  });

  it('is told what to do whenever it is known, and ends where it is not', async () => {
    const note = path.join(folder, 'begun');
    const early = pathToFileURL(path.join(folder, 'early.mjs'));
    writeFileSync(
      early,
      `import { writeFileSync } from 'node:fs';
      import { answerOrder } from ${JSON.stringify(own)};
      answerOrder(async () => process.argv[2]);
      writeFileSync(process.argv[2], String(process.pid));`,
    );
    const begun = async (): Promise<number> => {
      while (!existsSync(note) || readFileSync(note, 'utf8') === '') await setTimeout(10);
      return Number(readFileSync(note, 'utf8'));
    };
    const told = startProcess<object, string>(early, { args: [note] });
    expect(isAlive(await begun())).toBe(true);
    expect(told.hasEnded).toBe(false);
    expect(await told.tell({})).toBe(note);
    told.end();
    rmSync(note);
    const untold = startProcess(early, { args: [note] });
    const pid = await begun();
    untold.end();
    while (!untold.hasEnded) await setTimeout(10);
    expect(isAlive(pid)).toBe(false);
    // Nor is one waited for that ended before it was told.
    await expect(untold.tell({})).rejects.toThrow(/ended with SIGKILL/);
  });

  it('ends with all that it started, where it leads them', async () => {
    const leader = pathToFileURL(path.join(folder, 'leader.mjs'));
    writeFileSync(
      leader,
      `import { spawn } from 'node:child_process';
      import { answerOrder } from ${JSON.stringify(own)};
      const { pid } = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
      answerOrder(async () => pid);`,
    );
    const started = startProcess<object, number>(leader, { detached: true });
    const pid = await started.tell({});
    expect(isAlive(pid)).toBe(true);
    started.end();
    while (isAlive(pid)) await setTimeout(10);
  });

  it('tells why nothing came out: in words, where it was, and whether the system refused it', async () => {
    await expect(runInProcess(module, { wish: 'end' })).rejects.toThrow(/ended with 3/);
    const failure = await runInProcess(module, { wish: 'fail' }).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      message: 'could not be done: as it was not',
      stack: expect.stringContaining(module.href),
    });
    expect(failure).not.toHaveProperty('code');
    const full = await runInProcess(module, { wish: 'write' }).catch((error: unknown) => error);
    expect(full).toMatchObject({ code: 'ENOSPC', syscall: 'write', message: 'no space' });
    expect(isDiskFull(full)).toBe(true);
    const within = await runInProcess(module, { wish: 'wrap' }).catch((error: unknown) => error);
    expect(within).toMatchObject({ message: 'while it was written: full', errcode: 13 });
    expect(isDiskFull(within)).toBe(true);
    const deeper = await runInProcess(module, { wish: 'deep' }).catch((error: unknown) => error);
    expect(deeper).toMatchObject({ message: 'could not: no space', code: 'ENOSPC' });
    // What cannot be told is left out, and what is no error is told in its words.
    await expect(runInProcess(module, { wish: 'odd' })).rejects.toThrow('odd');
    await expect(runInProcess(module, { wish: 'word' })).rejects.toThrow('a word');
  });

  it('is left alone by a signal to stop that comes while it loads', async () => {
    const slow = pathToFileURL(path.join(folder, 'slow.mjs'));
    const loading = path.join(folder, 'loading');
    writeFileSync(
      slow,
      `import { existsSync, writeFileSync } from 'node:fs';
      import { setTimeout } from 'node:timers/promises';
      writeFileSync(${JSON.stringify(loading)}, String(process.pid));
      while (existsSync(${JSON.stringify(loading)})) await setTimeout(5);
      const { answerOrder } = await import(${JSON.stringify(own)});
      answerOrder(async () => 'done');`,
    );
    const started = startProcess<object, string>(slow);
    while (!existsSync(loading) || readFileSync(loading, 'utf8') === '') await setTimeout(10);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.kill(Number(readFileSync(loading, 'utf8')), signal);
    rmSync(loading);
    expect(await started.tell({})).toBe('done');
    started.end();
  });
});
