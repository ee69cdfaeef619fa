import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { DownloadCount, DownloadTotal } from '../../src/contract/records.ts';
import { type CounterLimits, convincingDays, countersAtDawn, summariseCounts } from '../downloads/counting.ts';
import { dayBefore } from '../downloads/download-marks.ts';
import { asVerifyFull } from '../postgres-address.ts';
import type { Batch, MarkOf } from './downloads-outbox.ts';

/** Counters in a PostgreSQL database that several servers share. Days are in UTC, such as 2026-05-01. */
interface SharedDownloads {
  /**
   * Adds a batch, once however often it is sent. False if this sender has sent later batches; then nothing is added.
   */
  take(day: string, batch: Batch): Promise<boolean>;
  /** A function that makes marks of this day. */
  markOf(day: string): Promise<MarkOf>;
  /** The counts of a package by day. What no day lists any more is under the empty day. */
  read(id: string): Promise<Map<string, number>>;
  /**
   * Destroys the marks of earlier days. Also adds the counts of the oldest day to the totals, if that day is certainly
   * too old or there is too little room. Returns true if it did, or if another server was doing it, because another
   * call may find another such day.
   */
  tidy(day: string): Promise<boolean>;
  close(): Promise<void>;
}

/** In milliseconds. A database that does not answer in time counts as unavailable. */
const bounds = { connectionTimeoutMillis: 3000, query_timeout: 5000 };

/** Bounds that the database enforces. Each transaction sets them, as a pooler such as PgBouncer takes none from a connection. */
const begin = `BEGIN; SET LOCAL statement_timeout = 4000; SET LOCAL lock_timeout = 3000;
  SET LOCAL idle_in_transaction_session_timeout = 10000`;

// Any constant, as long as every server uses it and nothing else in the database does.
const advisoryLock = 7_310_263_924_017;
/** The advisory lock of the server that is adding a day to the totals. */
export const foldingLock = advisoryLock + 1;
// How long to wait, in milliseconds, if another server has that lock.
const foldingWait = 200;

/** The tables, version by version. What has been released must not change. */
const migrations = [
  `CREATE TABLE downloads (
     day text COLLATE "C" NOT NULL,
     package_id text COLLATE "C" NOT NULL,
     package_version text COLLATE "C" NOT NULL,
     count bigint NOT NULL,
     PRIMARY KEY (day, package_id, package_version)
   );
   CREATE INDEX downloads_of_package ON downloads (package_id);
   CREATE TABLE downloads_beyond (package_id text COLLATE "C" PRIMARY KEY, count bigint NOT NULL);
   CREATE TABLE downloads_mark (mark bytea PRIMARY KEY);
   CREATE TABLE downloads_marking (day text NOT NULL, key bytea NOT NULL);
   CREATE TABLE downloads_sender (name uuid PRIMARY KEY, number bigint NOT NULL, day text NOT NULL);`,
];

const openPool = (url: string, most: number): pg.Pool => {
  const connectionString = asVerifyFull(url);
  const pool = new pg.Pool({ connectionString, max: most, application_name: 'debdex-downloads', ...bounds });
  // Without a listener, the error of a connection that breaks would end the process. The query that needs it fails
  // anyway.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
};

const transact = async <T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
  const client = await pool.connect();
  try {
    await client.query(begin);
    const result = await work(client);
    await client.query('COMMIT');
    client.release();
    return result;
  } catch (error) {
    // It is unknown what became of the transaction, so its connection is not used again.
    client.release(true);
    throw error;
  }
};

/** Brings the tables up to date. Throws if they belong to a newer version of this program. */
const migrate = (pool: pg.Pool): Promise<void> =>
  transact(pool, async (client) => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [advisoryLock]);
    await client.query('CREATE TABLE IF NOT EXISTS downloads_schema (version integer NOT NULL)');
    const { rows } = await client.query<{ version: number }>('SELECT version FROM downloads_schema');
    const version = rows[0]?.version ?? 0;
    if (version > migrations.length)
      throw new Error(`the download counters are at version ${version}, this program knows ${migrations.length}`);
    for (const migration of migrations.slice(version)) await client.query(migration);
    if (version === migrations.length) return;
    await client.query('DELETE FROM downloads_schema');
    await client.query('INSERT INTO downloads_schema (version) VALUES ($1)', [migrations.length]);
  });

/**
 * The key for the marks of a day. If the stored one is of the day after, it is used and no other is made, because the
 * clocks of two servers may differ.
 */
const keyFor = (pool: pg.Pool, day: string): Promise<{ day: string; key: Uint8Array }> =>
  transact(pool, async (client) => {
    await client.query('LOCK TABLE downloads_marking IN EXCLUSIVE MODE');
    const { rows } = await client.query<{ day: string; key: Uint8Array }>('SELECT day, key FROM downloads_marking');
    const [known] = rows;
    if (known && (known.day === day || known.day === dayBefore(day, -1))) return known;
    const made = { day, key: randomBytes(32) };
    // Not with DELETE, which would leave them in the files of the table. The key first, as "take" reads it before it
    // writes marks.
    await client.query('TRUNCATE downloads_marking, downloads_mark');
    await client.query('INSERT INTO downloads_marking (day, key) VALUES ($1, $2)', [made.day, made.key]);
    return made;
  });

const addCounts = `
  WITH sent AS (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bytea[])
      AS sent (day, package_id, package_version, count, mark)
  ), marked AS (
    INSERT INTO downloads_mark (mark) SELECT mark FROM sent WHERE mark IS NOT NULL ON CONFLICT DO NOTHING RETURNING mark
  ), summed AS (
    SELECT day, package_id, package_version, sum(count)::bigint AS count
    FROM sent WHERE mark IS NULL OR mark IN (SELECT mark FROM marked)
    GROUP BY day, package_id, package_version
  )`;

// In the order of their keys, so that two servers that add the same counts cannot deadlock. If the most daily counts
// are kept already, new ones only add to the totals.
const addDaily = `${addCounts}, told AS (
    SELECT summed.*, EXISTS (
      SELECT FROM downloads AS known WHERE known.day = summed.day
        AND known.package_id = summed.package_id AND known.package_version = summed.package_version) AS known
    FROM summed
  ), ranked AS (
    SELECT told.*, row_number() OVER (PARTITION BY known ORDER BY day, package_id, package_version) AS place FROM told
  ), beyond AS (
    INSERT INTO downloads_beyond (package_id, count)
    SELECT package_id, sum(count) FROM ranked WHERE NOT known AND place > $6 GROUP BY package_id ORDER BY package_id
    ON CONFLICT (package_id) DO UPDATE SET count = downloads_beyond.count + excluded.count
  )
  INSERT INTO downloads (day, package_id, package_version, count)
  SELECT day, package_id, package_version, count FROM ranked WHERE known OR place <= $6
  ORDER BY day, package_id, package_version
  ON CONFLICT (day, package_id, package_version) DO UPDATE SET count = downloads.count + excluded.count
  RETURNING xmax = 0 AS is_new`;

const addTotals = `
  INSERT INTO downloads_beyond (package_id, count)
  SELECT package_id, sum(count) FROM unnest($1::text[], $2::bigint[]) AS sent (package_id, count)
  GROUP BY package_id ORDER BY package_id
  ON CONFLICT (package_id) DO UPDATE SET count = downloads_beyond.count + excluded.count`;

/** How many daily counts one statement adds to the totals: it has a few seconds. */
const foldedAtOnce = 50_000;

const foldSome = `
  WITH taken AS (
    SELECT package_id, package_version FROM downloads WHERE day = $1 LIMIT ${foldedAtOnce}
  ), old AS (
    DELETE FROM downloads USING taken WHERE downloads.day = $1
      AND downloads.package_id = taken.package_id AND downloads.package_version = taken.package_version
    RETURNING downloads.package_id, downloads.count
  ), added AS (
    INSERT INTO downloads_beyond (package_id, count)
    SELECT package_id, sum(count) FROM old GROUP BY package_id ORDER BY package_id
    ON CONFLICT (package_id) DO UPDATE SET count = downloads_beyond.count + excluded.count
  )
  SELECT count(*) AS rows FROM old`;

/**
 * How often packages were downloaded by the end of the previous day, as `readDownloadTotals` reads it from a file.
 * Throws if the database does not answer.
 */
export const readSharedTotals = async (url: string, day: string, most: number): Promise<DownloadTotal[]> => {
  const pool = openPool(url, 1);
  try {
    await migrate(pool);
    const { rows } = await pool.query<Record<keyof DownloadTotal, string>>(
      `SELECT package_id, sum(count) AS total, sum(recent) AS last_30_days FROM (
         SELECT package_id, count, CASE WHEN day >= $1 THEN count ELSE 0 END AS recent FROM downloads WHERE day < $2
         UNION ALL SELECT package_id, count, 0 FROM downloads_beyond
       ) AS counted GROUP BY package_id ORDER BY total DESC, package_id COLLATE "C" LIMIT $3`,
      [dayBefore(day, 30), day, most],
    );
    return rows.map(({ package_id, total, last_30_days }) => ({
      package_id,
      total: Number(total),
      last_30_days: Number(last_30_days),
    }));
  } finally {
    await pool.end();
  }
};

/** The counters in this database. Its tables are made or brought up to date with the first request. */
export const openSharedDownloads = (url: string, limits: CounterLimits): SharedDownloads => {
  const pool = openPool(url, 2);
  let migrated: Promise<void> | undefined;
  let marking: { readonly day: string; readonly key: Uint8Array } | undefined;
  // The number of daily counts, as far as this server knows. It is counted again each day.
  let counters: number | undefined;
  const countRows = async (): Promise<number> =>
    Number((await pool.query<{ rows: string }>('SELECT count(*) AS rows FROM downloads')).rows[0]?.rows);
  const ready = (): Promise<void> => {
    migrated ??= migrate(pool).catch((error: unknown) => {
      migrated = undefined;
      throw error;
    });
    return migrated;
  };

  /**
   * The first of the last `convincingDays` days with counts, none of them after today; undefined if there are fewer.
   */
  const firstConvincing = async (client: pg.PoolClient, today: string): Promise<string | undefined> => {
    let day = dayBefore(today, -1);
    for (let told = 0; told < convincingDays; told++) {
      const { rows } = await client.query<{ day: string | null }>(
        'SELECT max(day) AS day FROM downloads WHERE day < $1',
        [day],
      );
      const newest = rows[0]?.day;
      if (newest === null || newest === undefined) return undefined;
      day = newest;
    }
    return day;
  };

  /** The oldest day with counts, if it is no longer to be kept. */
  const oldestToFold = async (client: pg.PoolClient, day: string): Promise<string | undefined> => {
    const { rows } = await client.query<{ oldest: string | null; counted: string }>(
      'SELECT min(day) AS oldest, count(*) AS counted FROM downloads',
    );
    const oldest = rows[0]?.oldest ?? undefined;
    if (oldest === undefined) return undefined;
    if (Number(rows[0]?.counted) > countersAtDawn(limits) && oldest < day) return oldest;
    const last = await firstConvincing(client, day);
    return last !== undefined && oldest < dayBefore(last, limits.days - 1) ? oldest : undefined;
  };

  return {
    take: async (day, { sender, number, counts }) => {
      await ready();
      counters ??= await countRows();
      return transact(pool, async (client) => {
        const { rowCount } = await client.query(
          `INSERT INTO downloads_sender (name, number, day) VALUES ($1, $2, $3)
           ON CONFLICT (name) DO UPDATE SET number = excluded.number, day = excluded.day
           WHERE downloads_sender.number = excluded.number - 1`,
          [sender, number, day],
        );
        if (rowCount === 0) {
          const { rows } = await client.query<{ number: string }>(
            'SELECT number FROM downloads_sender WHERE name = $1',
            [sender],
          );
          return Number(rows[0]?.number) === number;
        }
        // Until the end of this transaction the key stays as it is.
        const { rows: inForce } = await client.query<{ key: Buffer }>('SELECT key FROM downloads_marking');
        const isMarkedByIt = inForce.some(({ key }) => marking !== undefined && key.equals(marking.key));
        const daily = counts.filter((one) => one.day !== '');
        const columns = [
          daily.map((one) => one.day),
          daily.map((one) => one.package_id),
          daily.map((one) => one.package_version),
          daily.map((one) => one.count),
          // Marks of a day that is over are useless, because its key is destroyed. Another server may have noticed first
          // that it is.
          daily.map((one) => (one.day >= day && isMarkedByIt ? one.mark : null)),
          Math.max(0, limits.counters - (counters ?? 0)),
        ];
        if (daily.length > 0) {
          const { rows } = await client.query<{ is_new: boolean }>(addDaily, columns);
          counters = (counters ?? 0) + rows.filter(({ is_new: isNew }) => isNew).length;
        }
        const totals = counts.filter((one) => one.day === '');
        if (totals.length > 0)
          await client.query(addTotals, [totals.map((one) => one.package_id), totals.map((one) => one.count)]);
        return true;
      });
    },
    markOf: async (day) => {
      await ready();
      if (marking?.day !== day && marking?.day !== dayBefore(day, -1)) marking = await keyFor(pool, day);
      const { key } = marking as { key: Uint8Array };
      return (network, id, version) =>
        createHmac('sha256', key)
          .update(JSON.stringify([network, id, version]))
          .digest()
          .subarray(0, 16);
    },
    read: async (id) => {
      await ready();
      const { rows } = await pool.query<{ day: string; count: string }>(
        `SELECT day, sum(count) AS count FROM downloads WHERE package_id = $1 GROUP BY day
         UNION ALL SELECT '', count FROM downloads_beyond WHERE package_id = $1`,
        [id],
      );
      return new Map(rows.map(({ day, count }) => [day, Number(count)]));
    },
    tidy: async (day) => {
      await ready();
      await keyFor(pool, day);
      const isMore = await transact(pool, async (client) => {
        // Only one server does this at a time; another that counted the same rows would add one day too many. The
        // database does not wait for the lock, because adding a long day takes longer than the lock timeout.
        const { rows: locked } = await client.query<{ ours: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS ours', [
          foldingLock,
        ]);
        if (!locked[0]?.ours) return undefined;
        // A sender that was silent for so long will not repeat its old batches.
        await client.query('DELETE FROM downloads_sender WHERE day < $1', [dayBefore(day, limits.days)]);
        const oldest = await oldestToFold(client, day);
        if (oldest === undefined) return false;
        let folded: number;
        do {
          const { rows } = await client.query<{ rows: string }>(foldSome, [oldest]);
          folded = Number(rows[0]?.rows);
        } while (folded > 0);
        return true;
      });
      // An immediate second call would find the other server still at work.
      if (isMore === undefined) await sleep(foldingWait);
      counters = undefined;
      return isMore ?? true;
    },
    close: () => pool.end(),
  };
};

/** The download count of a package, from the counts in the database and those still to be sent. */
export const composeCount = (
  id: string,
  day: string,
  limits: Pick<CounterLimits, 'days'>,
  ...counted: readonly ReadonlyMap<string, number>[]
): DownloadCount => {
  const days = new Map<string, number>();
  for (const counts of counted) for (const [day, count] of counts) days.set(day, (days.get(day) ?? 0) + count);
  const beyond = days.get('') ?? 0;
  days.delete('');
  const daily = [...days].map(([day, count]) => ({ day, count })).sort((a, b) => (a.day < b.day ? -1 : 1));
  return summariseCounts(id, day, limits.days, daily, beyond);
};
