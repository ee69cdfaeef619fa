import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { DownloadCount, DownloadTotal } from '../../src/contract/records.ts';
import { type CounterLimits, type Counting, openCounting, readTotals } from '../downloads/counting.ts';
import type { Report } from '../downloads/download-marks.ts';
import { counterDatabase, inTransaction, markWith, random } from './counter-database.ts';

/** The counters in a file of SQLite. Days are of UTC, such as 2026-05-01. Throws where it cannot be read or written. */
export interface DownloadsStore {
  /** Counts these reports and returns how many downloads of each were counted. */
  add(day: string, reports: readonly Report[]): number[];
  read(day: string, id: string): DownloadCount;
  /** Removes some of what is not to be kept on this day, as `Counting.tidy` does; whether there may be more. */
  tidy(day: string): boolean;
  /** Throws where a write would fail. */
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
    // What is deleted is overwritten with zeros, so that no mark and no key outlives its day in the file.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON;');
    const counting = openCounting(counterDatabase(database), limits, random);
    return { database, identity: identityOf(file), counting };
  } catch (error) {
    database.close();
    throw error;
  }
};

/** The totals of this file (see readTotals); nothing where there is none. Throws where it cannot be read. */
export const readDownloadTotals = (file: string, day: string, most: number): DownloadTotal[] => {
  if (!existsSync(file)) return [];
  const database = new DatabaseSync(file, { readOnly: true, timeout: 1000 });
  try {
    return readTotals(counterDatabase(database), day, most);
  } finally {
    database.close();
  }
};

/** The counters in this file, which is made when first written to. */
export const openDownloadsStore = (file: string, limits: CounterLimits): DownloadsStore => {
  let current: OpenStore | undefined;
  const close = (): void => {
    current?.database.close();
    current = undefined;
  };
  const open = (): OpenStore => {
    // Whoever removed or replaced the file wants counters in the one of that name, not in one without a name.
    if (current !== undefined && identityOf(file) !== current.identity) close();
    current ??= openFile(file, limits);
    return current;
  };

  return {
    add: (day, reports) => {
      const { database, counting } = open();
      try {
        return inTransaction(database, () => {
          const key = counting.keyFor(day);
          return reports.map((report) => counting.add(day, markWith(key, report)));
        });
      } catch (error) {
        // What was counted on the way did not come to be.
        close();
        throw error;
      }
    },
    read: (day, id) =>
      existsSync(file) ? open().counting.read(day, id) : { package_id: id, total: 0, last_30_days: 0, daily: [] },
    tidy: (day) => {
      if (!existsSync(file)) return false;
      const { database, counting } = open();
      const isMore = inTransaction(database, () => counting.tidy(day));
      // The log of writes holds what is deleted from the file until it begins anew.
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
