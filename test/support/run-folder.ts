import { spawnSync } from 'node:child_process';
import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { removeUnused } from './unused-files.ts';

// What the tests need at once, with some room for other users of the file system.
const bytesNeeded = 2 * 2 ** 30;
// Linux almost always has it. On other systems the tests use the usual folder and take longer.
const memory = '/dev/shm';

/** Whether programs in a folder can be started; in some containers they cannot. */
const runsPrograms = (folder: string): boolean => {
  const program = path.join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
  const { status } = spawnSync(program);
  rmSync(program);
  return status === 0;
};

const hasRoom = (folder: string): boolean => {
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= bytesNeeded;
  } catch {
    return false;
  }
};

/** A new folder; in memory if there is such a file system with enough room. */
const makeFolder = (): string => {
  const make = (parent: string) => mkdtempSync(path.join(parent, 'debdex-tests-'));
  if (!hasRoom(memory)) return make(tmpdir());
  const folder = make(memory);
  if (runsPrograms(folder)) return folder;
  rmSync(folder, { recursive: true });
  return make(tmpdir());
};

/**
 * Gives a run of the tests one folder for all temporary files, which is removed at its end, and a compile cache that
 * its processes share. Tests write files that are flushed to disk again and again, to survive power failures. In memory
 * that costs nothing; on a disk it would take most of the time.
 */
export const setup = (): (() => void) => {
  const folder = makeFolder();
  // PostgreSQL does not run as root, and has to enter.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
  process.env.DEBDEX_TESTS_FOLDER = folder;
  const compiled = path.join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'compiled');
  // The runner gives test files another address in each run, and what was compiled of them is never found again.
  removeUnused(compiled, new Date());
  process.env.NODE_COMPILE_CACHE = compiled;
  return () => rmSync(folder, { recursive: true, force: true });
};
