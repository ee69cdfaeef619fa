import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { threadId } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { DocumentWriter } from '../../src/publication/writer.ts';
import { temporaryFolder } from '../support/folder.ts';

/** Whether only this thread wrote there: each has a folder of its own for what is not whole yet. */
const wroteAlone = (folder: string): boolean =>
  readdirSync(path.join(folder, '.staging')).every((name) => name === `${process.pid}-${threadId}`);

const write = async (folder: string, count: number, text: string): Promise<void> => {
  const writer = new DocumentWriter(new OutputFolder(folder));
  try {
    for (let index = 0; index < count; index++) await writer.write({ path: `v2/${index}.json`, text });
    await writer.finish();
  } finally {
    await writer.close();
  }
};

it.each([
  ['few documents itself', 3, '{}', true],
  ['many by a thread of its own', 7, JSON.stringify('x'.repeat(2 ** 20)), false],
])('C12: writes %s, each whole', async (_, count, text, alone) => {
  const folder = temporaryFolder();
  await write(folder, count, text);
  for (let index = 0; index < count; index++)
    expect(readFileSync(path.join(folder, 'v2', `${index}.json`), 'utf8') === text).toBe(true);
  expect(wroteAlone(folder)).toBe(alone);
});

it('C12: waits for what it is given last, though its thread had nothing to do any more', async () => {
  const folder = temporaryFolder();
  const writer = new DocumentWriter(new OutputFolder(folder));
  onTestFinished(() => writer.close());
  const isThere = (name: string) => existsSync(path.join(folder, 'v2', name));
  await writer.write({ path: 'v2/first.json', text: JSON.stringify('x'.repeat(2 ** 22)) });
  await writer.finish();
  expect(isThere('first.json')).toBe(true);
  await writer.write({ path: 'v2/last.json', text: JSON.stringify('x'.repeat(2 ** 21)) });
  await writer.finish();
  expect(isThere('last.json')).toBe(true);
});

it('C12: takes no more than a disk that is slow has written, but for a few megabytes', async () => {
  const folder = temporaryFolder();
  const writer = new DocumentWriter(new OutputFolder(folder));
  onTestFinished(() => writer.close());
  // Whoever writes into a pipe waits until somebody reads it.
  const pipe = path.join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const text = 'x'.repeat(2 ** 22);
  const done: string[] = [];
  const writeAll = async () => {
    await writer.write({ path: 'v2/0.json', text, held: pipe });
    for (const name of ['1', '2', '3', '4', '5']) {
      await writer.write({ path: `v2/${name}.json`, text });
      done.push(name);
    }
    await writer.finish();
  };
  const writing = writeAll();
  for (let turns = 0; turns < 20; turns++) await turn();
  done.push('read');
  const reader = await open(pipe, 'r');
  for await (const _ of reader.createReadStream());
  await writing;
  expect(done).toEqual(['1', '2', '3', 'read', '4', '5']);
  expect(readdirSync(path.join(folder, 'v2'))).toHaveLength(5);
});

it.each([
  ['few', 3, '{}'],
  ['many', 7, JSON.stringify('x'.repeat(2 ** 20))],
])(
  'P1: has documents wait for their names where they are held, and names them in their order: %s',
  async (_, count, text) => {
    const output = new OutputFolder(temporaryFolder());
    output.hold();
    const writer = new DocumentWriter(output);
    for (let index = 0; index < count; index++) await writer.write({ path: `v2/${index}.json`, text });
    await writer.finish();
    await writer.close();
    const isNamed = () => Array.from({ length: count }, (_, index) => existsSync(output.resolve(`v2/${index}.json`)));
    expect(isNamed()).not.toContain(true);
    output.release(2);
    expect(isNamed().indexOf(false)).toBe(2);
    output.release();
    expect(isNamed()).not.toContain(false);
    expect(readFileSync(output.resolve(`v2/${count - 1}.json`), 'utf8') === text).toBe(true);
  },
);

it.each([
  ['few', 3, '{}'],
  ['many', 7, 'x'.repeat(2 ** 20)],
])('C12: fails with the file that cannot be written, where there are %s', async (_, count, text) => {
  const folder = temporaryFolder();
  writeFileSync(path.join(folder, '.staging'), '');
  const root = path.join(folder, '.staging', 'below a file');
  await expect(write(root, count, text)).rejects.toThrow('below a file');
});
