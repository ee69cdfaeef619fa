import { closeSync, lstatSync, openSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { makeFolder } from '../disk/make-folder.ts';
import { assertRegular } from '../disk/regular-file.ts';
import { CatalogFile, resultCode } from './node-sqlite.ts';

/** Another process holds the folder. The message says since when and, if known, which one. */
export class LockedError extends Error {
  override readonly name = 'LockedError';
}

const holderSchema = z.object({
  pid: z.number().int().positive(),
  host: z.string(),
  since: z.iso.datetime(),
});

/** Whether this process of the same machine is running. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** Describes the holder of a lock. The file may be left from an earlier process that never removed it. */
const describeHolder = (file: string): string => {
  try {
    const { pid, host, since } = holderSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
    if (host !== os.hostname()) return `process ${pid} on ${host}, since ${since}`;
    if (isAlive(pid)) return `process ${pid}, since ${since}`;
  } catch {
    // The lock has just been taken, and its holder is about to write the file.
  }
  return 'a process that has just begun';
};

/**
 * For so many milliseconds it is tried again: of two that take it in the same moment each is in the way of the other, and
 * without another try neither would have it. Whoever only looks whether it is held has it for a moment too.
 */
const patience = 200;

// Result codes of SQLite (sqlite.org/rescode.html).
const busy = 5;
const full = 13;
const cannotOpen = 14;
const notADatabase = 26;

/** The error of the system for a full disk, which SQLite keeps to itself. */
const sayFull = (file: string, cause: unknown): Error =>
  Object.assign(new Error(`ENOSPC: no space left on device, lock '${file}'`, { cause }), {
    ...{ code: 'ENOSPC', syscall: 'lock', path: file },
  });

/**
 * Takes the lock. The lock file is empty. If a power failure left anything else in it, nobody can hold the lock,
 * because SQLite cannot open such a file. It is truncated, not replaced: a process that has the old file open would not
 * be kept out by a new one.
 */
const openLocked = (file: string): CatalogFile => {
  for (let isRepaired = false; ; isRepaired = true) {
    let database: CatalogFile | undefined;
    try {
      database = CatalogFile.open(file);
      database.exec(`PRAGMA busy_timeout = ${patience}; BEGIN EXCLUSIVE`);
      return database;
    } catch (error) {
      database?.close();
      // SQLite does not say why: the folder is another user's, the disk can only be read or has no inodes left. The
      // system does.
      if (resultCode(error) === cannotOpen) closeSync(openSync(file, 'a'));
      if (resultCode(error) === full) throw sayFull(file, error);
      if (resultCode(error) !== notADatabase || isRepaired) throw error;
      truncateSync(file);
    }
  }
};

const lockName = 'build.lock';
const holderName = 'build.lock.json';

const lockFolder = (folder: string, describe: (holder: string) => string): (() => void) => {
  makeFolder(folder);
  const holderFile = path.join(folder, holderName);
  for (const file of [path.join(folder, lockName), holderFile]) assertRegular(file);
  let database: CatalogFile | undefined;
  try {
    database = openLocked(path.join(folder, lockName));
    writeFileSync(
      holderFile,
      `${JSON.stringify({ pid: process.pid, host: os.hostname(), since: new Date().toISOString() })}\n`,
    );
  } catch (cause) {
    database?.close();
    if (resultCode(cause) !== busy) throw cause;
    throw new LockedError(describe(describeHolder(holderFile)), { cause });
  }
  const held = database;
  return () => held.close();
};

/**
 * The lock file of a folder, as the system numbers it; undefined if there is none. Whoever holds another one, which
 * somebody removed, keeps nobody out any more.
 */
export const identifyLock = (folder: string): string | undefined => {
  const found = statSync(path.join(folder, lockName), { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
};

/**
 * Keeps other builds out of a state folder until the returned function is called. It is a lock of the operating system
 * on an open file, taken through SQLite. It ends with its process, so a dead process keeps nobody out.
 *
 * @throws LockedError if another process holds it
 */
export const lockState = (state: string): (() => void) =>
  lockFolder(
    state,
    (holder) => `another build is using ${state} (${holder}): wait for it to end, or name another --state`,
  );

const isLink = (file: string): boolean => {
  try {
    return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch {
    // Most likely it would lie below a file, which is told where its folder is made.
    return false;
  }
};

// Nothing below a published folder is written through a link, because the file that it leads to would be truncated.
const lockPublished = (folder: string, describe: (holder: string) => string): (() => void) => {
  for (const one of [folder, path.join(folder, lockName), path.join(folder, holderName)]) if (isLink(one)) rmSync(one);
  return lockFolder(folder, describe);
};

/**
 * The same for an output folder, to which builds with other state folders could write.
 *
 * @throws LockedError if another process holds it
 */
export const lockOutput = (folder: string, out: string): (() => void) =>
  lockPublished(
    folder,
    (holder) => `another build is publishing into ${out} (${holder}): wait for it to end, or name another --out`,
  );

/**
 * The same for a folder that a mirror updates.
 *
 * @throws LockedError if another process holds it
 */
export const lockMirror = (folder: string, mirror: string): (() => void) =>
  lockPublished(
    folder,
    (holder) =>
      `another mirror is bringing ${mirror} up to date (${holder}): wait for it to end, or name another folder`,
  );

/**
 * The same for the folder into which a replica takes a publication.
 *
 * @throws LockedError if another process holds it
 */
export const lockReplica = (folder: string): (() => void) =>
  lockFolder(
    folder,
    (holder) => `another replica is using ${folder} (${holder}): give each replica a --state folder of its own`,
  );

/**
 * The same for the folder into which pages and programs are bundled.
 *
 * @throws LockedError if another process holds it
 */
export const lockBundles = (folder: string): (() => void) =>
  lockFolder(folder, (holder) => `something is being bundled into ${folder} already (${holder}): wait for it to end`);
