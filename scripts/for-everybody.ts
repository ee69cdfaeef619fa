import { existsSync } from 'node:fs';
import path from 'node:path';
import { makeFolder } from '../src/disk/make-folder.ts';

/**
 * Makes the files that this process writes from now on readable by everybody. Web servers run as other users, and the
 * umask of a hardened machine (077, 027) would hide them. Write permissions do not change. A new `state` folder gets
 * the permissions that the operator's umask gives it.
 */
export const letEverybodyRead = (state?: string): void => {
  const usual = process.umask(0o022);
  process.umask(usual & 0o022);
  if (state === undefined || existsSync(state)) return;
  // The folders around it may also contain what is published.
  makeFolder(path.dirname(path.resolve(state)));
  makeFolder(state, 0o777 & ~usual);
};
