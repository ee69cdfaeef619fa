import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Farewell, Pauses } from '../../functions/cloudflare/waiting.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

it('E2: asks again after twice as long each time that fails, up to five minutes, and as usual once that succeeds', () => {
  const pauses = new Pauses(60_000);
  const failed = (times: number) => Array.from({ length: times }, () => pauses.afterFailure());
  expect(failed(5)).toEqual([60_000, 120_000, 240_000, 300_000, 300_000]);
  failed(5_000);
  expect(pauses.afterFailure()).toBe(300_000);
  expect(pauses.afterSuccess()).toBe(60_000);
  expect(failed(2)).toEqual([60_000, 120_000]);
});

it('E2: waits ten seconds for who still reads what is replaced, from when nobody else begins to', () => {
  const farewell = new Farewell();
  // After a start nobody reads what stood there before.
  expect(farewell.waitsFor(1)).toBe(false);
  farewell.begin();
  expect([farewell.waitsFor(1), farewell.waitsFor(0)]).toEqual([true, false]);
  vi.setSystemTime(Date.now() + 9_000);
  // Another order does not give them more.
  farewell.begin();
  expect(farewell.waitsFor(2)).toBe(true);
  vi.setSystemTime(Date.now() + 1_000);
  expect(farewell.waitsFor(2)).toBe(false);
  farewell.end();
  farewell.begin();
  expect(farewell.waitsFor(1)).toBe(true);
});
