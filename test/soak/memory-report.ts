import { writeSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { threadId } from 'node:worker_threads';

/** What one thread of a process holds, in bytes: a line of what `memory-report.ts` says. */
export interface ThreadMemory {
  readonly thread: number;
  /** How many seconds ago the process began. */
  readonly age: number;
  /** Of the heap of JavaScript, right after a collection: nothing of it is garbage. */
  readonly heap: number;
  /** Of buffers outside the heap. */
  readonly buffers: number;
}

// Loaded before a server, in each of its threads, which then says on its fourth descriptor how much memory it has. What
// the engine would collect some day is collected first: a thread with little to do may leave its garbage for hours, and
// that looks as if it grew.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const report = (): void => {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  const told: ThreadMemory = { thread: threadId, age: process.uptime(), heap: heapUsed, buffers: external };
  writeSync(3, `${JSON.stringify(told)}\n`);
};

// Often enough for a short soak, and so seldom that the collections are few among the server's own.
const [first, usual] = [2000, 20_000];
setTimeout(() => {
  report();
  setInterval(report, usual).unref();
}, first).unref();
