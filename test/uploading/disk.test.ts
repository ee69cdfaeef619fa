import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { generationPath } from '../../src/contract/generation.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { UploadError } from '../../src/uploading/upload-error.ts';
import { temporaryFolder } from '../support/folder.ts';
import { type Files, Publication } from '../support/publication.ts';
import { folderTarget, send } from '../support/uploading.ts';

const run = (program: string, ...parameters: string[]): boolean => spawnSync(program, parameters).status === 0;
const mount = (...parameters: string[]): boolean => run('mount', ...parameters);
const unmount = (folder: string): boolean => run('umount', '-l', folder);

/** Whether this user may mount a disk of memory, which alone is small enough to be filled. */
const canMount = ((): boolean => {
  const folder = mkdtempSync(path.join(tmpdir(), 'debdex-mount-'));
  const isMounted = mount('-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder);
  if (isMounted) unmount(folder);
  rmSync(folder, { recursive: true });
  return isMounted;
})();
if (!canMount) process.stderr.write('SKIPPED: full and read-only disks of uploads, which only root can mount.\n');

const openDisk = (kilobytes: number): string => {
  const folder = path.join(temporaryFolder(), 'disk');
  mkdirSync(folder);
  mount('-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', folder);
  onTestFinished(() => void unmount(folder));
  return folder;
};

const small: Files = { 'index.html': 'site', 'v2/index.json': 'landing' };
/** Bytes that no compression makes less of. */
const large: Files = { ...small, 'v2/a.json': 'a'.repeat(300_000), 'v2/b.json': 'b' };

const expectRefused = async (publication: Publication, folder: string, message: RegExp): Promise<void> => {
  const before = folderTarget(folder).read(generationPath.current)?.toString();
  const failure = await send(publication.out, folderTarget(folder)).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(UploadError);
  expect(String(failure)).toMatch(message);
  expect(String(failure)).toMatch(
    /upload again: it goes on with what is there already\. What was in force there still is\./,
  );
  expect(folderTarget(folder).read(generationPath.current)?.toString()).toBe(before);
};

const expectHeld = (folder: string, publication: Publication, files: Files): void => {
  const target = folderTarget(folder);
  expect(target.read(generationPath.current)?.toString()).toBe(publication.read(generationPath.current));
  for (const [name, text] of Object.entries(files)) expect(target.read(name)?.toString() === text, name).toBe(true);
};

afterEach(() => vi.restoreAllMocks());

describe('an upload to a folder', () => {
  it.skipIf(!canMount)('P1: on a disk that is full says so, and goes on when there is room', async () => {
    const publication = new Publication();
    const folder = openDisk(256);
    await publication.publish(small);
    await send(publication.out, folderTarget(folder));
    const first = publication.read(generationPath.current);
    await publication.publish(large);
    await expectRefused(
      publication,
      folder,
      /There is no more room in .* \(the disk is full, has no inodes left, or a quota is met\): make room/,
    );
    expect(folderTarget(folder).read(generationPath.current)?.toString()).toBe(first);
    for (const [name, text] of Object.entries(small)) expect(folderTarget(folder).read(name)?.toString()).toBe(text);
    expect(mount('-o', 'remount,size=4m', folder)).toBe(true);
    await send(publication.out, folderTarget(folder));
    expectHeld(folder, publication, large);
  });

  it.skipIf(!canMount)('P1: on a disk that is full from the beginning says so', async () => {
    const publication = new Publication();
    const folder = openDisk(64);
    await publication.publish(small);
    writeFileSync(path.join(folder, '.filling'), Buffer.alloc(64 * 1024 - 4096));
    await expectRefused(publication, folder, /There is no more room/);
    rmSync(path.join(folder, '.filling'));
    await send(publication.out, folderTarget(folder));
    expectHeld(folder, publication, small);
  });

  it.skipIf(!canMount)('P1: on a disk that is read-only says so, and goes on when it is not', async () => {
    const publication = new Publication();
    const folder = openDisk(4096);
    await publication.publish(small);
    await send(publication.out, folderTarget(folder));
    await publication.publish(large);
    expect(mount('-o', 'remount,ro', folder)).toBe(true);
    await expectRefused(publication, folder, /is mounted read-only: mount it for writing/);
    expect(mount('-o', 'remount,rw', folder)).toBe(true);
    await send(publication.out, folderTarget(folder));
    expectHeld(folder, publication, large);
  });

  it.each([
    ['EDQUOT', /no more room in .* a quota is met/],
    ['ENOSPC', /no more room in/],
    ['EROFS', /read-only/],
    ['EACCES', /may not write to/],
    ['EPERM', /may not write to/],
    ['EFBIG', /takes no file as large/],
    ['EIO', /The disk or mount of .* fails/],
    ['ESTALE', /The disk or mount of .* fails/],
  ])('P1: says what to do about %s at any of its steps, and goes on after it', async (code, message) => {
    const publication = new Publication();
    const folder = path.join(temporaryFolder(), 'to');
    await publication.publish(small);
    await send(publication.out, folderTarget(folder));
    await publication.publish(large);
    for (const step of ['place', 'flush', 'sweep'] as const) {
      const failing = vi.spyOn(OutputFolder.prototype, step).mockImplementation(() => {
        throw Object.assign(new Error(`${code}: of the system`), { code });
      });
      await expectRefused(publication, folder, message);
      failing.mockRestore();
    }
    await send(publication.out, folderTarget(folder));
    expectHeld(folder, publication, large);
  });
});
