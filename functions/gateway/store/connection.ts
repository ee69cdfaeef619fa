import { createGate } from '../../http/gate.ts';
import { timeOf } from './clock.ts';
import type { StoreLocation } from './credential-store.ts';
import { beginWait, inTurn, transactSqlite, untilUnlocked } from './databases.ts';
import { isCurrent, migrate } from './migrations.ts';
import type { Connection } from './open-connection.ts';
import { connectPostgres } from './postgres-connection.ts';
import { openSqlite } from './sqlite.ts';
import { startClock } from './started-clock.ts';

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

const connectSqlite = async (file: string, given: (() => number) | undefined): Promise<Connection> => {
  const connections = openSqlite(file);
  const { read, write } = connections;
  const turns = createGate(1);
  try {
    if (!(await isCurrent(read, 'sqlite'))) await migrate(write, 'sqlite');
    const steady = given ? { now: given, observe: () => {} } : await startClock(read);
    return {
      during: (wait) => ({
        read,
        transact: (work, isStrangers = false) =>
          inTurn(turns, wait, isStrangers, () => transactSqlite(write, wait, work)),
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
