import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openComputed } from '../../functions/node/computed.ts';
import { readSafetyEntries, SafetyListInvalid, watchSafetyList } from '../../functions/node/safety-file.ts';

// Descriptors run out for a while: files can be looked at and not opened.
const descriptors = vi.hoisted(() => ({ lacking: 0 }));
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const readFileSync: typeof fs.readFileSync = ((...all: Parameters<typeof fs.readFileSync>) => {
    if (descriptors.lacking > 0 && String(all[0]).endsWith('safety.yaml')) {
      descriptors.lacking--;
      throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE', syscall: 'open' });
    }
    return fs.readFileSync(...all);
  }) as typeof fs.readFileSync;
  return { ...fs, readFileSync };
});

const entry = (host: string) =>
  `- host: ${host}\n  reason: Listed for the tests.\n  date: 2026-05-01\n  source: https://source.test/\n`;

it('H4 a changed safety list is in force on a running server, and a broken one leaves the last good one', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'debdex-safety-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'safety.yaml');
  const write = (text: string) => {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  write(entry('one.test'));
  const told: string[] = [];
  const list = watchSafetyList(pathToFileURL(file), (reason) => told.push(reason), 5);
  onTestFinished(() => list.close());
  const unsafe = () => ['one.test', 'two.test', 'three.test'].filter((host) => !list.check(`https://${host}/`));
  expect(unsafe()).toEqual(['one.test']);
  write(entry('one.test') + entry('two.test'));
  await expect.poll(unsafe).toEqual(['one.test', 'two.test']);
  expect(told).toEqual([]);

  write('- host: [');
  await expect.poll(() => told.length).toBe(1);
  write(`${entry('one.test')}- host: https://three.test\n`);
  await expect.poll(() => told.length).toBe(2);
  expect(told[1]).toContain(`The safety list ${file} has mistakes: entry 2 (https://three.test), host: must be`);
  write('# Nothing for now.\n');
  await expect.poll(() => told.length).toBe(3);
  rmSync(file);
  await expect.poll(() => told.length).toBe(4);
  expect(told.join()).not.toContain('\n');
  expect(unsafe()).toEqual(['one.test', 'two.test']);
  write(entry('three.test'));
  await expect.poll(unsafe).toEqual(['three.test']);
  expect(told).toHaveLength(4);
});

it('H4 a safety list that could not be read for a while is read when it can be, and that is told once', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'debdex-safety-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'safety.yaml');
  writeFileSync(file, entry('one.test'));
  const told: string[] = [];
  const list = watchSafetyList(pathToFileURL(file), (reason) => told.push(reason), 5);
  onTestFinished(() => list.close());
  descriptors.lacking = 3;
  writeFileSync(`${file}.new`, entry('two.test'));
  renameSync(`${file}.new`, file);
  await expect.poll(() => list.check('https://two.test/')).toBe(false);
  expect(descriptors.lacking).toBe(0);
  expect(told).toEqual([expect.stringContaining('EMFILE')]);
});

it('H4 a safety list without an entry, with a host that is none, or that is not there is refused in one line', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'debdex-safety-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'safety.yaml');
  const read = () => readSafetyEntries(pathToFileURL(file));
  expect(read).toThrow(`There is no safety list ${file}: copy data/safety.yaml`);
  for (const [text, message] of [
    ['', 'has no entry, and every address would pass for safe: write at least one'],
    ['[]', 'has no entry'],
    [`# ${entry('one.test').replaceAll('\n', '\n# ')}`, 'has no entry'],
    ['host: one.test', 'has mistakes: the list: must be a list'],
    [
      '- 7\n- host: 8\n  date: 2026-1-5\n  source: ftp://x',
      'has mistakes: entry 1: must be fields, each with its value; entry 2, host: must be text: put it in quotes; entry 2, reason: is missing; entry 2, date: must be a day such as 2026-11-20; entry 2, source: must be an address that begins with https:// or http://',
    ],
    ['- host: [', 'cannot be read: line 1, '],
    [entry('one.test') + entry('1.2.3.999'), 'has mistakes: entry 2 (1.2.3.999), host: is no host name'],
    [
      '- host: one.test\n  reason: Bad.\n',
      'entry 1 (one.test), reason: must say what is wrong, in 10 characters or more; ',
    ],
  ] as const) {
    writeFileSync(file, text);
    expect(read, text).toThrow(SafetyListInvalid);
    expect(read, text).toThrow(message);
    expect(read, text).toThrow(/^The safety list [^\n]*$/);
  }
});

it('H4 a safety list that cannot be used is told by its reason, and is no fault of ours', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'debdex-safety-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'safety.yaml');
  writeFileSync(file, entry('one.test'));
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const report = vi.fn();
  const tell = vi.fn();
  const { safety } = openComputed({ rate: 0, safetyList: pathToFileURL(file) }, { report, tell });
  onTestFinished(() => safety.close());
  writeFileSync(file, '[]');
  vi.advanceTimersByTime(10_000);
  expect(tell).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ event: 'safety-list', reason: expect.stringContaining('has no entry') }),
  );
  expect(report).not.toHaveBeenCalled();
});
