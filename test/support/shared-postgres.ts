import { createServer } from 'node:net';
import type { TestProject } from 'vitest/node';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The port that answers with the address of a new, empty database. */
    readonly databases: number;
  }
}

/**
 * One PostgreSQL server for all tests that only need a database. It starts when the first one asks, and answers every
 * connection with the address of a new database. Tests that stop the server or read its files start another.
 */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  let started: Promise<PostgresServer> | undefined;
  const desk = createServer(async (socket) => {
    started ??= startPostgres();
    try {
      socket.end(await (await started).createDatabase());
    } catch (error) {
      socket.end(`no database: ${error}`);
    }
  });
  await new Promise<void>((resolve) => desk.listen(0, '127.0.0.1', resolve));
  const address = desk.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  project.provide('databases', address.port);
  return async () => {
    desk.close();
    await (await started)?.remove();
  };
};
