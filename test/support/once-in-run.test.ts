import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { temporaryFolder } from './folder.ts';
import { makeOnce } from './once-in-run.ts';

it('what a run needs once is made by whoever comes first, and found whole by all', async () => {
  const parent = temporaryFolder();
  let made = 0;
  const make = async (folder: string) => {
    made++;
    await turn();
    writeFileSync(path.join(folder, 'file'), '');
  };
  const found = await Promise.all(Array.from({ length: 8 }, () => makeOnce(parent, 'shared', make)));
  expect([made, ...new Set(found)]).toEqual([1, path.join(parent, 'shared')]);
  expect(readdirSync(parent)).toEqual(['shared']);
});

it('what a run needs once is made by the next where making it failed, or whoever was at it ended', async () => {
  const parent = temporaryFolder();
  const fail = async () => {
    throw new Error('no room');
  };
  await expect(makeOnce(parent, 'shared', fail)).rejects.toThrow('no room');
  // No system gives out such a process id.
  writeFileSync(path.join(parent, 'shared.claimed'), `${2 ** 31 - 1}`);
  const folder = await makeOnce(parent, 'shared', async (aside) => writeFileSync(path.join(aside, 'file'), ''));
  expect(readdirSync(folder)).toEqual(['file']);
});
