import type { WritableDatabase } from '../../src/catalog/database.ts';
import type { DownloadCount, DownloadTotal } from '../../src/contract/records.ts';
import type { PackageVersion } from '../dependencies.ts';
import { dayBefore, type MarkedReport, type MarkLimits, openMarks } from './download-marks.ts';

/** Limits of the counters, however many clients report. */
export interface CounterLimits extends MarkLimits {
  /** The days, including today, for which daily counts are kept. */
  readonly days: number;
  /**
   * The most daily counts that are kept. Beyond it, a new one adds only to the total of its package, so it displaces no
   * other. If a day begins with too little room for everything it may count, the oldest days become totals.
   */
  readonly counters: number;
}

/** The most daily counts at the beginning of a day, so that there is room for everything the day may count. */
export const countersAtDawn = ({ counters, perDay }: CounterLimits): number =>
  counters - Math.min(perDay, Math.floor(counters / 4));

/** Numbers of rows in a database of counters. Counting them takes a scan. */
export interface Sizes {
  readonly counters: number;
  readonly marks: number;
}

/** The counters in a database. Days are in UTC, such as 2026-05-01. */
export interface Counting {
  /** The current numbers of rows, to be passed on when it is opened again. */
  readonly sizes: Sizes;
  /** The key with which reports of this day are marked. To be called in a transaction. */
  keyFor(day: string): Uint8Array;
  /** Counts a marked report and returns how many of its downloads counted. To be called in a transaction. */
  add(day: string, report: MarkedReport): number;
  read(day: string, id: string): DownloadCount;
  /**
   * Removes the marks of other days. Also adds the counts of the oldest day to the totals, if that day is certainly too
   * old or there is too little room; returns true if it did, because another call may find another such day. To be
   * called in a transaction.
   */
  tidy(day: string): boolean;
}

const tables = `
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
`;

/**
 * The download count of a package: those of its days that are listed, in order, and a total of all days and of what no
 * day lists any more.
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

/**
 * The clock is believed that days are too old only after it has shown this many days with counts, the last of them no
 * later than today.
 */
export const convincingDays = 7;

// The first of the last `convincingDays` days with counts; undefined if there are fewer. A clock that was ahead for a
// few reports has shown fewer days, and none that counts after it is right again, so it cannot delete history.
const firstConvincing = (database: WritableDatabase, today: string): string | undefined => {
  const newestBefore = database.prepare<[string | null]>('SELECT max(day) FROM downloads WHERE day < ?');
  let day = dayBefore(today, -1);
  for (let told = 0; told < convincingDays; told++) {
    const newest = newestBefore.get(day)?.[0];
    if (newest === null || newest === undefined) return undefined;
    day = newest;
  }
  return day;
};

const countRows = (database: WritableDatabase): number =>
  Number(database.prepare('SELECT count(*) FROM downloads').get()?.[0]);

/**
 * Opens the counters of a database, and makes its tables if necessary. `random` returns that many unpredictable bytes.
 * `sizes` are those after the last write; if they are not known, the rows are counted.
 */
export const openCounting = (
  database: WritableDatabase,
  limits: CounterLimits,
  random: (length: number) => Uint8Array,
  sizes?: Sizes,
): Counting => {
  database.exec(tables);
  const marks = openMarks(database, limits, random, sizes?.marks);
  /** The number of daily counts. */
  let counters = sizes?.counters ?? countRows(database);

  const prepareCount = (day: string): ((one: PackageVersion) => void) => {
    const update = database.prepare(
      'UPDATE downloads SET count = count + 1 WHERE day = ? AND package_id = ? AND package_version = ? RETURNING 1',
    );
    const insert = database.prepareWrite(
      'INSERT INTO downloads (day, package_id, package_version, count) VALUES (?, ?, ?, 1)',
    );
    const addBeyond = database.prepareWrite(
      'INSERT INTO downloads_beyond (package_id, count) VALUES (?, 1) ON CONFLICT DO UPDATE SET count = count + 1',
    );
    return ({ package_id: id, package_version: version }) => {
      if (update.get(day, id, version) !== undefined) return;
      if (counters >= limits.counters) {
        addBeyond.run(id);
        return;
      }
      insert.run(day, id, version);
      counters++;
    };
  };

  // The total of the package stays the same. Days are added one at a time, not all at once, because reports are waiting
  // to be counted.
  const fold = (day: string): void => {
    const rows = Number(database.prepare('SELECT count(*) FROM downloads WHERE day = ?').get(day)?.[0]);
    database
      .prepareWrite(`
        INSERT INTO downloads_beyond (package_id, count)
        SELECT package_id, sum(count) FROM downloads WHERE day = ? GROUP BY package_id
        ON CONFLICT DO UPDATE SET count = count + excluded.count
      `)
      .run(day);
    database.prepareWrite('DELETE FROM downloads WHERE day = ?').run(day);
    counters -= rows;
  };

  const isKept = (oldest: string, day: string): boolean => {
    if (counters > countersAtDawn(limits) && oldest < day) return false;
    const last = firstConvincing(database, day);
    return last === undefined || oldest >= dayBefore(last, limits.days - 1);
  };

  return {
    get sizes() {
      return { counters, marks: marks.size };
    },
    keyFor: marks.keyFor,
    add: (day, report) => marks.take(report, prepareCount(day)),
    read: (day, id) => {
      const daily = database
        .prepare<[string, number]>(
          'SELECT day, sum(count) FROM downloads WHERE package_id = ? GROUP BY day ORDER BY day',
        )
        .all(id)
        .map(([day, count]) => ({ day, count }));
      const beyond = database.prepare('SELECT count FROM downloads_beyond WHERE package_id = ?').get(id)?.[0];
      return summariseCounts(id, day, limits.days, daily, Number(beyond ?? 0));
    },
    tidy: (day) => {
      marks.drop(day);
      const oldest = database.prepare<[string | null]>('SELECT min(day) FROM downloads').get()?.[0] ?? undefined;
      if (oldest === undefined || isKept(oldest, day)) return false;
      fold(oldest);
      return true;
    },
  };
};

/**
 * How often packages were downloaded by the end of the previous day, the most downloaded first, at most `most` of them.
 * A day that is over changes no more, so the list is the same all day, once the day has been tidied.
 */
export const readTotals = (database: Pick<WritableDatabase, 'prepare'>, day: string, most: number): DownloadTotal[] => {
  // The days of a package are neighbours in the index, so only packages have to be sorted, not millions of days.
  const rows = database.prepare<[string, number, number]>(`
    SELECT package_id, sum(count) AS total, sum(recent)
    FROM (
      SELECT package_id, sum(count) AS count, sum(iif(day >= ?, count, 0)) AS recent
      FROM downloads WHERE day < ? GROUP BY package_id
      UNION ALL SELECT package_id, count, 0 FROM downloads_beyond
    )
    GROUP BY package_id ORDER BY total DESC, package_id LIMIT ?
  `);
  return rows.all(dayBefore(day, 30), day, most).map(([id, total, recent]) => ({
    package_id: id,
    total,
    last_30_days: recent,
  }));
};
