import { mkdirSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { findEntry } from './find-entry.ts';

const isFolder = (folder: string): boolean => findEntry(folder)?.isDirectory() === true;

const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException).code;

// A link to a disk that is not mounted is told apart: nothing is wrong with the name.
const describeObstacle = (folder: string): string => {
  try {
    return `${folder} is a link to ${readlinkSync(folder)}, where there is no folder: mount or make it, or name another place`;
  } catch {
    return `${folder} is no folder: name one, or a name that is free`;
  }
};

/** The nearest above a folder that is there, and is no folder. */
const fileAbove = (folder: string): string => {
  let above = path.dirname(path.resolve(folder));
  while (findEntry(above) === undefined) above = path.dirname(above);
  return above;
};

/**
 * Makes a folder and those above it, unless they exist. Where an operator may name any folder, this takes the place of
 * `mkdir` with `recursive`, which in Node 24 never ends where a file system has no folders of ours, as /proc.
 *
 * @returns whether it was made
 * @throws any error of the system; what is in the way stays
 */
export const makeFolder = (folder: string, mode?: number): boolean => {
  const make = (): boolean => {
    try {
      mkdirSync(folder, mode);
      return true;
    } catch (cause) {
      if (isFolder(folder)) return false;
      if (codeOf(cause) === 'ENOTDIR') {
        const words = `${folder} cannot be made, because ${fileAbove(folder)} is no folder: name another place`;
        throw Object.assign(new Error(words, { cause }), { code: 'ENOTDIR', syscall: 'mkdir' });
      }
      if (codeOf(cause) !== 'EEXIST') throw cause;
      throw Object.assign(new Error(describeObstacle(folder), { cause }), { code: 'EEXIST', syscall: 'mkdir' });
    }
  };
  const parent = path.dirname(path.resolve(folder));
  try {
    return make();
  } catch (error) {
    if (!['ENOENT', 'ELOOP'].includes(String(codeOf(error))) || parent === path.resolve(folder)) throw error;
    makeFolder(parent, mode);
  }
  try {
    // Even where the parent was there: somebody else may have made it a moment ago.
    return make();
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') throw cause;
    const words = `${folder} cannot be made, because ${parent} takes no folders: name another place`;
    throw Object.assign(new Error(words, { cause }), { code: 'ENOENT', syscall: 'mkdir' });
  }
};
