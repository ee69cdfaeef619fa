import { createServer } from 'node:net';
import type { TestProject } from 'vitest/node';
import { startNewTestedObjects, type TestedObjects } from './tested-objects.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The port that answers with the address of a new, empty object. */
    readonly objects: number;
  }
}

/** One runtime of Durable Objects for all tests. It starts when the first test needs it. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  let started: Promise<TestedObjects> | undefined;
  const desk = createServer(async (socket) => {
    started ??= startNewTestedObjects();
    try {
      socket.end((await started).address);
    } catch (error) {
      socket.end(`no objects: ${error}`);
    }
  });
  await new Promise<void>((resolve) => desk.listen(0, '127.0.0.1', resolve));
  const address = desk.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  project.provide('objects', address.port);
  return async () => {
    desk.close();
    await (await started)?.kill();
  };
};
