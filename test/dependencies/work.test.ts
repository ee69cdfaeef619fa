import { expect, it } from 'vitest';
import { closureLimits } from '../../src/contract/dependency-records.ts';
import { TooLarge, Work } from '../../src/dependencies/work.ts';

it('D4: a closure lets others continue every few hundred steps, however many it spends at a time, and ends at its limits', () => {
  const work = new Work();
  let since = 0;
  let most = 0;
  const spend = (steps: number) => {
    since += steps;
    if (work.spend(steps)) since = 0;
    most = Math.max(most, since);
  };
  for (let round = 0; round < 2000; round++) spend(1 + (round % 100));
  expect(() => {
    for (let steps = 0; steps <= closureLimits.steps; steps++) spend(1);
  }).toThrow(TooLarge);
  expect(most).toBeLessThan(500);
  expect(() => {
    for (let visits = 0; visits <= closureLimits.visits; visits++) work.visit();
  }).toThrow(TooLarge);
});
