import { parentPort, workerData } from 'node:worker_threads';
import { Follower, type FollowerEvent } from '../../src/following/follower.ts';
import { PublicationSource } from '../../src/following/source.ts';
import { createSourceFetcher } from '../../src/following/source-fetcher.ts';
import { type Note, TakenFolder, takenOf } from '../../src/following/taken-folder.ts';
import type { Proxies } from '../../src/net/proxies.ts';

// A thread follows the publication, because decompressing, checking and writing a catalog takes seconds, in which
// requests have to be answered.

/** What the thread is given at its start. */
export interface ReplicaThreadData {
  /** The address of the publication. */
  readonly from: string;
  readonly publicKey: string | undefined;
  readonly state: string;
  /** The lock that the server holds on what is taken. */
  readonly heldLock: string | undefined;
  /** Milliseconds between two checks. */
  readonly interval: number;
  readonly proxies: Proxies | undefined;
  /** The generation in force. */
  readonly note: Note | undefined;
}

/** A message of the thread. After `taken` it waits for a reply. */
export type ReplicaThreadMessage =
  | { readonly kind: 'taken'; readonly note: Note }
  | { readonly kind: 'confirmed'; readonly at: Date }
  | { readonly kind: 'event'; readonly event: FollowerEvent };

/** Whether the server now answers from what was taken; if not, why. */
export interface ReplicaThreadReply {
  readonly failure?: string;
}

const { from, publicKey, state, heldLock, interval, proxies, note } = workerData as ReplicaThreadData;
const tell = (message: ReplicaThreadMessage): void => parentPort?.postMessage(message);

const fetcher = createSourceFetcher(from, { userAgent: 'Debdex-replica', proxies });

const follower = new Follower({
  source: new PublicationSource(from, fetcher, publicKey),
  folder: new TakenFolder(state, heldLock),
  taken: note === undefined ? undefined : takenOf(note),
  interval,
  now: () => new Date(),
  onTaken: (taken) =>
    new Promise((resolve, reject) => {
      parentPort?.once('message', ({ failure }: ReplicaThreadReply) => {
        if (failure === undefined) resolve();
        else reject(new Error(failure));
      });
      tell({ kind: 'taken', note: taken.note });
    }),
  onConfirmed: (at) => tell({ kind: 'confirmed', at }),
  tell: (event) => tell({ kind: 'event', event }),
});
await follower.run(new AbortController().signal);
