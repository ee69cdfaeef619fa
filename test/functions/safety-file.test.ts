import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { watchSafetyList } from '../../functions/node/safety-file.ts';

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
  const reported: Error[] = [];
  const list = watchSafetyList(pathToFileURL(file), (error) => reported.push(error as Error), 5);
  onTestFinished(() => list.close());
  const unsafe = () => ['one.test', 'two.test', 'three.test'].filter((host) => !list.check(`https://${host}/`));
  expect(unsafe()).toEqual(['one.test']);
  write(entry('one.test') + entry('two.test'));
  await expect.poll(unsafe).toEqual(['one.test', 'two.test']);
  expect(reported).toEqual([]);

  write('- host: [');
  await expect.poll(() => reported.length).toBe(1);
  write(`- host: https://three.test\n`);
  await expect.poll(() => reported.length).toBe(2);
  expect(reported[1]?.message).toContain('0.host');
  rmSync(file);
  await expect.poll(() => reported.length).toBe(3);
  expect(unsafe()).toEqual(['one.test', 'two.test']);
  write(entry('three.test'));
  await expect.poll(unsafe).toEqual(['three.test']);
  expect(reported).toHaveLength(3);
});

it('H4 a safety list that could not be read for a while is read when it can be, and that is told once', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'debdex-safety-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'safety.yaml');
  writeFileSync(file, entry('one.test'));
  const reported: Error[] = [];
  const list = watchSafetyList(pathToFileURL(file), (error) => reported.push(error as Error), 5);
  onTestFinished(() => list.close());
  descriptors.lacking = 3;
  writeFileSync(`${file}.new`, entry('two.test'));
  renameSync(`${file}.new`, file);
  await expect.poll(() => list.check('https://two.test/')).toBe(false);
  expect(descriptors.lacking).toBe(0);
  expect(reported.map(({ message }) => message)).toEqual([expect.stringContaining('EMFILE')]);
});
