import { accessSync, constants, existsSync, lstatSync, readFileSync, type Stats, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { findEntry } from './find-entry.ts';

// In the form of an error of the system, the path last: it is left out where a reason is published.
const blocked = (code: string, what: string, file: string): Error =>
  Object.assign(new Error(`${code}: ${what}, open '${file}'`), { code, syscall: 'open', path: file });

const irregular = (file: string, found: Stats): Error => {
  const [code, what] = found.isDirectory() ? ['EISDIR', 'a folder'] : ['EINVAL', 'no regular file'];
  return blocked(code, `${what} is in the place of the file ${path.basename(file)}`, file);
};

// Of a link to a disk that is not there, in the place of a file or of its folder, the system says as of no file at all.
const isLeadingNowhere = (file: string): boolean =>
  lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true && !existsSync(file);

/** Returns an error of the system, or what is to be thrown in its place: what is behind a link is not missing. */
const explain = (error: unknown, file: string): unknown => {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return error;
  const link = [path.dirname(file), file].find(isLeadingNowhere);
  return link === undefined ? error : blocked('EINVAL', `${path.basename(link)} is a link that leads nowhere`, file);
};

/**
 * Throws, in the form of an error of the system, if there is anything but a file at this place: to open a pipe would wait
 * for ever for somebody who writes into it.
 */
export const assertRegular = (file: string): void => {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) throw irregular(file, found);
};

/**
 * Whether there is a file. Throws as `assertRegular` does, and any error of the system but that it is missing: below what
 * is no folder, or behind a link that leads nowhere, nothing is missing, because it cannot be put there or may be elsewhere.
 */
export const hasRegularFile = (file: string): boolean => {
  try {
    // With throwIfNoEntry, Node keeps ENOTDIR to itself too.
    const found = statSync(file);
    if (!found.isFile()) throw irregular(file, found);
    return true;
  } catch (error) {
    const explained = explain(error, file);
    if ((explained as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw explained;
  }
};

/** Reads a whole file. Throws as `hasRegularFile` does, and if the file is missing. */
export const readRegularFile = async (file: string): Promise<Buffer> => {
  const found = await stat(file).catch((error: unknown) => {
    throw explain(error, file);
  });
  if (!found.isFile()) throw irregular(file, found);
  return readFile(file);
};

/** The same at once, and undefined if the file is missing, also because something else is in the place of its folder. */
export const readIfThere = (file: string): Buffer | undefined => {
  try {
    assertRegular(file);
    return readFileSync(file);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
};

const isImmutable = (file: string): boolean => {
  try {
    accessSync(file, constants.W_OK);
    return false;
  } catch (error) {
    // Where only its owner or mode forbid to write into it, that is EACCES, and a new file takes its place all the same.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/**
 * Why a new file cannot take the place of this one although its folder takes new files, and what to do; undefined if it
 * can, or nothing is there.
 */
export const findHold = (file: string): string | undefined => {
  // Of a place below a file, lstat alone throws that it is below one.
  const found = findEntry(file) && lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (isImmutable(file)) return 'is immutable: take that from it (chattr -i)';
  const folder = statSync(path.dirname(file));
  const user = process.geteuid?.();
  const isSticky = (folder.mode & 0o1000) !== 0;
  if (!isSticky || user === undefined || [0, found.uid, folder.uid].includes(user)) return undefined;
  return 'belongs to another user, in a folder where only owners replace files: give it to the user of builds (chown)';
};

/** Throws, in the form of an error of the system, if a new file cannot take the place of this one. */
export const assertReplaceable = (file: string): void => {
  const hold = findHold(file);
  if (hold !== undefined) throw blocked('EPERM', `${path.basename(file)} ${hold}`, file);
};
