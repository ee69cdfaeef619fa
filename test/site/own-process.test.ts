import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runInProcess } from '../../src/site/own-process.ts';
import { temporaryFolder } from './fixture.ts';

const { folder, remove } = temporaryFolder();
const module = pathToFileURL(path.join(folder, 'work.mjs'));
const own = new URL('../../src/site/own-process.ts', import.meta.url).href;

beforeAll(() => {
  writeFileSync(
    module,
    `import { answerOrder } from ${JSON.stringify(own)};
    answerOrder(async ({ wish }, onProgress) => {
      if (wish === 'fail') throw new Error('could not be done');
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
    const onProgress = (progress: { half: number }) => told.push(progress);
    const { pid, wish } = await runInProcess<{ pid: number; wish: string }, { half: number }>(
      module,
      { wish: 'do it' },
      { onProgress },
    );
    expect(wish).toBe('do it');
    expect(pid).not.toBe(process.pid);
    expect(told).toEqual([{ half: pid }]);
    while (isAlive(pid)) await setTimeout(10);
  });

  it('tells why nothing came out', async () => {
    await expect(runInProcess(module, { wish: 'fail' })).rejects.toThrow(/could not be done/);
    await expect(runInProcess(module, { wish: 'end' })).rejects.toThrow(/ended with 3/);
  });
});
