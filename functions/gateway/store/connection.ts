import { sql } from 'kysely';
import { createSteadyClock, databaseTime, timeOf } from './clock.ts';
import type { StoreLocation } from './credential-store.ts';
import {
  beginWait,
  boundBy,
  type Databases,
  transactPostgres,
  transactSqlite,
  untilUnlocked,
  type Wait,
} from './databases.ts';
import { migrate } from './migrations.ts';
import { openSqlite, type SqliteConnections } from './sqlite.ts';

/** An open store with its tables up to date. */
export interface Connection {
  /** The store for one operation. */
  during(wait: Wait): Databases;
  /** Resolves as the work with those does, no later than the wait ends. */
  bound<Result>(wait: Wait, work: Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/**
 * Opens the store. `clock` stands in for the store's own, for tests. Throws where the store cannot be reached, is newer
 * than this program, or, on SQLite, where this machine's clock cannot be right (ClockBehind).
 */
export const connect = async (location: StoreLocation, clock?: () => number): Promise<Connection> => {
  if (location.kind === 'postgres') return connectPostgres(location, clock);
  const wait = beginWait();
  try {
    return await untilUnlocked(wait, () => connectSqlite(location.file, clock));
  } finally {
    wait.end();
  }
};

const connectPostgres = async (
  { url, pool }: { readonly url: string; readonly pool: number },
  clock: (() => number) | undefined,
): Promise<Connection> => {
  // Its driver is loaded where it is wanted.
  const { openPostgres } = await import('./postgres.ts');
  // Writes that all wait for a lock or a slow disk must not take the connections that reads need.
  const forReading = Math.floor(pool / 3);
  const write = openPostgres(url, pool - forReading);
  const read = forReading > 0 ? openPostgres(url, forReading) : write;
  const close = async () => {
    await write.destroy();
    if (read !== write) await read.destroy();
  };
  try {
    await migrate(write, 'postgres');
  } catch (error) {
    await close();
    throw error;
  }
  return {
    during: (wait) => ({
      read,
      transact: (work) => transactPostgres(write, wait, work),
      now: () => (clock ? timeOf(clock) : databaseTime),
      observe: () => {},
      // Its own autovacuum makes room for new rows.
      giveSpaceBack: async () => false,
    }),
    bound: boundBy,
    close,
  };
};

const connectSqlite = async (file: string, given: (() => number) | undefined): Promise<Connection> => {
  const connections = openSqlite(file);
  const { read, write } = connections;
  try {
    await migrate(write, 'sqlite');
    const steady = given ? { now: given, observe: () => {} } : await startClock(connections);
    return {
      during: (wait) => ({
        read,
        transact: (work) => transactSqlite(write, wait, work),
        now: () => timeOf(steady.now),
        observe: steady.observe,
        // With the connection in hand, so that it is not done in the middle of somebody's transaction.
        giveSpaceBack: () => write.connection().execute(async () => connections.giveBack(), { signal: wait.signal }),
      }),
      // Reading takes no time, and writing looks to its wait by itself.
      bound: (_, work) => work,
      close: async () => connections.close(),
    };
  } catch (error) {
    connections.close();
    throw error;
  }
};

/** A machine's clock that is more than a day behind the newest entry of the store. */
class ClockBehind extends Error {
  readonly code = 'clock_behind';
}

const day = 86_400_000;

// While no process runs, nobody notices that the clock is set back; the newest entry tells.
const startClock = async ({ read }: SqliteConnections) => {
  const clock = createSteadyClock();
  const newest = await read
    .selectFrom('gateway_credential_sets')
    .select('created_at')
    .orderBy(sql`rowid`, 'desc')
    .limit(1)
    .executeTakeFirst();
  const behind = (newest?.created_at ?? 0) - clock.now();
  if (behind > day) {
    throw new ClockBehind(
      `this machine's clock is ${Math.round(behind / day)} days behind the newest entry of the credential store: set ` +
        'the clock; if it is right, it was wrong before, and a backup restored ends the sign-ins made then',
    );
  }
  if (newest) clock.observe(newest.created_at);
  return clock;
};
