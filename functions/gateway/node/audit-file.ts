import { type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makePrivateFile } from '../store/private-file.ts';

/** A log file with its predecessors: `<file>.1` is the newest of those. */
export interface AuditFile {
  /** Appends a line, which must end with a line break. Resolves when it is written, and rejects if that failed. */
  write(line: string): Promise<void>;
}

/**
 * The size in bytes at which a new file is begun, and how many old ones are kept. This limits what one signed-in client
 * can write.
 */
const usual = { bytes: 16 * 2 ** 20, kept: 4 };

/** How many lines may wait for a disk that does not respond. */
const mostWaiting = 1_000;

/**
 * Opens the audit log. The file is made with its first line, readable by its owner alone. Several processes may write
 * to it: each line is one write to the end of whichever file has that name at the moment.
 */
export const openAuditFile = (file: string, { bytes, kept }: typeof usual = usual): AuditFile => {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const append = async (line: string) => {
    await mkdir(dirname(file), { recursive: true });
    const isFull = async () => {
      const { size } = await stat(file).catch(() => ({ size: 0 }));
      return size > 0 && size + Buffer.byteLength(line) > bytes;
    };
    if (await isFull()) {
      await alone(`${file}.turning`, async () => {
        // Another process may have done it since.
        if (await isFull()) await turnOver(file, kept);
      });
    }
    makePrivateFile(file);
    // It may have been moved away since.
    await using handle = await open(file, 'a+', 0o600);
    await handle.appendFile(`${(await isCutShort(handle)) ? '\n' : ''}${line}`);
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

/** How long, in milliseconds, the last line must stay as it is to count as cut short. */
const settled = 50;

// Of the last line a full disk may have taken a part, to which the next one must not be joined. One that another process
// is writing looks the same for a moment.
const isCutShort = async (handle: FileHandle) => {
  for (let before = 0; ; await sleep(settled)) {
    const { size } = await handle.stat();
    if (size === 0) return false;
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    if (buffer.toString() === '\n') return false;
    if (size === before) return true;
    before = size;
  }
};

/** How old, in milliseconds, a mark must be to count as left by a process that was killed. */
const abandoned = 10_000;

// Does the work unless the file `mark` says that another process is doing it.
const alone = async (mark: string, work: () => Promise<void>) => {
  try {
    await (await open(mark, 'wx', 0o600)).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const { mtimeMs } = await stat(mark).catch(() => ({ mtimeMs: Date.now() }));
    if (Math.abs(Date.now() - mtimeMs) > abandoned) await rm(mark, { force: true });
    return;
  }
  try {
    await work();
  } finally {
    await rm(mark, { force: true });
  }
};

// Not in two processes at once: one would move its file over the one that the other has just moved.
const turnOver = async (file: string, kept: number) => {
  for (let number = kept - 1; number >= 0; number--) {
    await rename(number === 0 ? file : `${file}.${number}`, `${file}.${number + 1}`).catch((error) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
};
