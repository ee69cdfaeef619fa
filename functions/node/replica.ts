import { Worker } from 'node:worker_threads';
import type { FollowerEvent } from '../../src/following/follower.ts';
import { type Note, TakenFolder } from '../../src/following/taken-folder.ts';
import type { Proxies } from '../../src/net/proxies.ts';
import { ReplicaIndex, type ReplicaIndexOptions } from './replica-index.ts';
import type { ReplicaThreadData, ReplicaThreadMessage, ReplicaThreadReply } from './replica-thread.ts';

/** The publication of a replica, and how to follow it. */
export interface ReplicaSource {
  /** The address of the publication. */
  readonly from: string;
  /** If given, only generations signed by this key are taken. */
  readonly publicKey: string | undefined;
  /** Milliseconds between two checks. */
  readonly interval: number;
  readonly proxies: Proxies | undefined;
}

interface ReplicaOptions extends Omit<ReplicaIndexOptions, 'folder'> {
  readonly source: ReplicaSource;
  readonly state: string;
  readonly tell: (event: FollowerEvent) => void;
  readonly report: (error: unknown) => void;
  /** Called whenever another generation has come into force. */
  readonly onChange: (index: ReplicaIndex) => void;
}

/** A replica that follows its publication. */
interface Replica {
  readonly index: ReplicaIndex;
  close(): Promise<void>;
}

/** The pause, in milliseconds, before a thread that failed is started again. */
const restartPause = 10_000;

/**
 * Opens what was taken before, if anything, and follows the publication. Throws LockedError if another replica uses the
 * folder.
 */
export const startReplica = async (options: ReplicaOptions): Promise<Replica> => {
  const { source, state, tell, report, onChange, now } = options;
  const folder = new TakenFolder(state);
  const unlock = folder.lock();
  const index = new ReplicaIndex({ ...options, folder });
  let inForce: Note | undefined;

  const use = (note: Note): void => {
    index.use(note);
    inForce = note;
    onChange(index);
  };
  try {
    const taken = await folder.read(source.publicKey);
    if (taken !== undefined) use(taken.note);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    tell({ time: now().toISOString(), event: 'replica-trouble', reason });
  }

  let worker: Worker | undefined;
  let restart: NodeJS.Timeout | undefined;
  let isClosed = false;

  const start = (): void => {
    const { from, publicKey, interval, proxies } = source;
    const { heldLock } = folder;
    const workerData: ReplicaThreadData = { from, publicKey, interval, proxies, state, heldLock, note: inForce };
    const started = new Worker(new URL('./replica-thread.ts', import.meta.url), { workerData });
    started.unref();
    started.on('message', (message: ReplicaThreadMessage) => {
      if (message.kind === 'event') tell(message.event);
      else if (message.kind === 'confirmed') index.confirm(message.at);
      else {
        try {
          use(message.note);
        } catch (error) {
          report(error);
          started.postMessage({ failure: String(error) } satisfies ReplicaThreadReply);
          return;
        }
        started.postMessage({} satisfies ReplicaThreadReply);
      }
    });
    started.on('error', report);
    started.on('exit', () => {
      if (!isClosed) restart = setTimeout(start, restartPause).unref();
    });
    worker = started;
  };
  start();

  return {
    index,
    close: async () => {
      isClosed = true;
      clearTimeout(restart);
      await worker?.terminate();
      index.close();
      unlock();
    },
  };
};
