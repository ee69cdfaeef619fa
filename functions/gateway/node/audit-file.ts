import { appendFile, mkdir, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makePrivateFile } from '../store/private-file.ts';

/** A file that lines are added to, and the ones before it: `<file>.1` is the newest of those. */
export interface AuditFile {
  /** Adds a line, which ends with a line break; resolves when it is written. Rejects where that failed. */
  write(line: string): Promise<void>;
}

/** Bytes after which a new file is begun, and how many old ones are kept: what one signed-in client can write is bounded. */
const usual = { bytes: 16 * 2 ** 20, kept: 4 };

/** Lines that may wait for a disk that does not answer. */
const mostWaiting = 1_000;

/**
 * Opens the audit log at a path, which is made at the first line, for its owner alone. Several processes may write to it:
 * each line is one write to the end of whatever has that name at the moment.
 */
export const openAuditFile = (file: string, { bytes, kept }: typeof usual = usual): AuditFile => {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const append = async (line: string) => {
    await mkdir(dirname(file), { recursive: true });
    const { size } = await stat(file).catch(() => ({ size: 0 }));
    if (size > 0 && size + Buffer.byteLength(line) > bytes) await turnOver(file, kept);
    makePrivateFile(file);
    await appendFile(file, line);
  };
  return {
    write: (line) => {
      if (waiting >= mostWaiting) return Promise.reject(new Error('the audit log cannot keep up'));
      waiting++;
      const written = last
        .catch(() => {})
        .then(() => append(line))
        .finally(() => waiting--);
      last = written.catch(() => {});
      return written;
    },
  };
};

const turnOver = async (file: string, kept: number) => {
  for (let number = kept - 1; number >= 0; number--) {
    await rename(number === 0 ? file : `${file}.${number}`, `${file}.${number + 1}`).catch((error) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
};
