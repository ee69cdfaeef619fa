import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { DownloadCount } from '../../src/contract/records.ts';
import { type DownloadCounters, Unavailable } from '../dependencies.ts';
import type { Report } from '../downloads/download-marks.ts';
import { usualCounterLimits } from '../downloads/usual-limits.ts';
import type { DownloadsReply, DownloadsTask } from './downloads-worker.ts';
import type { SharedLimits, TellAway } from './shared-store.ts';

const usualLimits = {
  /** The most downloads that wait to be counted; further reports are refused, and may be sent again. */
  waiting: 20_000,
  /** How long the thread may take for one task, in milliseconds, before the store counts as away. */
  taskTimeout: 1500,
  /** How often, in milliseconds, it is looked whether a new day has begun. */
  tidyInterval: 60_000,
  ...usualCounterLimits,
  unsent: 2_000_000,
  sendInterval: 1000,
  retryInterval: 5000,
  keyTimeout: 500,
};
type DownloadLimits = typeof usualLimits & SharedLimits;

/** A PostgreSQL database that several servers count into, and who is told that it is away. */
interface SharedCounters {
  readonly url: string;
  readonly tell: TellAway;
}

/** Download counters in a SQLite file, written by a thread of their own. */
export interface DownloadsFile extends DownloadCounters {
  /** Completes what was reported, and ends the thread. Takes no longer than three tasks may. */
  close(): Promise<void>;
}

interface Waiting {
  readonly resolve: (reply: DownloadsReply) => void;
  readonly reject: (error: Error) => void;
}

interface WaitingReport extends Report {
  readonly resolve: (count: number) => void;
  readonly reject: (error: unknown) => void;
}

/** The thread, started when it is first asked. Every task is answered, or rejected with Unavailable, in time. */
const startThread = (file: string, limits: DownloadLimits, shared: SharedCounters | undefined) => {
  let worker: Worker | undefined;
  let lastId = 0;
  const waiting = new Map<number, Waiting>();

  const start = (): Worker => {
    const started = new Worker(new URL('./downloads-worker.ts', import.meta.url), {
      workerData: { file, limits, url: shared?.url },
    });
    started.unref();
    started.on('message', (reply: DownloadsReply) => {
      if (reply.away !== undefined) shared?.tell(reply.away ?? undefined);
      const waiter = waiting.get(reply.id);
      waiting.delete(reply.id);
      if (reply.error === undefined) waiter?.resolve(reply);
      else waiter?.reject(new Unavailable(reply.error));
    });
    const stop = (error: Error) => {
      if (worker === started) worker = undefined;
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    };
    started.on('error', (cause) => stop(new Unavailable('The thread of the download counters failed', { cause })));
    started.on('exit', () => stop(new Unavailable('The thread of the download counters ended')));
    return started;
  };

  const ask = async (task: DownloadsTask): Promise<DownloadsReply> => {
    // Whoever has the thread started waits for that as well.
    const timeLimit = worker === undefined ? 3 * limits.taskTimeout : limits.taskTimeout;
    worker ??= start();
    const id = ++lastId;
    let timeout: NodeJS.Timeout | undefined;
    try {
      return await new Promise<DownloadsReply>((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        const late = () => reject(new Unavailable('The download counters take too long'));
        timeout = setTimeout(late, timeLimit);
        worker?.postMessage({ ...task, id });
      });
    } finally {
      clearTimeout(timeout);
      waiting.delete(id);
    }
  };

  return {
    ask,
    /** Has the thread keep the process alive. */
    hold: () => worker?.ref(),
    end: async () => {
      const ending = worker;
      if (ending !== undefined) await ask({ kind: 'close' }).catch(() => ending.terminate());
    },
  };
};

/**
 * Counters in this file, which is made when first needed; with `shared` in a database, and what is on its way there in the
 * file. `now` says which day it is.
 */
export const createDownloads = (
  file: string,
  now: () => Date,
  otherLimits: Partial<DownloadLimits> = {},
  shared?: SharedCounters,
): DownloadsFile => {
  const limits = { ...usualLimits, ...otherLimits };
  const thread = startThread(file, limits, shared);
  const today = (): string => now().toISOString().slice(0, 10);
  let queue: WaitingReport[] = [];
  let queued = 0;
  let writing: Promise<void> | undefined;
  let probing: Promise<boolean> | undefined;
  const reading = new Map<string, Promise<DownloadCount>>();

  // All that was reported meanwhile is one transaction, so many reports cost little more than one. Where the store is
  // away, those that came meanwhile are told at once: they would only wait for the same.
  const writeAll = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue;
      [queue, queued] = [[], 0];
      try {
        const reports = batch.map(({ network, downloads }) => ({ network, downloads }));
        const { counts } = await thread.ask({ kind: 'add', day: today(), reports });
        for (const [index, { resolve }] of batch.entries()) resolve(counts?.[index] ?? 0);
      } catch (error) {
        for (const { reject } of [...batch, ...queue]) reject(error);
        [queue, queued] = [[], 0];
      }
    }
    // At once: what is reported from here on has to begin anew.
    writing = undefined;
  };

  const flush = (): Promise<void> => {
    if (queue.length > 0) writing ??= writeAll();
    return writing ?? Promise.resolve();
  };

  const askProbe = (): Promise<boolean> =>
    thread.ask({ kind: 'probe' }).then(
      () => true,
      () => false,
    );

  const askRead = async (id: string): Promise<DownloadCount> => {
    const { count } = await thread.ask({ kind: 'read', day: today(), package_id: id });
    return count as DownloadCount;
  };

  // Marks are destroyed with their day also where nobody reports any more. What fails is tried again.
  let tidied: string | undefined;
  const tidy = async (): Promise<void> => {
    const day = today();
    if (day === tidied || (shared === undefined && !existsSync(file))) return;
    tidied = day;
    try {
      // For one that is over for long, the marks of today would be destroyed as well: the next call goes on with today.
      while ((await thread.ask({ kind: 'tidy', day })).isMore && day === today());
    } catch {
      tidied = undefined;
    }
  };
  const tidying = setInterval(tidy, limits.tidyInterval).unref();
  // What an earlier process could not send is sent, and where the database is away the operator is told.
  if (shared !== undefined) void tidy();

  return {
    add: (downloads, network) => {
      if (queued + downloads.length > limits.waiting) {
        return Promise.reject(new Unavailable('Too many downloads wait to be counted'));
      }
      queued += downloads.length;
      return new Promise((resolve, reject) => {
        queue.push({ network, downloads, resolve, reject });
        void flush();
      });
    },
    read: (id) => {
      const known = reading.get(id) ?? askRead(id).finally(() => reading.delete(id));
      reading.set(id, known);
      return known;
    },
    // However many wait for the answer, the store is asked once.
    probe: () => {
      probing ??= askProbe().finally(() => (probing = undefined));
      return probing;
    },
    close: async () => {
      clearInterval(tidying);
      thread.hold();
      await flush();
      await thread.end();
    },
  };
};
