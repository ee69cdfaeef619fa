import { existsSync, mkdirSync, statfsSync, statSync } from 'node:fs';
import { catalogPath } from '../catalog/generation.ts';

/** A disk that has too little room for a build, named with what to do. */
export class NoRoom extends Error {
  override readonly name = 'NoRoom';
}

const spareBytes = 64 * 2 ** 20;

const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6).toLocaleString('en')} MB`;

/**
 * Checks, before anything is written, that the disks of these folders (of the output, and of `state`) have room for
 * another catalog beside the one in force and for what was downloaded.
 *
 * @throws NoRoom where they have not
 */
export const assertRoom = (folders: readonly string[], state: string): void => {
  const catalog = existsSync(catalogPath(state)) ? statSync(catalogPath(state)).size : 0;
  for (const folder of folders) {
    const needed = folder === state ? 2 * catalog + spareBytes : spareBytes;
    mkdirSync(folder, { recursive: true });
    const { bavail, bsize } = statfsSync(folder);
    if (bavail * bsize >= needed) continue;
    throw new NoRoom(
      `The disk of ${folder} has ${megabytes(bavail * bsize)} left, and a build needs ${megabytes(needed)}. Nothing was changed: make room and build again.`,
    );
  }
};

// A file system without room, a user without quota, and a process whose files may grow no further.
const full = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
// https://sqlite.org/rescode.html: SQLITE_IOERR and SQLITE_FULL; the low byte is the primary code.
const sqliteFull = new Set([10, 13]);

/** Whether an error says that a disk is full. */
export const isDiskFull = (error: unknown): boolean => {
  if (!(error instanceof Error) || !('code' in error)) return false;
  if (error.code === 'ERR_SQLITE_ERROR') return sqliteFull.has(Number((error as { errcode?: number }).errcode) & 0xff);
  return full.has(String(error.code));
};
