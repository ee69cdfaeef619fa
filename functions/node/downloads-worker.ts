import { parentPort, workerData } from 'node:worker_threads';
import type { DownloadCount } from '../../src/contract/records.ts';
import type { Report } from '../downloads/download-marks.ts';
import { openDownloadsStore } from './downloads-store.ts';
import type { SharedLimits } from './shared-store.ts';

// The counters' database has a thread of its own, so that only requests about downloads ever wait for its disk.

/** A task for the thread, which answers each with a reply of the same id. Days are in UTC, such as 2026-05-01. */
export type DownloadsTask =
  | { readonly kind: 'add'; readonly day: string; readonly reports: readonly Report[] }
  | { readonly kind: 'read'; readonly day: string; readonly package_id: string }
  | { readonly kind: 'tidy'; readonly day: string }
  | { readonly kind: 'probe' }
  | { readonly kind: 'close' };
export interface DownloadsReply {
  readonly id: number;
  /** Sent without a task: why the shared database is unavailable; null when it is available again. */
  readonly away?: string | null;
  readonly error?: string;
  /** For `add`: how many downloads of each report were counted. */
  readonly counts?: readonly number[];
  /** For `tidy`: whether there may be more to remove. */
  readonly isMore?: boolean;
  /** For `read`. */
  readonly count?: DownloadCount;
}

const { file, limits, url } = workerData as { file: string; limits: SharedLimits; url: string | undefined };

const openStore = async () => {
  if (url === undefined) return openDownloadsStore(file, limits);
  // The driver is loaded only if it is needed.
  const { openSharedStore } = await import('./shared-store.ts');
  return openSharedStore(file, url, limits, (reason) => parentPort?.postMessage({ id: 0, away: reason ?? null }));
};
let opened: ReturnType<typeof openStore> | undefined;

const perform = async (task: DownloadsTask): Promise<Omit<DownloadsReply, 'id'>> => {
  opened ??= openStore().catch((error: unknown) => {
    opened = undefined;
    throw error;
  });
  const store = await opened;
  if (task.kind === 'add') return { counts: await store.add(task.day, task.reports) };
  if (task.kind === 'read') return { count: await store.read(task.day, task.package_id) };
  if (task.kind === 'tidy') return { isMore: await store.tidy(task.day) };
  if (task.kind === 'probe') store.probe();
  else await store.close();
  return {};
};

parentPort?.on('message', async (request: DownloadsTask & { readonly id: number }) => {
  let reply: DownloadsReply = { id: request.id };
  try {
    reply = { id: request.id, ...(await perform(request)) };
  } catch (error) {
    reply = { id: request.id, error: String(error) };
  }
  parentPort?.postMessage(reply);
  if (request.kind === 'close') parentPort?.close();
});
