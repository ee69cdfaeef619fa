import { createHash } from 'node:crypto';
import { closeSync, constants, createReadStream, openSync, rmSync } from 'node:fs';
import { link, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../../src/contract/json-text.ts';

// A backup is lines of JSON: a head, one line for each row, and an end with their number and the SHA-256 of all that
// stands before it. It is the same for SQLite and PostgreSQL.

/** A backup that cannot be written or restored; the message says why and what to do. */
export class BackupRefused extends Error {
  readonly code = 'backup_refused';
}

/** The connection to PostgreSQL broke in the very commit: all of the restore was done, or nothing. */
export class RestoreUnconfirmed extends Error {
  readonly code = 'restore_unconfirmed';
}

const format = 'debdex-gateway-backup';

const headSchema = z.strictObject({
  format: z.literal(format),
  /** Version of the tables. */
  version: z.int().positive(),
  /** When it was made, by the store's clock, in milliseconds since 1970. */
  made: z.int(),
});
const bytesSchema = z.strictObject({ base64: z.base64() });
const rowSchema = z.strictObject({
  table: z.string(),
  row: z.record(z.string(), z.union([z.string(), z.number(), z.null(), bytesSchema])),
});
const endSchema = z.strictObject({ rows: z.int().nonnegative(), sha256: z.hex() });

export type BackupHead = Omit<z.infer<typeof headSchema>, 'format'>;
export interface BackupRow {
  readonly table: string;
  readonly row: Readonly<Record<string, string | number | Uint8Array | null>>;
}

/** Whether the system says that there is nothing at a place, or a file where a folder would be. */
const isNowhere = ({ code }: NodeJS.ErrnoException): boolean => code === 'ENOENT' || code === 'ENOTDIR';

/**
 * Writes a backup to a file that does not exist yet, readable by its owner alone: whole or, where anything fails or a
 * signal stops it, not at all. Resolves to the number of rows. Throws BackupRefused where the file exists, or its folder
 * does not.
 */
export const writeBackupFile = async (file: string, write: (sink: BackupSink) => Promise<void>): Promise<number> => {
  const partial = `${file}.partial`;
  const refuse = (name: string, why: string) => (error: NodeJS.ErrnoException) => {
    if (isNowhere(error)) throw new BackupRefused(`There is no folder ${dirname(file)}: make it, or name another one`);
    throw error.code === 'EEXIST' ? new BackupRefused(`${name} exists${why}`) : error;
  };
  let isOurs = false;
  const removeOurs = () => {
    if (isOurs) rmSync(partial, { force: true });
  };
  const stopListening = callWhenStopped(removeOurs);
  try {
    try {
      // Signals are heard between turns: in none of them is the file there and not known to be ours.
      closeSync(openSync(partial, 'wx', 0o600));
      isOurs = true;
    } catch (error) {
      refuse(partial, ': another backup is being written, or one was cut short; delete it then')(error as Error);
    }
    // Never made anew: a signal may have removed it while another thread was about to open it.
    await using handle = await open(partial, constants.O_WRONLY | constants.O_APPEND);
    const hash = createHash('sha256');
    let rows = 0;
    let waiting = '';
    const add = async (value: object) => {
      const line = `${JSON.stringify(value)}\n`;
      hash.update(line);
      waiting += line;
      if (waiting.length > 2 ** 16) await flush();
    };
    const flush = async () => {
      await handle.appendFile(waiting);
      waiting = '';
    };
    await write({
      begin: (head) => add({ format, ...head }),
      add: async ({ table, row }) => {
        rows++;
        await add({
          table,
          row: Object.fromEntries(Object.entries(row).map(([name, value]) => [name, encode(value)])),
        });
      },
    });
    await add({ rows, sha256: hash.copy().digest('hex') });
    await flush();
    await handle.sync();
    // Unlike a rename it never replaces what is there.
    await link(partial, file).catch(refuse(file, '; a backup never replaces a file'));
    await syncFolder(dirname(file));
    return rows;
  } finally {
    removeOurs();
    stopListening();
  }
};

/** Calls the function where a signal ends this process, which it still does. Returns what ends that. */
const callWhenStopped = (call: () => void): (() => void) => {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const stopListening = () => {
    for (const signal of signals) process.off(signal, leave);
  };
  const leave = (signal: NodeJS.Signals) => {
    call();
    stopListening();
    process.kill(process.pid, signal);
  };
  for (const signal of signals) process.on(signal, leave);
  return stopListening;
};

export interface BackupSink {
  begin(head: BackupHead): Promise<void>;
  add(row: BackupRow): Promise<void>;
}

const encode = (value: string | number | Uint8Array | null) =>
  value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value;

const syncFolder = async (folder: string) => {
  await using handle = await open(folder, 'r');
  await handle.sync();
};

/**
 * Reads a backup; the rows come as they are read. Whether it is whole is known at its end only: until the last row has
 * come nothing of it may be kept. Throws BackupRefused where it is not there or no backup, was cut short or altered.
 */
export const readBackupFile = async (
  file: string,
): Promise<{ readonly head: BackupHead; readonly rows: AsyncGenerator<BackupRow> }> => {
  const lines = readLines(file);
  const hash = createHash('sha256');
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new BackupRefused(`${file} is cut short: its end is missing`);
    return { line: `${value}\n`, value: parseJson(value) };
  };
  const first = await next().catch((error) => {
    if (isNowhere(error)) throw new BackupRefused(`There is no backup ${file}: name one that is there`);
    throw error.code === 'EISDIR' ? new BackupRefused(`${file} is a folder: name the backup in it`) : error;
  });
  const head = headSchema.safeParse(first.value);
  if (!head.success) throw new BackupRefused(`${file} is no backup of a gateway`);
  hash.update(first.line);
  const rows = async function* () {
    for (let count = 0; ; count++) {
      const { line, value } = await next();
      const row = rowSchema.safeParse(value);
      if (row.success) {
        hash.update(line);
        yield decode(row.data);
        continue;
      }
      const end = endSchema.safeParse(value);
      if (!end.success || end.data.rows !== count || end.data.sha256 !== hash.digest('hex')) {
        throw new BackupRefused(`${file} was altered or damaged`);
      }
      if (!(await lines.next()).done) throw new BackupRefused(`${file} goes on after its end`);
      return;
    }
  };
  const { format: _, ...rest } = head.data;
  return { head: rest, rows: rows() };
};

// Node's readline takes two more characters for the end of a line, which JSON writes as they are (Unicode, U+2028 and
// U+2029): a provider may use them in a subject.
async function* readLines(file: string) {
  let rest = '';
  for await (const text of createReadStream(file, 'utf8')) {
    const [first = '', ...more] = String(text).split('\n');
    rest += first;
    for (const next of more) {
      yield rest.replace(/\r$/, '');
      rest = next;
    }
  }
  if (rest !== '') yield rest;
}

const decode = ({ table, row }: z.infer<typeof rowSchema>): BackupRow => ({
  table,
  row: Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value !== null && typeof value === 'object' ? new Uint8Array(Buffer.from(value.base64, 'base64')) : value,
    ]),
  ),
});
