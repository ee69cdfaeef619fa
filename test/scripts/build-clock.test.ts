import { expect, it } from 'vitest';
import { readClock } from '../../scripts/build-clock.ts';
import { exitCodes } from '../../scripts/exit-codes.ts';

it('C12: a build does not begin under a clock of long ago, whose dates would stay in what it notes', () => {
  const refusal = expect.objectContaining({
    message: expect.stringContaining('clock of this machine says 1970-01-01T00:01:00.000Z: set it'),
    exitCode: exitCodes.failed,
  });
  expect(() => readClock(undefined, () => new Date(60_000))).toThrow(refusal);
  const now = new Date('2026-06-01T00:00:00Z');
  expect(readClock(undefined, () => now)()).toEqual(now);
  // Whoever states the time means it.
  expect(readClock('60')()).toEqual(new Date(60_000));
});
