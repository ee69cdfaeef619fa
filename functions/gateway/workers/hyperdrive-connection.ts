import { databaseTime } from '../store/clock.ts';
import { boundBy, transactPostgres } from '../store/databases.ts';
import { isCurrent, migrate } from '../store/migrations.ts';
import type { Connection } from '../store/open-connection.ts';
import { boundTransaction } from '../store/postgres-session.ts';
import { openHyperdrive } from './open-hyperdrive.ts';

// An index of a large table takes longer than any operation, which its transaction bounds too.
const bringUpToDate = async (url: string): Promise<void> => {
  const unbounded = openHyperdrive(url, false);
  await migrate(unbounded, 'postgres').finally(() => unbounded.destroy());
};

/**
 * Opens the store through Hyperdrive, and brings its tables up to date unless that is done. Throws where the store cannot
 * be reached or is newer than this program.
 */
export const connectHyperdrive = async (url: string, isMigrated: boolean): Promise<Connection> => {
  const database = openHyperdrive(url);
  const close = () => database.destroy();
  try {
    // Whoever finds the tables made waits for nobody who makes them.
    if (!isMigrated && !(await isCurrent(database, 'postgres'))) await bringUpToDate(url);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    during: (wait) => ({
      read: database,
      transact: (work) =>
        transactPostgres(database, wait, async (transaction) => {
          await boundTransaction(transaction);
          return work(transaction);
        }),
      now: () => databaseTime,
      observe: () => {},
      // Its own autovacuum makes room for new rows.
      giveSpaceBack: async () => false,
    }),
    bound: boundBy,
    close,
  };
};
