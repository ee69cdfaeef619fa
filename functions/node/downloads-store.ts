import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { DownloadCount, DownloadTotal } from '../../src/contract/records.ts';
import type { PackageVersion } from '../dependencies.ts';
import { dayBefore, type MarkLimits, type Marks, openMarks } from './download-marks.ts';

/** What one client reported at a time. */
export interface Report {
  /** The network of the client, of which nothing but marks is kept. */
  readonly network: string;
  readonly downloads: readonly PackageVersion[];
}

/** What bounds the store, however many report. */
export interface CounterLimits extends MarkLimits {
  /** Days, today among them, of which daily counts are kept. */
  readonly days: number;
  /** Daily counts kept in all: what is new beyond them adds to its package's total alone, and takes no other's place. */
  readonly counters: number;
}

/** The counters in a file of SQLite. Days are of UTC, such as 2026-05-01. Throws where it cannot be read or written. */
export interface DownloadsStore {
  /** Counts these reports and returns how many downloads of each were counted. */
  add(day: string, reports: readonly Report[]): number[];
  read(day: string, id: string): DownloadCount;
  /** Removes what is not to be kept on this day: marks of other days, and daily counts that are too old for certain. */
  tidy(day: string): void;
  /** Throws where a write would fail. */
  probe(): void;
  close(): void;
}

interface OpenStore {
  readonly database: DatabaseSync;
  readonly identity: string | undefined;
  readonly marks: Marks;
  /** Daily counts there are. */
  counters: number;
}

const inTransaction = <T>(database: DatabaseSync, work: () => T): T => {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
};

const identityOf = (file: string): string | undefined => {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats && `${stats.dev}-${stats.ino}`;
};

const countRows = (database: DatabaseSync): number =>
  Number(database.prepare('SELECT count(*) AS counters FROM downloads').get()?.counters);

const openFile = (file: string, limits: CounterLimits): OpenStore => {
  const database = new DatabaseSync(file, { timeout: 1000 });
  try {
    // What is deleted is overwritten with zeros, so that no mark and no key outlives its day in the file.
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA secure_delete = ON;
      CREATE TABLE IF NOT EXISTS downloads (
        day TEXT NOT NULL,
        package_id TEXT NOT NULL,
        package_version TEXT NOT NULL,
        count INTEGER NOT NULL,
        PRIMARY KEY (day, package_id, package_version)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS downloads_of_package ON downloads (package_id, day, count);
      -- What was counted and is told by no day, or no longer.
      CREATE TABLE IF NOT EXISTS downloads_beyond (
        package_id TEXT PRIMARY KEY,
        count INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
    `);
    const marks = openMarks(database, limits);
    return { database, identity: identityOf(file), marks, counters: countRows(database) };
  } catch (error) {
    database.close();
    throw error;
  }
};

/**
 * What is told of a package: of its days, in order, those that are told, and in the total all of them and what no day tells.
 */
export const summariseCounts = (
  id: string,
  day: string,
  days: number,
  daily: readonly { readonly day: string; readonly count: number }[],
  beyond: number,
): DownloadCount => {
  const from = (first: string) => daily.filter((counted) => counted.day >= first && counted.day <= day);
  const sum = (counted: typeof daily) => counted.reduce((all, { count }) => all + count, 0);
  return {
    package_id: id,
    total: sum(daily) + beyond,
    last_30_days: sum(from(dayBefore(day, 29))),
    daily: [...from(dayBefore(day, days - 1))],
  };
};

/** So many days with counts, the last of them no later than today, the clock must have told to be believed that others are too old. */
export const convincingDays = 7;

// The first of these days; undefined where there are fewer. A clock that was ahead for a few reports has told fewer, and
// none that counts once it is right again, so it takes no history along.
const firstConvincing = ({ database }: OpenStore, today: string): string | undefined => {
  const newestBefore = database.prepare('SELECT max(day) AS day FROM downloads WHERE day < ?');
  let day = dayBefore(today, -1);
  for (let told = 0; told < convincingDays; told++) {
    const newest = newestBefore.get(day)?.day;
    if (newest === null || newest === undefined) return undefined;
    day = String(newest);
  }
  return day;
};

// The total of a package loses nothing by it.
const foldBefore = (store: OpenStore, first: string): void => {
  store.database
    .prepare(`
      INSERT INTO downloads_beyond (package_id, count)
      SELECT package_id, sum(count) FROM downloads WHERE day < ? GROUP BY package_id
      ON CONFLICT DO UPDATE SET count = count + excluded.count
    `)
    .run(first);
  store.counters -= Number(store.database.prepare('DELETE FROM downloads WHERE day < ?').run(first).changes);
};

const prepareCount = (store: OpenStore, day: string, most: number): ((one: PackageVersion) => void) => {
  const { database } = store;
  const update = database.prepare(
    'UPDATE downloads SET count = count + 1 WHERE day = ? AND package_id = ? AND package_version = ?',
  );
  const insert = database.prepare(
    'INSERT INTO downloads (day, package_id, package_version, count) VALUES (?, ?, ?, 1)',
  );
  const addBeyond = database.prepare(
    'INSERT INTO downloads_beyond (package_id, count) VALUES (?, 1) ON CONFLICT DO UPDATE SET count = count + 1',
  );
  return ({ package_id: id, package_version: version }) => {
    if (update.run(day, id, version).changes > 0) return;
    if (store.counters >= most) {
      addBeyond.run(id);
      return;
    }
    insert.run(day, id, version);
    store.counters++;
  };
};

/**
 * How often packages were downloaded by the end of the day before this one, the most downloaded first and no more than
 * `most`: a day that is over counts no more, so a list is the same all day. Nothing where there is no such file. Throws
 * where it cannot be read.
 */
export const readDownloadTotals = (file: string, day: string, most: number): DownloadTotal[] => {
  if (!existsSync(file)) return [];
  const database = new DatabaseSync(file, { readOnly: true, timeout: 1000 });
  try {
    const rows = database.prepare(`
      SELECT package_id, sum(count) AS total, sum(recent) AS last_30_days
      FROM (
        SELECT package_id, count, iif(day >= ?, count, 0) AS recent FROM downloads WHERE day < ?
        UNION ALL SELECT package_id, count, 0 FROM downloads_beyond
      )
      GROUP BY package_id ORDER BY total DESC, package_id LIMIT ?
    `);
    return rows.all(dayBefore(day, 30), day, most).map((row) => ({
      package_id: String(row.package_id),
      total: Number(row.total),
      last_30_days: Number(row.last_30_days),
    }));
  } finally {
    database.close();
  }
};

/** The counters in this file, which is made when first written to. */
export const openDownloadsStore = (file: string, limits: CounterLimits): DownloadsStore => {
  const firstDay = (day: string) => dayBefore(day, limits.days - 1);
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

  const tidy = (day: string): void => {
    if (!existsSync(file)) return;
    const store = open();
    inTransaction(store.database, () => {
      const last = firstConvincing(store, day);
      if (last !== undefined) foldBefore(store, firstDay(last));
      store.marks.drop(day);
    });
    // The log of writes holds what is deleted from the file until it begins anew.
    store.database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  };

  return {
    add: (day, reports) => {
      const store = open();
      const { database, marks } = store;
      try {
        return inTransaction(database, () => {
          const count = prepareCount(store, day, limits.counters);
          return reports.map(({ network, downloads }) => marks.take(day, network, downloads, count));
        });
      } catch (error) {
        // What was counted on the way did not come to be.
        close();
        throw error;
      }
    },
    read: (day, id) => {
      if (!existsSync(file)) return { package_id: id, total: 0, last_30_days: 0, daily: [] };
      const { database } = open();
      const daily = database
        .prepare('SELECT day, sum(count) AS count FROM downloads WHERE package_id = ? GROUP BY day ORDER BY day')
        .all(id)
        .map((row) => ({ day: String(row.day), count: Number(row.count) }));
      const beyond = database.prepare('SELECT count FROM downloads_beyond WHERE package_id = ?').get(id)?.count;
      return summariseCounts(id, day, limits.days, daily, Number(beyond ?? 0));
    },
    tidy,
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
