import { renameSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { watchStamp } from '../../functions/node/watch-stamp.ts';
import { temporaryFolder } from '../support/folder.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

/** How often it was called in each of so many rounds, and in those after each change. */
const watch = (file: string | undefined) => {
  let calls = 0;
  const end = watchStamp(file, () => calls++);
  return {
    end,
    pass: (rounds: number) => {
      const before = calls;
      for (let round = 0; round < rounds; round++) vi.advanceTimersToNextTimer();
      return calls - before;
    },
  };
};

it('H4: a stamp is looked at again and again, and each change of it is told once', () => {
  const file = path.join(temporaryFolder(), 'generation.json');
  writeFileSync(file, '1');
  const { pass, end } = watch(file);
  expect(pass(40)).toBe(0);
  for (const text of ['22', '333']) {
    writeFileSync(file, text);
    expect(pass(1)).toBe(1);
    expect(pass(40)).toBe(0);
  }
  end();
  expect(vi.getTimerCount()).toBe(0);
});

it('H4: a stamp of the same length is another one where it is another file, or was written a moment later', () => {
  const file = path.join(temporaryFolder(), 'generation.json');
  const write = (name: string, seconds: number) => {
    writeFileSync(name, '1');
    utimesSync(name, seconds, seconds);
  };
  write(file, 1_800_000_000);
  const { pass, end } = watch(file);
  write(`${file}.next`, 1_800_000_000);
  renameSync(`${file}.next`, file);
  expect(pass(1)).toBe(1);
  write(file, 1_800_000_000.001);
  expect([pass(1), pass(40)]).toEqual([1, 0]);
  end();
});

it.each([undefined, '/nowhere/generation.json'])(
  'H4: where there is no stamp (%s) nothing is kept for longer than twenty rounds',
  (file) => {
    const { pass, end } = watch(file);
    expect([pass(19), pass(1), pass(19), pass(1)]).toEqual([0, 1, 0, 1]);
    end();
  },
);
