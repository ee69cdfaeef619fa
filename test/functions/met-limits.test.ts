import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { chooseLimits } from '../../functions/node/limits.ts';
import { createRefusals, type RefusalEvent } from '../../functions/node/met-limits.ts';

const minute = 60_000;

describe('H8 the limits that are met', () => {
  let told: RefusalEvent[];
  let refusals: ReturnType<typeof createRefusals>;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    told = [];
    refusals = createRefusals(chooseLimits(), { now: () => new Date(0), tell: (event) => told.push(event) });
  });
  afterEach(() => {
    refusals.end();
    vi.useRealTimers();
  });

  it('are told at once, then once in a while with what came in between, and counted all the time', () => {
    for (let number = 0; number < 1000; number++) refusals.count('clientConnections', `192.0.2.${number % 200}`);
    refusals.count('connections');
    expect(told).toHaveLength(2);
    expect(told[0]).toEqual({
      time: '1970-01-01T00:00:00.000Z',
      event: 'limit-met',
      limit: 'clientConnections',
      bound: 256,
      count: 1,
      total: 1,
      client: '192.0.2.0',
    });
    expect(refusals.counts).toMatchObject({ clientConnections: 1000, connections: 1, headers: 0 });
    refusals.end();
    expect(told).toHaveLength(3);
    expect(told[2]).toMatchObject({ limit: 'clientConnections', count: 999, total: 1000, client: '192.0.2.199' });
  });

  it('H12: are a line a minute at most for as long as they are met, and none where they were not', () => {
    refusals.count('headers');
    const lines = [];
    for (const met of [3, 2, 0, 0, 5]) {
      for (let time = 0; time < met; time++) refusals.count('headers');
      vi.advanceTimersByTime(minute);
      lines.push(told.length);
    }
    // After two quiet minutes the first is told at once again, and the rest at the end of its minute.
    expect(lines).toEqual([2, 3, 3, 3, 5]);
    expect(told.map(({ count }) => count)).toEqual([1, 3, 2, 1, 4]);
  });
});
