import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Another build holds the state folder. */
export class LockedError extends Error {
  override readonly name = 'LockedError';
}

/**
 * Keeps other builds out of a state folder until the returned function is called. It is a lock of the operating system
 * on an open file, taken through SQLite, so a crash does not leave it behind.
 *
 * @throws LockedError where another build holds it
 */
export const lockState = (state: string): (() => void) => {
  mkdirSync(state, { recursive: true });
  const database = new DatabaseSync(path.join(state, 'build.lock'));
  try {
    database.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
  } catch (cause) {
    database.close();
    throw new LockedError(`another build is using ${state}: wait for it to end, or name another --state`, { cause });
  }
  return () => database.close();
};
