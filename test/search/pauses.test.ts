import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createPauses } from '../../src/search/pauses.ts';

it('H6: of computations that pause one goes on at a time, in the order in which they paused, and each when others had their turns', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  onTestFinished(() => now.mockRestore());
  const pauses = Array.from({ length: 5 }, createPauses);
  now.mockReturnValue(4);
  expect(pauses.map((pause) => pause())).toEqual(pauses.map(() => undefined));
  now.mockReturnValue(5);
  let turn = 0;
  const wentOn: number[] = [];
  const waiting = pauses.map(async (pause, index) => {
    await pause();
    wentOn[index] = turn;
  });
  for (; turn < 30; turn++) await nextTurn();
  await Promise.all(waiting);
  const gaps = wentOn.map((at, index) => at - (wentOn[index - 1] ?? 0));
  for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(3);
});
