import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { tooManyAtOnce } from '../../src/contract/errors.ts';
import type { DownloadCount } from '../../src/contract/records.ts';
import { type DownloadCounters, Unavailable } from '../dependencies.ts';
import type { Report } from '../downloads/download-marks.ts';
import { usualCounterLimits } from '../downloads/usual-limits.ts';
import { HttpError } from '../http/answers.ts';
import { createClientLine } from '../http/client-line.ts';
import type { DownloadsReply, DownloadsTask } from './downloads-worker.ts';
import type { SharedLimits, TellAway } from './shared-store.ts';

const usualLimits = {
  /** How many downloads may wait to be counted. Further reports are refused, and may be sent again. */
  waiting: 20_000,
  /** The same for one network. No more of it would count in a whole day. */
  waitingOfNetwork: usualCounterLimits.perNetwork,
  /** How many downloads are written at a time, or one longer report: a fraction of what a task may take. */
  writtenAtOnce: 1000,
  /** How long the thread may take for one task, in milliseconds, before the store counts as unavailable. */
  taskTimeout: 1500,
  /** How often, in milliseconds, to check whether a new day has begun. */
  tidyInterval: 60_000,
  ...usualCounterLimits,
  unsent: 2_000_000,
  sendInterval: 1000,
  retryInterval: 5000,
  keyTimeout: 500,
};
type DownloadLimits = typeof usualLimits & SharedLimits;

/** A PostgreSQL database that several servers count into, and a function to call when it is unavailable. */
interface SharedCounters {
  readonly url: string;
  readonly tell: TellAway;
}

/** Download counters in a SQLite file, which a separate thread writes. */
export interface DownloadsFile extends DownloadCounters {
  /** Counts what was reported so far and ends the thread. Takes no longer than three tasks may take. */
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

/** The thread, which starts with its first task. Every task is answered in time, or rejected with Unavailable. */
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
    // The task that starts the thread waits for the start, too.
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
    /** Keeps the process alive while the thread runs. */
    hold: () => worker?.ref(),
    end: async () => {
      const ending = worker;
      if (ending !== undefined) await ask({ kind: 'close' }).catch(() => ending.terminate());
    },
  };
};

/**
 * Counters in this file, which is made when it is first needed. With `shared` they are in a database, and the file
 * holds what has not been sent there yet. `now` tells which day it is.
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
  const queue = createClientLine<WaitingReport>();
  /** How many downloads wait: in all, and of each network. */
  let queued = 0;
  const queuedOf = new Map<string, number>();
  let atOnce: number = limits.writtenAtOnce;
  let writing: Promise<void> | undefined;
  let probing: Promise<boolean> | undefined;
  const reading = new Map<string, Promise<DownloadCount>>();

  const enqueue = (report: WaitingReport): void => {
    const { network, downloads } = report;
    queued += downloads.length;
    queuedOf.set(network, (queuedOf.get(network) ?? 0) + downloads.length);
    queue.add(network, report);
  };

  const takeNext = (): WaitingReport | undefined => {
    const report = queue.next();
    if (report === undefined) return undefined;
    const { network, downloads } = report;
    const left = (queuedOf.get(network) ?? 0) - downloads.length;
    queued -= downloads.length;
    if (left > 0) queuedOf.set(network, left);
    else queuedOf.delete(network);
    return report;
  };

  /** The next reports, of one network after the other, with up to this many downloads or one report. */
  const takeSome = (most: number): WaitingReport[] => {
    const taken: WaitingReport[] = [];
    for (let size = 0; size < most; ) {
      const report = takeNext();
      if (report === undefined) break;
      taken.push(report);
      size += report.downloads.length;
    }
    return taken;
  };

  // Many reports are written in one transaction, which costs little more than one report alone. If the store is
  // unavailable, those that arrived meanwhile are rejected at once, because they would only wait for the same failure.
  const writeAll = async (): Promise<void> => {
    for (let batch = takeSome(atOnce); batch.length > 0; batch = takeSome(atOnce)) {
      try {
        const reports = batch.map(({ network, downloads }) => ({ network, downloads }));
        const { counts } = await thread.ask({ kind: 'add', day: today(), reports });
        for (const [index, { resolve }] of batch.entries()) resolve(counts?.[index] ?? 0);
      } catch (error) {
        for (const { reject } of [...batch, ...takeSome(Number.POSITIVE_INFINITY)]) reject(error);
      }
    }
    // Synchronously, so that the next report begins a new write.
    writing = undefined;
  };

  const flush = (): Promise<void> => {
    if (!queue.isEmpty()) writing ??= writeAll();
    return writing ?? Promise.resolve();
  };

  const askProbe = async (): Promise<boolean> => {
    await thread.ask({ kind: 'probe' });
    return true;
  };

  const askRead = async (id: string): Promise<DownloadCount> => {
    const { count } = await thread.ask({ kind: 'read', day: today(), package_id: id });
    return count as DownloadCount;
  };

  // Marks are destroyed with their day even if nobody reports any more. A failure is tried again.
  let tidied: string | undefined;
  const tidy = async (): Promise<void> => {
    const day = today();
    if (day === tidied || (shared === undefined && !existsSync(file))) return;
    tidied = day;
    try {
      // If midnight passes meanwhile, tidying for the old day would destroy the marks of the new one. The next call
      // continues with that.
      while ((await thread.ask({ kind: 'tidy', day })).isMore && day === today());
    } catch {
      tidied = undefined;
    }
  };
  const tidying = setInterval(tidy, limits.tidyInterval).unref();
  // Sends what an earlier process could not send, and reports at once if the database is unavailable.
  if (shared !== undefined) void tidy();

  return {
    add: (downloads, network) => {
      const own = queuedOf.get(network) ?? 0;
      if (own > 0 && own + downloads.length > limits.waitingOfNetwork) {
        return Promise.reject(new HttpError(429, tooManyAtOnce, { 'Retry-After': '1' }));
      }
      if (queued + downloads.length > limits.waiting) {
        return Promise.reject(new Unavailable('Too many downloads wait to be counted'));
      }
      return new Promise((resolve, reject) => {
        enqueue({ network, downloads, resolve, reject });
        void flush();
      });
    },
    read: (id) => {
      const known = reading.get(id) ?? askRead(id).finally(() => reading.delete(id));
      reading.set(id, known);
      return known;
    },
    // However many requests wait for the answer, the store is asked once.
    probe: () => {
      probing ??= askProbe().finally(() => (probing = undefined));
      return probing;
    },
    close: async () => {
      clearInterval(tidying);
      thread.hold();
      // The rest in one task: where each takes long, as on a slow disk, many would hold up the end of the process.
      atOnce = Number.POSITIVE_INFINITY;
      await flush();
      await thread.end();
    },
  };
};
