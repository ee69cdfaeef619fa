import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { DownloadCount, DownloadTotal } from '../../src/contract/records.ts';
import { type CounterLimits, type Counting, openCounting, readTotals } from '../downloads/counting.ts';
import type { Report } from '../downloads/download-marks.ts';
import { counterDatabase, inTransaction, markWith, random } from './counter-database.ts';

/** The counters in a SQLite file. Days are in UTC, such as 2026-05-01. Throws if the file cannot be read or written. */
export interface DownloadsStore {
  /** Counts these reports and returns how many downloads of each were counted. */
  add(day: string, reports: readonly Report[]): number[];
  read(day: string, id: string): DownloadCount;
  /** Removes some of what is no longer kept, as `Counting.tidy` does. Returns whether there may be more. */
  tidy(day: string): boolean;
  /** Throws if a write would fail. */
  probe(): void;
  close(): void;
}

interface OpenStore {
  readonly database: DatabaseSync;
  readonly identity: string | undefined;
  readonly counting: Counting;
}

const identityOf = (file: string): string | undefined => {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats && `${stats.dev}-${stats.ino}`;
};

const openFile = (file: string, limits: CounterLimits): OpenStore => {
  const database = new DatabaseSync(file, { timeout: 1000 });
  try {
    // Deleted data is overwritten with zeros, so that no mark and no key stays in the file after its day.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON;');
    const counting = openCounting(counterDatabase(database), limits, random);
    return { database, identity: identityOf(file), counting };
  } catch (error) {
    database.close();
    throw error;
  }
};

/** The totals in this file (see readTotals); empty if it does not exist. Throws if it cannot be read. */
export const readDownloadTotals = (file: string, day: string, most: number): DownloadTotal[] => {
  if (!existsSync(file)) return [];
  using database = new DatabaseSync(file, { readOnly: true, timeout: 1000 });
  return readTotals(counterDatabase(database), day, most);
};

/** The counters in this file, which is made with the first write. */
export const openDownloadsStore = (file: string, limits: CounterLimits): DownloadsStore => {
  let current: OpenStore | undefined;
  const close = (): void => {
    current?.database.close();
    current = undefined;
  };
  const open = (): OpenStore => {
    // If somebody removed or replaced the file, the counters continue in the file of that name, not in the deleted one.
    if (current !== undefined && identityOf(file) !== current.identity) close();
    current ??= openFile(file, limits);
    return current;
  };
  const write = <T>(database: DatabaseSync, work: () => T): T => {
    try {
      return inTransaction(database, work);
    } catch (error) {
      // The counts in memory are of rows that were rolled back.
      close();
      throw error;
    }
  };

  return {
    add: (day, reports) => {
      const { database, counting } = open();
      return write(database, () => {
        const key = counting.keyFor(day);
        return reports.map((report) => counting.add(day, markWith(key, report)));
      });
    },
    read: (day, id) =>
      existsSync(file) ? open().counting.read(day, id) : { package_id: id, total: 0, last_30_days: 0, daily: [] },
    tidy: (day) => {
      if (!existsSync(file)) return false;
      const { database, counting } = open();
      const isMore = write(database, () => counting.tidy(day));
      // The write-ahead log contains the deleted data until it is reset.
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      return isMore;
    },
    probe: () => {
      const { database } = open();
      database.exec('BEGIN IMMEDIATE');
      try {
        database.exec(`INSERT INTO downloads VALUES ('', '', '', 1)`);
      } finally {
        if (database.isTransaction) database.exec('ROLLBACK');
      }
    },
    close,
  };
};
