import { closeSync, fstatSync, fsyncSync, openSync } from 'node:fs';

/**
 * Whether the error means that the file system cannot flush folders, as is the case for folders shared with a virtual
 * machine.
 */
export const knowsNoFlush = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EINVAL';

/** Flushes one file, or the names in one folder, if the system can do that. */
export const flushFile = (file: string): void => {
  const descriptor = openSync(file, 'r');
  try {
    fsyncSync(descriptor);
  } catch (error) {
    if (!knowsNoFlush(error) || !fstatSync(descriptor).isDirectory()) throw error;
  } finally {
    closeSync(descriptor);
  }
};
