import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Flushes one file, or the names in one folder. */
export const flushFile = (file: string): void => {
  const descriptor = openSync(file, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
};
