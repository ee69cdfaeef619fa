import { fstatSync, fsyncSync } from 'node:fs';
import { openFile } from './open-file.ts';

/**
 * Whether the error means that the file system cannot flush folders, as is the case for folders shared with a virtual
 * machine.
 */
export const knowsNoFlush = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EINVAL';

/** Flushes one file, or the names in one folder, if the system can do that. */
export const flushFile = (file: string): void => {
  using opened = openFile(file, 'r');
  try {
    fsyncSync(opened.descriptor);
  } catch (error) {
    if (!knowsNoFlush(error) || !fstatSync(opened.descriptor).isDirectory()) throw error;
  }
};
