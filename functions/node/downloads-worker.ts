import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

// The counters' database has a thread of its own, so that no read ever waits for its disk.

/** The most counters kept, and the days they are kept for; the oldest days go first. */
export interface CounterLimits {
  readonly counters: number;
  readonly days: number;
  /** How many counters may be added before these two are looked after. */
  readonly interval: number;
}

export interface Counted {
  readonly day: string;
  readonly package_id: string;
  readonly package_version: string;
  readonly count: number;
}
/** What the thread is asked to do; it answers each with a reply of the same id. */
export type DownloadsTask =
  | { readonly kind: 'add'; readonly counted: readonly Counted[] }
  | { readonly kind: 'probe' }
  | { readonly kind: 'close' };
export interface DownloadsReply {
  readonly id: number;
  readonly error?: string;
}

const { file, limits } = workerData as { file: string; limits: CounterLimits };
let database: DatabaseSync | undefined;
let identity: string | undefined;

const identityOf = (): string | undefined => {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats && `${stats.dev}-${stats.ino}`;
};

const openDatabase = (): DatabaseSync => {
  // Whoever removed or replaced the file wants counters in the one of that name, not in one without a name.
  if (database !== undefined && identityOf() !== identity) {
    database.close();
    database = undefined;
  }
  if (database === undefined) {
    const opened = new DatabaseSync(file, { timeout: 1000 });
    try {
      createTable(opened);
    } catch (error) {
      opened.close();
      throw error;
    }
    identity = identityOf();
    database = opened;
  }
  return database;
};

const createTable = (opened: DatabaseSync): void =>
  opened.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS downloads (
      day TEXT NOT NULL,
      package_id TEXT NOT NULL,
      package_version TEXT NOT NULL,
      count INTEGER NOT NULL,
      PRIMARY KEY (day, package_id, package_version)
    ) STRICT, WITHOUT ROWID;
  `);

const inTransaction = (opened: DatabaseSync, work: () => void): void => {
  opened.exec('BEGIN IMMEDIATE');
  try {
    work();
    opened.exec('COMMIT');
  } catch (error) {
    if (opened.isTransaction) opened.exec('ROLLBACK');
    throw error;
  }
};

const dropOldest = (opened: DatabaseSync): void => {
  const limit = new Date(Date.now() - limits.days * 86_400_000).toISOString().slice(0, 10);
  opened.prepare('DELETE FROM downloads WHERE day < ?').run(limit);
  const { total } = opened.prepare('SELECT count(*) AS total FROM downloads').get() as { total: number };
  if (total <= limits.counters) return;
  opened
    .prepare(
      'DELETE FROM downloads WHERE (day, package_id, package_version) IN (SELECT day, package_id, package_version FROM downloads ORDER BY day, count LIMIT ?)',
    )
    .run(total - limits.counters);
};

let added = 0;
const add = (counted: readonly Counted[]): void => {
  const opened = openDatabase();
  inTransaction(opened, () => {
    const insert = opened.prepare(`
      INSERT INTO downloads (day, package_id, package_version, count) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET count = count + excluded.count
    `);
    for (const { day, package_id, package_version, count } of counted)
      insert.run(day, package_id, package_version, count);
    if (added === 0 || added > limits.interval) {
      dropOldest(opened);
      added = 0;
    }
    added += counted.length;
  });
};

// A write that is undone: a full disk or a file that may only be read shows here.
const probe = (): void => {
  const opened = openDatabase();
  opened.exec('BEGIN IMMEDIATE');
  try {
    opened.exec(`INSERT INTO downloads VALUES ('', '', '', 1)`);
  } finally {
    if (opened.isTransaction) opened.exec('ROLLBACK');
  }
};

parentPort?.on('message', (request: DownloadsTask & { readonly id: number }) => {
  let reply: DownloadsReply = { id: request.id };
  try {
    if (request.kind === 'add') add(request.counted);
    else if (request.kind === 'probe') probe();
    else database?.close();
  } catch (error) {
    reply = { id: request.id, error: String(error) };
  }
  parentPort?.postMessage(reply);
  if (request.kind === 'close') parentPort?.close();
});
