import { parentPort, workerData } from 'node:worker_threads';
import type { DownloadCount } from '../../src/contract/records.ts';
import { type CounterLimits, openDownloadsStore, type Report } from './downloads-store.ts';

// The counters' database has a thread of its own, so that no read ever waits for its disk.

/** What the thread is asked to do; it answers each with a reply of the same id. Days are of UTC, such as 2026-05-01. */
export type DownloadsTask =
  | { readonly kind: 'add'; readonly day: string; readonly reports: readonly Report[] }
  | { readonly kind: 'read'; readonly day: string; readonly package_id: string }
  | { readonly kind: 'tidy'; readonly day: string }
  | { readonly kind: 'probe' }
  | { readonly kind: 'close' };
export interface DownloadsReply {
  readonly id: number;
  readonly error?: string;
  /** For `add`: how many of each report were counted. */
  readonly counts?: readonly number[];
  /** For `read`. */
  readonly count?: DownloadCount;
}

const { file, limits } = workerData as { file: string; limits: CounterLimits };
const store = openDownloadsStore(file, limits);

const perform = (task: DownloadsTask): Omit<DownloadsReply, 'id'> => {
  if (task.kind === 'add') return { counts: store.add(task.day, task.reports) };
  if (task.kind === 'read') return { count: store.read(task.day, task.package_id) };
  if (task.kind === 'tidy') store.tidy(task.day);
  else if (task.kind === 'probe') store.probe();
  else store.close();
  return {};
};

parentPort?.on('message', (request: DownloadsTask & { readonly id: number }) => {
  let reply: DownloadsReply = { id: request.id };
  try {
    reply = { id: request.id, ...perform(request) };
  } catch (error) {
    reply = { id: request.id, error: String(error) };
  }
  parentPort?.postMessage(reply);
  if (request.kind === 'close') parentPort?.close();
});
