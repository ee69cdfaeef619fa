import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { watchSafetyList } from '../../functions/node/safety-file.ts';

const entry = (host: string) =>
  `- host: ${host}\n  reason: Listed for the tests.\n  date: 2026-05-01\n  source: https://source.test/\n`;

it('a changed safety list is in force on a running server, and a broken one leaves the last good one', async () => {
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
