import { spawnSync } from 'node:child_process';
import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

// What the tests keep at once, and room for whoever else uses the file system.
const bytesNeeded = 2 * 2 ** 30;
// Linux has it wherever there is more than one program; elsewhere the tests take the usual folder and more time.
const memory = '/dev/shm';

/** Whether programs that a test writes into a folder can be started: in some containers they cannot. */
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

/** A new folder, in memory if there is a file system there with enough room. */
const makeFolder = (): string => {
  const make = (parent: string) => mkdtempSync(path.join(parent, 'debdex-tests-'));
  if (!hasRoom(memory)) return make(tmpdir());
  const folder = make(memory);
  if (runsPrograms(folder)) return folder;
  rmSync(folder, { recursive: true });
  return make(tmpdir());
};

/**
 * Gives a run of the tests one folder for all that is temporary, which goes when the run ends, and the processes that it
 * starts the compiled code of those before them. What a test writes is flushed again and again, for the sake of people
 * whose machine loses its power; in memory that costs nothing, on a disk it is most of the time that the tests take.
 */
export const setup = (): (() => void) => {
  const folder = makeFolder();
  // PostgreSQL, which refuses to run as root, has to get in.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
  process.env.DEBDEX_TESTS_FOLDER = folder;
  process.env.NODE_COMPILE_CACHE = path.join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'compiled');
  return () => rmSync(folder, { recursive: true, force: true });
};
