import { existsSync, statSync } from 'node:fs';
import { isFull } from '../catalog/node-sqlite.ts';
import { catalogPath } from '../catalog/state-catalog.ts';
import { makeFolder } from '../disk/make-folder.ts';
import { findShortage, fullDiskCodes } from '../disk/room.ts';

/** A disk has too little room for a build. The message says which, and what to do. */
export class NoRoom extends Error {
  override readonly name = 'NoRoom';
}

/**
 * Checks, before anything is written, that the disks of these folders (of the output, and of `state`) have room for
 * another catalog beside the one in force and for downloads.
 *
 * @throws NoRoom if they have not
 */
export const assertRoom = (folders: readonly string[], state: string): void => {
  const catalog = existsSync(catalogPath(state)) ? statSync(catalogPath(state)).size : 0;
  for (const folder of folders) {
    makeFolder(folder);
    const shortage = findShortage(folder, folder === state ? 2 * catalog : 0);
    if (shortage === undefined) continue;
    throw new NoRoom(
      `The disk of ${folder} has ${shortage.left} left, and a build needs ${shortage.needed}. Nothing was changed: make room and build again.`,
    );
  }
};

/** Whether an error means that a disk is full. */
export const isDiskFull = (error: unknown): boolean => {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return isFull(error) || fullDiskCodes.has(String(error.code));
};
