import fs, { fstatSync, readFileSync, writeFileSync } from 'node:fs';
import fsPromises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { flushFile } from '../../src/disk/flush-file.ts';
import { writeWholeFile } from '../../src/disk/whole-file.ts';
import { writeAtomically } from '../../src/snapshots/snapshot-files.ts';
import { temporaryFolder } from '../support/folder.ts';

const flush = fs.fsyncSync;
const open = fsPromises.open;

/** Has the system say this of the flush of what is a folder, or of what is not. */
const refuse = (code: string, isRefused: (stats: fs.Stats) => boolean) => {
  const say = (stats: fs.Stats) => {
    if (isRefused(stats)) throw Object.assign(new Error(`${code}: fsync`), { code });
  };
  const spies = [
    vi.spyOn(fs, 'fsyncSync').mockImplementation((descriptor) => {
      say(fstatSync(descriptor));
      flush(descriptor);
    }),
    vi.spyOn(fsPromises, 'open').mockImplementation(async (...given) => {
      const handle = await open(...given);
      const sync = handle.sync.bind(handle);
      handle.sync = async () => {
        say(await handle.stat());
        await sync();
      };
      return handle;
    }),
  ];
  // Also for those that have it by its name.
  syncBuiltinESMExports();
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
    syncBuiltinESMExports();
  });
};

const write = async (file: string, text: string) => {
  writeWholeFile(`${file}.json`, text, { durable: true });
  await writeAtomically(`${file}.meta`, text, { durable: true });
};

it('C12: what is durable is written on a file system that knows no flush of a folder', async () => {
  refuse('EINVAL', (stats) => stats.isDirectory());
  const file = path.join(temporaryFolder(), 'note');
  await write(file, 'written');
  for (const ending of ['json', 'meta']) expect(readFileSync(`${file}.${ending}`, 'utf8')).toBe('written');
});

it.each([
  ['a disk that fails', 'EIO', () => true],
  ['a file that cannot be flushed', 'EINVAL', (stats: fs.Stats) => stats.isFile()],
] as const)('C12: %s is told of', async (_, code, isRefused) => {
  const folder = temporaryFolder();
  const file = path.join(folder, 'note');
  writeFileSync(file, 'written');
  refuse(code, isRefused);
  expect(() => flushFile(file)).toThrow(code);
  if (code === 'EIO') expect(() => flushFile(folder)).toThrow(code);
  await expect(writeAtomically(file, 'another', { durable: true })).rejects.toThrow(code);
});
