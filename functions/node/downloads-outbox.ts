import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { type MarkLimits, type Marks, openMarks, type Report } from '../downloads/download-marks.ts';
import { counterDatabase, inTransaction, random, takeMarks } from './counter-database.ts';

/** Limits of an outbox. */
interface OutboxLimits extends MarkLimits {
  /** The most counts that may wait to be sent. */
  readonly unsent: number;
}

/** How often a version was downloaded on a day, in the form in which it is sent. */
interface UnsentCount {
  /** Empty if the count belongs to no listed day. */
  readonly day: string;
  readonly package_id: string;
  readonly package_version: string;
  readonly count: number;
  /** Shows whether another server has counted the same, until the day is over; null if there is no mark. */
  readonly mark: Uint8Array | null;
}

/** Counts that are sent together. A batch whose arrival is uncertain is returned unchanged by the next call. */
export interface Batch {
  readonly sender: string;
  /** One more than the number of this sender's last batch. */
  readonly number: number;
  readonly counts: readonly UnsentCount[];
}

/** Counts on their way to a database that several servers share. */
interface Outbox {
  /**
   * Keeps these reports and returns how many downloads of each were counted. `markOf` makes marks, if they can be made.
   */
  add(day: string, reports: readonly Report[], markOf: MarkOf | undefined): number[];
  /** The counts of a package, by day, that have not been sent yet. */
  read(id: string): Map<string, number>;
  /** The next batch, or the last one if it was not confirmed; undefined if there is nothing to send. */
  next(): Batch | undefined;
  /** Forgets a batch that has arrived. */
  confirm(batch: Batch): void;
  /** Renames the sender of the current batch, because the database takes it for one that it has already received. */
  rename(): void;
  /** How many counts are waiting; where another process has the same file, as of the last look for a batch. */
  readonly size: number;
  /** Destroys the marks of other days. */
  tidy(day: string): void;
  /** Throws if a write would fail. */
  probe(): void;
  close(): void;
}

/** The mark of a network and a version, which is the same on every server that day. */
export type MarkOf = (network: string, id: string, version: string) => Uint8Array;

/** How many counts are sent in a batch. */
const batchSize = 2000;

const tables = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA secure_delete = ON;
  CREATE TABLE IF NOT EXISTS unsent (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    day TEXT NOT NULL,
    package_id TEXT NOT NULL,
    package_version TEXT NOT NULL,
    count INTEGER NOT NULL,
    mark BLOB
  ) STRICT;
  CREATE INDEX IF NOT EXISTS unsent_of_package ON unsent (package_id, day, count);
  -- Who sends, which batch is next, and the last count of it where it was made and not confirmed.
  CREATE TABLE IF NOT EXISTS sender (name TEXT NOT NULL, number INTEGER NOT NULL, last INTEGER) STRICT;
`;

/** The outbox is full: further reports are refused. */
class OutboxFull extends Error {
  override name = 'OutboxFull';
}

/** Takes over what this server counted before it had a shared database. */
const takeOver = (database: DatabaseSync): void => {
  const tablesThere = database
    .prepare("SELECT name FROM sqlite_master WHERE name IN ('downloads', 'downloads_beyond')")
    .all()
    .map(({ name }) => name);
  inTransaction(database, () => {
    if (tablesThere.includes('downloads')) {
      database.exec(`INSERT INTO unsent (day, package_id, package_version, count)
        SELECT day, package_id, package_version, count FROM downloads ORDER BY day; DELETE FROM downloads`);
    }
    if (tablesThere.includes('downloads_beyond')) {
      database.exec(`INSERT INTO unsent (day, package_id, package_version, count)
        SELECT '', package_id, '', count FROM downloads_beyond; DELETE FROM downloads_beyond`);
    }
  });
};

const openFile = (file: string): DatabaseSync => {
  const database = new DatabaseSync(file, { timeout: 1000 });
  try {
    database.exec(tables);
    takeOver(database);
    return database;
  } catch (error) {
    // Opened again for each report.
    database.close();
    throw error;
  }
};

/**
 * The outbox in this file, which is made if it does not exist. Its content outlives the process. Of a client's network
 * only marks are kept, and those only until the end of their day.
 */
export const openOutbox = (file: string, limits: OutboxLimits): Outbox => {
  const database = openFile(file);
  let opened: Marks | undefined;
  const openedMarks = (): Marks => {
    opened ??= openMarks(counterDatabase(database), limits, random);
    return opened;
  };
  const write = <T>(work: (marks: Marks) => T): T => {
    try {
      return inTransaction(database, () => work(openedMarks()));
    } catch (error) {
      // The number of marks in memory includes those that were rolled back.
      opened = undefined;
      throw error;
    }
  };
  let size = Number(database.prepare('SELECT count(*) AS unsent FROM unsent').get()?.unsent);
  const insert = database.prepare(
    'INSERT INTO unsent (day, package_id, package_version, count, mark) VALUES (?, ?, ?, 1, ?)',
  );

  const readSender = () =>
    database.prepare('SELECT name, number, last FROM sender').get() as
      | { name: string; number: number; last: number | null }
      | undefined;
  const renew = () => {
    database.exec('DELETE FROM sender');
    database.prepare('INSERT INTO sender (name, number, last) VALUES (?, 1, NULL)').run(randomUUID());
  };

  /** The current batch. If there is none and counts are waiting, it is made. */
  const seal = () => {
    if (readSender() === undefined) renew();
    const sender = readSender();
    if (sender === undefined || sender.last !== null) return sender;
    const last = database
      .prepare('SELECT max(id) AS last FROM (SELECT id FROM unsent ORDER BY id LIMIT ?)')
      .get(batchSize)?.last;
    if (last === null || last === undefined) return undefined;
    database.prepare('UPDATE sender SET last = ?').run(Number(last));
    return { ...sender, last: Number(last) };
  };

  return {
    get size() {
      return size;
    },
    add: (day, reports, markOf) => {
      const asked = reports.reduce((sum, { downloads }) => sum + downloads.length, 0);
      if (size + asked > limits.unsent) throw new OutboxFull(`${size} counts wait to be sent`);
      const counts = write((marks) =>
        reports.map((report) =>
          takeMarks(marks, day, report, ({ package_id: id, package_version: version }) =>
            insert.run(day, id, version, markOf?.(report.network, id, version) ?? null),
          ),
        ),
      );
      size += counts.reduce((sum, count) => sum + count, 0);
      return counts;
    },
    read: (id) => {
      const rows = database
        .prepare('SELECT day, sum(count) AS count FROM unsent WHERE package_id = ? GROUP BY day')
        .all(id);
      return new Map(rows.map((row) => [String(row.day), Number(row.count)]));
    },
    next: () =>
      inTransaction(database, () => {
        const sender = seal();
        if (sender === undefined) {
          // What this process counted was sent by another that has the same file.
          size = 0;
          return undefined;
        }
        const counts = database
          .prepare('SELECT day, package_id, package_version, count, mark FROM unsent WHERE id <= ? ORDER BY id')
          .all(sender.last as number) as unknown as UnsentCount[];
        size = Math.max(size, counts.length);
        return { sender: sender.name, number: sender.number, counts };
      }),
    confirm: ({ sender, number }) => {
      inTransaction(database, () => {
        const current = readSender();
        // Another process that sends from this file may already have made one.
        if (current === undefined || current.name !== sender || current.number !== number || current.last === null)
          return;
        const { changes } = database.prepare('DELETE FROM unsent WHERE id <= ?').run(current.last);
        database.prepare('UPDATE sender SET number = number + 1, last = NULL').run();
        size -= Number(changes);
      });
    },
    rename: () => inTransaction(database, renew),
    tidy: (day) => {
      write((marks) => {
        marks.drop(day);
        database.prepare('UPDATE unsent SET mark = NULL WHERE mark IS NOT NULL AND day < ?').run(day);
      });
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    },
    probe: () => {
      database.exec('BEGIN IMMEDIATE');
      try {
        insert.run('', '', '', null);
      } finally {
        if (database.isTransaction) database.exec('ROLLBACK');
      }
    },
    close: () => database.close(),
  };
};
