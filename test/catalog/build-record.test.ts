import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type BuildLine, composeBuildLine, computeHistories } from '../../src/catalog/build-lines.ts';
import { appendBuild, readBuildRecord, readLastBuilds } from '../../src/catalog/build-record.ts';
import type { HistoryOutcome } from '../../src/contract/status.ts';
import { temporaryFolder } from '../support/folder.ts';

const packages = { added: 1, updated: 2, removed: 0 };
const begin = Date.parse('2026-01-01T00:00:00.000Z');
const hourMs = 3_600_000;

let state: string;
beforeEach(() => {
  state = temporaryFolder();
});
const file = () => path.join(state, 'builds.jsonl');

/** Repositories that were never called otherwise. */
const listed = (...slugs: readonly string[]) => slugs.map((slug) => ({ slug }));

const lineOf = (hour: number, outcomes: Readonly<Record<string, HistoryOutcome>>, added: string[] = []): BuildLine =>
  composeBuildLine({
    at: new Date(begin + hour * hourMs).toISOString(),
    ended: 'published',
    packages,
    outcomes: new Map(Object.entries(outcomes)),
    added,
  });

describe('the memory of builds', () => {
  it('C12: records the outcome of each repository, build by build, beginning with the first build that knew it', () => {
    const lines = [
      lineOf(0, { a: 'fresh', b: 'fresh' }, ['a', 'b']),
      lineOf(1, { a: 'unchanged', b: 'stale', c: 'failed' }, ['c']),
      lineOf(2, { a: 'unchanged', b: 'unvisited', c: 'unchanged' }),
    ];
    for (const line of lines) appendBuild(state, line, ['a', 'b', 'c']);
    const { builds, days } = readBuildRecord(state);
    expect(builds).toEqual(lines);
    expect(readLastBuilds(state, 2)).toEqual(lines.slice(1));
    expect(readLastBuilds(state, 9)).toEqual(lines);
    expect(days).toEqual([]);
    expect(computeHistories(listed('a', 'b', 'c', 'd'), builds)).toEqual(
      new Map([
        ['a', 'fuu'],
        ['b', 'fs-'],
        ['c', '-xu'],
        ['d', 'fuu'],
      ]),
    );
    // Renamed, and told of as new or not.
    const renamed = [
      { slug: 'd', aliases: ['b'] },
      { slug: 'c', aliases: ['a', 'none'] },
      { slug: 'e', aliases: ['c'] },
    ];
    expect(computeHistories(renamed, builds)).toEqual(
      new Map([
        ['d', 'fs-'],
        ['c', 'fxu'],
        ['e', '-xu'],
      ]),
    );
    expect(builds[1]?.repositories).toEqual({ fresh: 0, unchanged: 1, stale: 1, failed: 1, unvisited: 0 });
  });

  it('C12: survives a last line that was cut off at any byte, which the next build takes away', () => {
    const [first, second, third] = [
      lineOf(0, { a: 'fresh' }, ['a']),
      lineOf(1, { a: 'stale' }),
      lineOf(2, { a: 'fresh' }),
    ];
    appendBuild(state, first, ['a']);
    const whole = statSync(file()).size;
    appendBuild(state, second, ['a']);
    const bytes = readFileSync(file());
    for (let cut = whole; cut < bytes.length; cut++) {
      writeFileSync(file(), bytes.subarray(0, cut));
      expect(readBuildRecord(state).builds).toEqual([first]);
      appendBuild(state, third, ['a']);
      expect(readBuildRecord(state).builds).toEqual([first, third]);
    }
    // Also of one that was longer than the next one is.
    const lines = readFileSync(file());
    appendFileSync(file(), '{"format":1,"at":"'.padEnd(10_000, 'x'));
    appendBuild(state, third, ['a']);
    expect(readFileSync(file(), 'utf8')).toBe(`${lines}${JSON.stringify(third)}\n`);
  });

  it('C12: a damaged line in the middle takes no other with it', () => {
    appendBuild(state, lineOf(0, { a: 'fresh', b: 'fresh' }, ['a', 'b']), []);
    appendFileSync(file(), `{"format":9}\n\n\0\0\0\nnull\n${'x'.repeat(100_000)}\n`);
    appendBuild(state, lineOf(1, { a: 'stale', b: 'unchanged' }), []);
    expect(computeHistories(listed('a', 'b'), readBuildRecord(state).builds)).toEqual(
      new Map([
        ['a', 'fs'],
        ['b', 'fu'],
      ]),
    );
    truncateSync(file());
    expect(readBuildRecord(state)).toEqual({ builds: [], days: [] });
  });

  it('C12: of 460 repositories that are built every hour for more than a year it stays below 4 MB, and folds by day', () => {
    const slugs = Array.from({ length: 460 }, (_, index) => `repository-${index}.example`);
    // Writing each line through appendBuild would flush thousands of times; two weeks at a time it folds as well.
    const hours = 400 * 24;
    let most = 0;
    let waiting = '';
    const outcomesAt = (hour: number) =>
      Object.fromEntries(
        slugs.map((slug, index): [string, HistoryOutcome] => {
          if (index < 20) return [slug, 'failed'];
          if (index < 50) return [slug, 'stale'];
          return [slug, (index * 7 + hour) % 20 === 0 ? 'fresh' : 'unchanged'];
        }),
      );
    const lines = Array.from({ length: 20 }, (_, hour) => lineOf(hour, outcomesAt(hour)));
    mkdirSync(state, { recursive: true });
    for (let hour = 0; hour < hours; hour++) {
      const at = new Date(begin + hour * hourMs).toISOString();
      const line = { ...(lines[hour % 20] as BuildLine), at, total: hour };
      if (hour % 336 === 335) {
        appendFileSync(file(), waiting);
        waiting = '';
        appendBuild(state, line, slugs);
        most = Math.max(most, statSync(file()).size);
      } else waiting += `${JSON.stringify(line)}\n`;
    }
    const { days, builds } = readBuildRecord(state);
    expect(most).toBeLessThan(4 * 2 ** 20);
    expect(builds.length).toBeGreaterThanOrEqual(35 * 24);
    expect(days.length).toBeGreaterThan(300);
    expect(days.length).toBeLessThanOrEqual(366);
    const total = days.at(-2);
    expect(total).toMatchObject({ builds: 24, unpublished: 0, packages: { added: 24, updated: 48, removed: 0 } });
    const lastHour = (Date.parse(`${total?.day}T23:00:00Z`) - begin) / hourMs;
    expect(total?.total).toBe(lastHour);
    expect(Object.keys(total?.down ?? {})).toHaveLength(50);
    expect(total?.down['repository-0.example']).toBe(24);
    expect(total?.repositories.failed).toBe(20 * 24);
    expect(readLastBuilds(state, 30)).toEqual(builds.slice(-30));
    expect(existsSync(`${file()}.next`)).toBe(false);
  });

  it('C12: builds of every minute are folded too, and a day that is folded in parts is counted once', () => {
    const minute = (index: number) =>
      composeBuildLine({
        at: new Date(begin + index * 60_000).toISOString(),
        ended: index % 10 === 0 ? 'failed' : 'published',
        packages,
        outcomes: new Map([['a', index % 2 === 0 ? 'stale' : 'unchanged']]),
        added: [],
      });
    writeFileSync(file(), Array.from({ length: 2000 }, (_, index) => `${JSON.stringify(minute(index))}\n`).join(''));
    for (let index = 2000; index < 2010; index++) appendBuild(state, minute(index), ['a']);
    const { days, builds } = readBuildRecord(state);
    expect(builds).toHaveLength(1010);
    expect(days.map(({ builds: count }) => count)).toEqual([1000]);
    expect(days[0]).toMatchObject({ day: '2026-01-01', unpublished: 100, down: { a: 500 } });
    appendFileSync(
      file(),
      Array.from({ length: 990 }, (_, index) => `${JSON.stringify(minute(2010 + index))}\n`).join(''),
    );
    appendBuild(state, minute(3000), ['a']);
    expect(readBuildRecord(state).days.reduce((sum, { builds: count }) => sum + count, 0)).toBe(2000);
  });

  it('C12: loses nothing by builds under a clock that is years ahead, or behind', () => {
    const days = (count: number) => Array.from({ length: count }, (_, day) => lineOf(day * 24, { a: 'fresh' }));
    const before = days(30);
    writeFileSync(file(), before.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const wrong = ['2031-01-01T00:00:00.000Z', '2031-01-01T01:00:00.000Z', '1970-01-01T00:00:00.000Z'];
    for (const at of wrong) appendBuild(state, { ...(before[0] as BuildLine), at }, ['a']);
    expect(readLastBuilds(state, 100).map(({ at }) => at)).toEqual([...before.map(({ at }) => at), ...wrong]);
    for (let day = 30; day < 120; day++) appendBuild(state, lineOf(day * 24, { a: 'stale' }), ['a']);
    const record = readBuildRecord(state);
    const told = record.days.reduce((sum, { builds }) => sum + builds, 0) + record.builds.length;
    expect(told).toBe(120 + wrong.length);
    expect(record.days.length).toBeGreaterThan(50);
  });

  it('C10: counts repositories whose slug is the name of a property that every object has', () => {
    const slugs = ['constructor', 'toString', 'valueOf', 'hasOwnProperty'];
    const outcomes = Object.fromEntries(slugs.map((slug) => [slug, 'failed' as const]));
    for (const hour of [0, 1, 2]) appendBuild(state, lineOf(hour, { ...outcomes, a: 'fresh' }), [...slugs, 'a']);
    for (let hour = 0; hour < 13; hour++) appendBuild(state, lineOf(40 * 24 + hour, { a: 'fresh' }), [...slugs, 'a']);
    const { days, builds } = readBuildRecord(state);
    expect(builds).toHaveLength(13);
    expect(days).toMatchObject([{ builds: 3, down: Object.fromEntries(slugs.map((slug) => [slug, 3])) }]);
    expect(Object.keys(days[0]?.down ?? {})).toEqual(slugs);
  });
});
