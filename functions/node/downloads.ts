import { Worker } from 'node:worker_threads';
import { type DownloadCounters, Unavailable } from '../dependencies.ts';
import type { Counted, CounterLimits, DownloadsReply, DownloadsTask } from './downloads-worker.ts';

const usualLimits = {
  /** How long counts are gathered before they are written, in milliseconds. */
  gatherFor: 2000,
  /** The most counters gathered; while there are so many, the ones not among them are not counted. */
  gathered: 20_000,
  /** How long the thread may take for one task, in milliseconds, before the store counts as away. */
  taskTimeout: 1500,
  counters: 1_000_000,
  days: 400,
  interval: 50_000,
};
type DownloadLimits = typeof usualLimits & CounterLimits;

/** Download counters in a SQLite file, written in batches by a thread of their own. */
export interface DownloadsFile extends DownloadCounters {
  /** Writes what was gathered, and ends the thread. Takes no longer than two tasks may. */
  close(): Promise<void>;
}

/** What the store itself said it did not do, so that it can be asked again without being done twice. */
class Refused extends Unavailable {
  override name = 'Refused';
}

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Counters in this file, which is made when first needed. `now` says which day it is. */
export const createDownloads = (
  file: string,
  now: () => Date,
  otherLimits: Partial<DownloadLimits> = {},
): DownloadsFile => {
  const limits = { ...usualLimits, ...otherLimits };
  let worker: Worker | undefined;
  let lastId = 0;
  const gathered = new Map<string, Counted>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let probing: Promise<boolean> | undefined;
  let failure: Error | undefined;
  const waiting = new Map<number, Waiting>();

  const startWorker = (): Worker => {
    const started = new Worker(new URL('./downloads-worker.ts', import.meta.url), { workerData: { file, limits } });
    started.unref();
    started.on('message', ({ id, error }: DownloadsReply) => {
      const waiter = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) waiter?.resolve();
      else waiter?.reject(new Refused(error));
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

  const ask = async (task: DownloadsTask): Promise<void> => {
    worker ??= startWorker();
    const id = ++lastId;
    let timeout: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        const late = () => reject(new Unavailable('The download counters take too long'));
        timeout = setTimeout(late, limits.taskTimeout);
        worker?.postMessage({ ...task, id });
      });
    } finally {
      clearTimeout(timeout);
      waiting.delete(id);
    }
  };

  const gather = (counted: Counted): void => {
    const key = JSON.stringify([counted.day, counted.package_id, counted.package_version]);
    const count = gathered.get(key)?.count ?? 0;
    if (count === 0 && gathered.size >= limits.gathered) return;
    gathered.set(key, { ...counted, count: count + counted.count });
  };

  const write = async (): Promise<void> => {
    const batch = [...gathered.values()];
    gathered.clear();
    try {
      await ask({ kind: 'add', counted: batch });
      failure = undefined;
    } catch (error) {
      failure = error as Error;
      if (error instanceof Refused) for (const counted of batch) gather(counted);
      schedule();
    }
  };

  // One batch at a time: behind a store that is stuck no second one waits.
  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    if (gathered.size > 0) writing ??= write().finally(() => (writing = undefined));
    await writing;
  };

  const schedule = (): void => {
    timer ??= setTimeout(flush, limits.gatherFor).unref();
  };

  const askProbe = async (): Promise<boolean> => {
    try {
      await ask({ kind: 'probe' });
      failure = undefined;
      return true;
    } catch (error) {
      failure = error as Error;
      return false;
    }
  };

  // However many wait for the answer, the store is asked once.
  const probe = (): Promise<boolean> => {
    probing ??= askProbe().finally(() => (probing = undefined));
    return probing;
  };

  return {
    probe,
    add: async (downloads) => {
      if (failure !== undefined && !(await probe())) throw failure;
      const day = now().toISOString().slice(0, 10);
      for (const { package_id, package_version } of downloads) gather({ day, package_id, package_version, count: 1 });
      schedule();
    },
    close: async () => {
      // While it writes what is left, the thread keeps the process alive.
      worker?.ref();
      await flush();
      clearTimeout(timer);
      const ending = worker;
      if (ending === undefined) return;
      await ask({ kind: 'close' }).catch(() => ending.terminate());
    },
  };
};
