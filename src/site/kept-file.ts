import { hash } from 'node:crypto';
import { lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

/** How a kept file was when it was written. */
export interface KeptFile {
  /** Bytes. */
  readonly size: number;
  readonly sha256: string;
}

export const describeKept = (content: Uint8Array): KeptFile => ({
  size: content.length,
  sha256: hash('sha256', content),
});

/** Whether a file is as it was written: by its size, and with `verify` by all of its bytes. */
export const isAsWritten = (file: string, kept: KeptFile, verify: boolean): boolean => {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (!found?.isFile() || found.size !== kept.size) return false;
  return !verify || hash('sha256', readFileSync(file)) === kept.sha256;
};

/**
 * Writes a file that is kept. It may be published under a second name, so a file that stands there is not written into:
 * whoever reads it there reads it whole.
 */
export const writeKept = (file: string, content: Uint8Array): void => {
  try {
    writeFileSync(file, content, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    rmSync(file);
    writeFileSync(file, content, { flag: 'wx' });
  }
};
