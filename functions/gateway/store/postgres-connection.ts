import { databaseTime, timeOf } from './clock.ts';
import { boundBy, transactPostgres } from './databases.ts';
import { isCurrent, migrate } from './migrations.ts';
import type { Connection } from './open-connection.ts';

/**
 * Opens the store in a PostgreSQL database, and brings its tables up to date. `clock` stands in for the database's, for
 * tests. Throws where the store cannot be reached or is newer than this program.
 */
export const connectPostgres = async (
  { url, pool }: { readonly url: string; readonly pool: number },
  clock: (() => number) | undefined,
): Promise<Connection> => {
  // Its driver is loaded where it is wanted.
  const { isPooled, openPostgres } = await import('./postgres.ts');
  // Writes that all wait for a lock or a slow disk must not take the connections that reads need.
  const forReading = Math.floor(pool / 3);
  const way = (await isPooled(url)) ? 'pooled' : 'direct';
  const write = openPostgres(url, pool - forReading, way);
  const read = forReading > 0 ? openPostgres(url, forReading, way) : write;
  // Of a large table an index may take minutes, in which every operation is answered that the store is not available.
  const bringUpToDate = async () => {
    const unbounded = openPostgres(url, 1, 'unbounded');
    await migrate(unbounded, 'postgres').finally(() => unbounded.destroy());
  };
  const close = async () => {
    await write.destroy();
    if (read !== write) await read.destroy();
  };
  try {
    if (!(await isCurrent(write, 'postgres'))) await bringUpToDate();
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
