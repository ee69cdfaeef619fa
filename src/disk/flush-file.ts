import { closeSync, fstatSync, fsyncSync, openSync } from 'node:fs';

/** Whether a file system said of a folder that it knows no flush of one, as those do that a virtual machine shares. */
export const knowsNoFlush = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EINVAL';

/** Flushes one file, or the names in one folder, where that can be. */
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
