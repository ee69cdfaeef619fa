import { spawnSync } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { chooseAgain } from '../../scripts/reports/again.ts';
import { countReports } from '../../scripts/reports/count.ts';
import { temporaryFolder } from '../support/folder.ts';
import { runScript } from '../support/run-script.ts';

type Statuses = readonly string[];

/** Writes a report of files, each with the statuses of its tests, and of itself where that differs from theirs. */
const report = (files: Readonly<Record<string, Statuses>>, broken: readonly string[] = []): string => {
  const testResults = Object.entries(files).map(([name, statuses]) => ({
    name,
    status: statuses.includes('failed') || broken.includes(name) ? 'failed' : 'passed',
    assertionResults: statuses.map((status, index) => ({ fullName: `test ${index}`, status })),
  }));
  const file = path.join(temporaryFolder(), 'report.json');
  writeFileSync(file, JSON.stringify({ testResults }));
  return file;
};

it('adds up what passed, failed and was skipped, in all reports', () => {
  const tests = report({ a: ['passed', 'passed'], b: ['passed', 'skipped', 'pending'] });
  expect(countReports([tests, report({ c: ['passed'] })])).toEqual({
    line: '4 passed, 0 failed, 2 skipped',
    isGreen: true,
    unsteady: [],
  });
  expect(countReports([tests, report({ c: ['failed', 'passed'] })])).toMatchObject({
    line: '4 passed, 1 failed, 2 skipped',
    isGreen: false,
  });
});

it('is green of nothing that did not run, and takes a file that broke for a failure, whatever its tests say', () => {
  expect(countReports([report({})]).isGreen).toBe(false);
  expect(countReports([report({ a: ['passed'], b: [] }, ['b'])])).toMatchObject({
    line: '1 passed, 1 failed',
    isGreen: false,
  });
  expect(countReports([report({ a: ['passed', 'skipped'] }, ['a'])]).line).toBe('1 passed, 1 failed, 1 skipped');
});

it('counts a file that ran again as it went the last time, and names what passed only then', () => {
  const first = report({ a: ['passed', 'failed'], b: ['passed'], c: ['skipped'] }, ['c']);
  expect(countReports([first, report({ a: ['passed', 'passed'], c: ['passed'] })])).toEqual({
    line: '4 passed, 0 failed',
    isGreen: true,
    unsteady: ['a: test 1', 'c: the file itself'],
  });
});

it('fails what failed twice, by the same test of the file or by another', () => {
  const first = report({ a: ['passed', 'failed'] });
  for (const again of [report({ a: ['passed', 'failed'] }), report({ a: ['failed', 'passed'] })]) {
    expect(countReports([first, again])).toEqual({ line: '1 passed, 1 failed', isGreen: false, unsteady: [] });
  }
});

it('tries again whole files that failed, unless there are so many that the fault is not the machine', () => {
  const some = Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`file ${index}`, ['failed', 'passed']]));
  expect(chooseAgain(report({ ...some, fine: ['passed'] }))).toEqual(Object.keys(some));
  expect(chooseAgain(report({ hook: ['skipped'], fine: ['passed'] }, ['hook']))).toEqual(['hook']);
  expect(chooseAgain(report({ ...some, another: ['failed'] }))).toEqual([]);
  expect(chooseAgain(report({ fine: ['passed'] }))).toEqual([]);
});

it('ends with 1 where anything failed, names what passed only in the end, and lists files line by line', async () => {
  const first = report({ a: ['passed', 'failed'], b: ['failed'] });
  const second = report({ a: ['passed', 'passed'] });
  expect(await runScript('count-reports', [first, second])).toMatchObject({
    status: 1,
    out: '2 passed, 1 failed\n',
    error: 'Passed only when it ran again, alone: a: test 1\n',
  });
  expect(await runScript('count-reports', [second])).toMatchObject({
    status: 0,
    out: '2 passed, 0 failed\n',
    error: '',
  });
  expect(await runScript('rerun-files', [first])).toMatchObject({ status: 0, out: 'a\nb\n', error: '' });
});

it('says how it is called, and does nothing, where help is asked for', async () => {
  for (const [name, usage] of [
    ['count-reports', 'Usage: npm run ci:count -- REPORT...\n'],
    ['rerun-files', 'Usage: npm run ci:rerun -- REPORT\n'],
  ] as const) {
    expect(await runScript(name, ['--help']), name).toMatchObject({ status: 0, out: usage });
    expect(await runScript(name, []), name).toMatchObject({ status: 2, error: usage });
  }
  const drawn = statSync('src/public/favicon.svg').mtimeMs;
  const usage = expect.stringContaining('Usage: npm run images -- [options]');
  expect(await runScript('images', ['--help'])).toMatchObject({ status: 0, out: usage });
  expect(statSync('src/public/favicon.svg').mtimeMs).toBe(drawn);
  for (const name of ['gateway', 'crawl']) {
    const { stdout } = spawnSync(process.execPath, [`test/bench/${name}-bench.ts`, '--help'], { encoding: 'utf8' });
    expect(stdout).toContain(`Usage: npm run bench:${name} -- [options]`);
  }
});
