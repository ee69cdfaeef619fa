import type { WritableDatabase } from '../../src/catalog/database.ts';
import type { DownloadCount, DownloadTotal } from '../../src/contract/records.ts';
import type { PackageVersion } from '../dependencies.ts';
import { dayBefore, type MarkedReport, type MarkLimits, openMarks } from './download-marks.ts';

/** What bounds the counters, however many report. */
export interface CounterLimits extends MarkLimits {
  /** Days, today among them, of which daily counts are kept. */
  readonly days: number;
  /**
   * Daily counts kept in all: what is new beyond them adds to its package's total alone, and takes no other's place. Where a day
   * begins with too little room for all that it may count, the oldest days go into totals.
   */
  readonly counters: number;
}

/** How many daily counts there may be when a day begins, so that it has room for all that it may count. */
export const countersAtDawn = ({ counters, perDay }: CounterLimits): number =>
  counters - Math.min(perDay, Math.floor(counters / 4));

/** Rows of a database that counts. Finding out takes a scan. */
export interface Sizes {
  readonly counters: number;
  readonly marks: number;
}

/** The counters of a database. Days are of UTC, such as 2026-05-01. */
export interface Counting {
  /** How many rows there are, for who opens it again. */
  readonly sizes: Sizes;
  /** The key with which reports of this day are marked, to be called in a transaction. */
  keyFor(day: string): Uint8Array;
  /** Counts a marked report, in a transaction; returns how many of its downloads were counted. */
  add(day: string, report: MarkedReport): number;
  read(day: string, id: string): DownloadCount;
  /**
   * Removes, in a transaction, the marks of other days; and adds the counts of the oldest day to what no day tells, where
   * that day is too old for certain or there is too little room. Whether it did the latter: then another call may too.
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
 * Opens the counters of a database, whose tables are made where they are not there. `random` makes so many bytes that nobody
 * can guess. `sizes` are those that it had when it was last written to; where they are not known they are counted.
 */
export const openCounting = (
  database: WritableDatabase,
  limits: CounterLimits,
  random: (length: number) => Uint8Array,
  sizes?: Sizes,
): Counting => {
  database.exec(tables);
  const marks = openMarks(database, limits, random, sizes?.marks);
  /** Daily counts there are. */
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

  // The total of a package loses nothing by it. A day at a time, and not all that has gathered: others wait to be counted.
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
 * How often packages were downloaded by the end of the day before this one, the most downloaded first and no more than
 * `most`: a day that is over counts no more, so a list is the same all day, once the day has been tidied.
 */
export const readTotals = (database: Pick<WritableDatabase, 'prepare'>, day: string, most: number): DownloadTotal[] => {
  // The days of a package lie beside each other in the index, and only packages are sorted then, not millions of days.
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
