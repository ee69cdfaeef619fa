import { expect, it } from 'vitest';
import { readClock } from '../../scripts/build-clock.ts';
import { exitCodes } from '../../scripts/exit-codes.ts';
import { UsageError } from '../../scripts/options.ts';

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

it('takes any second of the years of four digits, and no text that is none', () => {
  expect(readClock('0')().toISOString()).toBe('1970-01-01T00:00:00.000Z');
  expect(readClock('253402300799')().toISOString()).toBe('9999-12-31T23:59:59.000Z');
  for (const epoch of ['', '253402300800', '-1', '1.5', '1e3', ' 1']) {
    expect(() => readClock(epoch), epoch).toThrow(UsageError);
  }
});
