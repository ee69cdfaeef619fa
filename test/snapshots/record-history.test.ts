import { expect, it } from 'vitest';
import {
  mergeRecords,
  parseRecords,
  type RecordHistory,
  RecordSights,
  recordsText,
} from '../../src/snapshots/record-history.ts';

const day = (number: number) => `2026-06-${String(number).padStart(2, '0')}T12:00:00.000Z`;
const key = 'a\n1\nall';

/** The history after a reading on a day, at which the index has these records; of some of them with other bytes. */
const read = (
  before: RecordHistory | undefined,
  on: number,
  keys: readonly string[],
  changed: readonly string[] = [],
) => {
  const sights = new RecordSights(before, 'here', day(on), day(1));
  for (const one of keys) sights.sight(one, changed.includes(one));
  return sights.finish(new Date(day(on))) ?? before;
};

it('C4: a record that goes and comes back keeps the day of its first sight, and that on which its bytes changed', () => {
  const first = read(undefined, 2, [key]);
  const changed = read(first, 3, [key], [key]);
  const gone = read(changed, 4, []);
  expect(gone?.records.get(key)).toMatchObject({ seen: day(1), goneAt: day(4), changedAt: day(3) });
  const back = read(gone, 5, [key]);
  expect(back?.records.get(key)).toEqual({ seen: day(1), news: false, goneAt: null, changedAt: day(3) });
  expect(parseRecords(recordsText(back as RecordHistory))).toEqual(back);
});

it('C12: a record does not vanish before it came, though the clock was set back meanwhile', () => {
  const came = read(read(undefined, 2, []), 9, [key]);
  expect(read(came, 3, [])?.records.get(key)).toMatchObject({ seen: day(9), goneAt: day(9) });
});

it('C4: when two histories are merged, the earlier first sight counts, and what exists now stays', () => {
  const sight = { seen: day(2), news: true, goneAt: null, changedAt: null };
  const history = (records: RecordHistory['records']): RecordHistory => ({ address: 'here', records });
  const now = history(new Map([[key, { ...sight, seen: day(5), changedAt: day(6) }]]));
  const before = history(new Map([[key, { ...sight, goneAt: day(4) }]]));
  const merged = { seen: day(2), news: true, goneAt: null, changedAt: day(6) };
  expect(mergeRecords(now, before).records.get(key)).toEqual(merged);
});
