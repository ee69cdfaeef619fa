import { hash } from 'node:crypto';
import { lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

/** A kept file as it was written. */
export interface KeptFile {
  /** Bytes. */
  readonly size: number;
  readonly sha256: string;
}

/** A file with this content, as it is written. */
export const describeKept = (content: Uint8Array): KeptFile => ({
  size: content.length,
  sha256: hash('sha256', content),
});

/** Whether a file is as it was written: by its size and, with `verify`, by all of its bytes. */
export const isAsWritten = (file: string, kept: KeptFile, verify: boolean): boolean => {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (!found?.isFile() || found.size !== kept.size) return false;
  return !verify || hash('sha256', readFileSync(file)) === kept.sha256;
};

// What is behind a link is not what was written here, be it the same.
const holds = (file: string, content: Uint8Array): boolean => {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (!found?.isFile() || found.size !== content.length) return false;
  try {
    return readFileSync(file).equals(content);
  } catch {
    // What cannot be read any more is replaced.
    return false;
  }
};

/**
 * Writes a file that is kept. An existing file is replaced rather than modified, because it may be hard-linked into the
 * output, where readers must see whole files. One that has this content stays: comparing it with what is published takes
 * longer than all else of a page, and after an update of this software most pages are as they were.
 */
export const writeKept = (file: string, content: Uint8Array): void => {
  try {
    writeFileSync(file, content, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (holds(file, content)) return;
    rmSync(file);
    writeFileSync(file, content, { flag: 'wx' });
  }
};
