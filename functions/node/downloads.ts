import { Worker } from 'node:worker_threads';
import { type DownloadCounters, Unavailable } from '../dependencies.ts';
import type { Counted, DownloadsReply, DownloadsTask } from './downloads-worker.ts';

/** How long counts are gathered before they are written, in milliseconds. */
const gatherFor = 2000;
/** The most counters gathered; while there are so many, the ones not among them are not counted. */
const mostGathered = 20_000;

/** Download counters in a SQLite file, written in batches by a thread of their own. */
export interface DownloadsFile extends DownloadCounters {
  /** Writes what was gathered, and ends the thread. */
  close(): Promise<void>;
}

/** Counters in this file, which is made when first needed. `now` says which day it is. */
export const createDownloads = (file: string, now: () => Date): DownloadsFile => {
  let worker: Worker | undefined;
  let lastId = 0;
  let gathered = new Map<string, Counted>();
  let timer: NodeJS.Timeout | undefined;
  let failure: Error | undefined;
  const waiting = new Map<number, { resolve: () => void; reject: (error: Error) => void }>();

  const startWorker = (): Worker => {
    const started = new Worker(new URL('./downloads-worker.ts', import.meta.url), { workerData: { file } });
    started.unref();
    started.on('message', ({ id, error }: DownloadsReply) => {
      const waiter = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) waiter?.resolve();
      else waiter?.reject(new Unavailable(error));
    });
    const stop = (error: Error) => {
      if (worker === started) worker = undefined;
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    };
    started.on('error', (error) => stop(error as Error));
    started.on('exit', () => stop(new Unavailable('The thread of the download counters ended')));
    return started;
  };

  const ask = (task: DownloadsTask) =>
    new Promise<void>((resolve, reject) => {
      worker ??= startWorker();
      const id = ++lastId;
      waiting.set(id, { resolve, reject });
      worker.postMessage({ ...task, id });
    });

  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    if (gathered.size === 0) return;
    const counted = [...gathered.values()];
    gathered = new Map();
    try {
      await ask({ kind: 'add', counted });
      failure = undefined;
    } catch (error) {
      failure = error as Error;
    }
  };

  const probe = async (): Promise<boolean> => {
    try {
      await ask({ kind: 'probe' });
      failure = undefined;
      return true;
    } catch (error) {
      failure = error as Error;
      return false;
    }
  };

  return {
    probe,
    add: async (downloads) => {
      if (failure !== undefined && !(await probe())) throw failure;
      const day = now().toISOString().slice(0, 10);
      for (const { package_id, package_version } of downloads) {
        const key = JSON.stringify([day, package_id, package_version]);
        const count = gathered.get(key)?.count ?? 0;
        if (count === 0 && gathered.size >= mostGathered) continue;
        gathered.set(key, { day, package_id, package_version, count: count + 1 });
      }
      timer ??= setTimeout(flush, gatherFor).unref();
    },
    close: async () => {
      // While it writes what is left, the thread keeps the process alive.
      worker?.ref();
      await flush();
      if (worker === undefined) return;
      await ask({ kind: 'close' }).catch(() => undefined);
    },
  };
};
