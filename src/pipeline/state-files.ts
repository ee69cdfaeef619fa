import { accessSync, constants, readlinkSync } from 'node:fs';
import path from 'node:path';
import { findEntry } from '../disk/find-entry.ts';
import { findHold } from '../disk/regular-file.ts';

/** Something is in the place of a file or folder of the state folder. The message says what, and what to do. */
export class StateBlocked extends Error {
  override readonly name = 'StateBlocked';
}

/** What builds keep below a state folder, apart from what is made again without a word if it is lost. */
export const stateFolders = ['history', 'history/v1', 'publication', 'site', 'snapshots', 'snapshots/v1'] as const;
export const stateFiles = [
  'build.lock',
  'build.lock.json',
  'builds.jsonl',
  'catalog.mark.json',
  'catalog.sqlite',
  'generation.json',
  'identifier',
  'notices.json',
  'outcomes.json',
  'publication/folder.json',
  'publication/frames.json',
  'publication/generation.json',
  'publication/inventory.txt',
  'publication/packages.json',
  'publication/size.json',
  'publication/status.json',
  'publishing',
  'removals.json',
] as const;

const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException).code;

const readTarget = (file: string): string | undefined => {
  try {
    return readlinkSync(file);
  } catch {
    return undefined;
  }
};

const assertKind = (file: string, kind: 'file' | 'folder'): void => {
  const found = findEntry(file);
  if (found === undefined) {
    const target = readTarget(file);
    if (target === undefined) return;
    throw new StateBlocked(
      `${file} is a link to ${target}, where there is no ${kind}: mount or restore that, or remove the link, and build again. Nothing was changed.`,
    );
  }
  if (!(kind === 'folder' ? found.isDirectory() : found.isFile())) {
    const what = kind === 'folder' ? 'no folder' : found.isDirectory() ? 'a folder' : 'no regular file';
    throw new StateBlocked(
      `${file} is ${what}, and a build keeps a ${kind} of that name: move it away, put the ${kind} back if you have a copy, and build again. Nothing was changed.`,
    );
  }
  // What cannot be read would count as lost and be written anew, which takes no right to the old one.
  try {
    accessSync(file, kind === 'file' ? constants.R_OK : constants.R_OK | constants.X_OK);
  } catch (error) {
    // Another build is at work, and has just removed it.
    if (codeOf(error) !== 'ENOENT') throw error;
  }
};

const assertReplaceable = (file: string): void => {
  const hold = findHold(file);
  if (hold !== undefined)
    throw new StateBlocked(`${file} ${hold}, because builds replace it, and build again. Nothing was changed.`);
};

/**
 * Checks, before anything is written or requested, that a state folder and its files and folders are what they should be,
 * as far as they exist, and that new files can take the place of these: what one of them says must not be lost because it
 * is out of reach for a while, and no build is to end in the middle of publishing.
 *
 * @throws StateBlocked; any error of the system for what this user may not read
 */
export const assertStateFiles = (state: string): void => {
  assertKind(path.resolve(state), 'folder');
  for (const name of stateFolders) assertKind(path.join(state, name), 'folder');
  for (const name of stateFiles) {
    assertKind(path.join(state, name), 'file');
    // It is written once.
    if (name !== 'identifier') assertReplaceable(path.join(state, name));
  }
};
