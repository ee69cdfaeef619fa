// The thread that renders a part of the pages; see render-help.ts, which starts it.
import { parentPort, workerData } from 'node:worker_threads';
import type { BuildOrder } from './build-site.ts';
import { loadBundle, type PreparedBundle } from './bundle.ts';
import { provideSite } from './context.ts';
import { openSite } from './open-site.ts';
import type { RenderedFile, SharedWork } from './page-work.ts';
import { pagesByFile, renderTaken } from './render.ts';

/** What the thread is given at its start. */
export interface RenderThreadData {
  readonly order: BuildOrder;
  readonly bundle: PreparedBundle;
  /** The folder of the pages. */
  readonly folder: string;
  readonly work: SharedWork;
}

/** Its repeated reports. */
export type RenderThreadMessage = readonly RenderedFile[];

const { order, bundle, folder, work } = workerData as RenderThreadData;
const catalog = openSite(order);
try {
  const { pages } = await loadBundle(bundle);
  const listed = await pagesByFile(pages);
  const tell = (files: RenderThreadMessage): void => parentPort?.postMessage(files);
  await renderTaken({ pages, listed, folder, base: order.baseUrl }, work, tell);
} finally {
  provideSite(undefined);
  catalog.close();
}
