import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { countLeft, type RenderedFile } from './page-work.ts';
import type { RenderThreadData, RenderThreadMessage } from './render-thread.ts';

// Rendering is work for one processor. While the search index is made there is work for a second one too; from then on
// half of what is left is rendered in another thread, which has to read the catalog first, as the first one did. Both at
// once would be no faster, and take more memory than there need be.

/** Pages that are worth another reading, for each package that is read: a few times more than it costs. */
const worthwhile = 0.2;
/** And to start a thread at all. */
const fewestPages = 1000;

const renderInThread = (data: RenderThreadData, onRendered: (files: readonly RenderedFile[]) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    const thread = new Worker(new URL('./render-thread.ts', import.meta.url), { workerData: data });
    thread.on('message', (files: RenderThreadMessage) => onRendered(files));
    thread.on('error', reject);
    thread.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`site: a renderer ended with ${code}`))));
  });

/** What there is to weigh before another thread is started. */
interface Helping {
  /** How many packages the catalog has. */
  readonly packages: number;
  readonly processors?: number;
  /** The fewest pages to start a thread for. */
  readonly fewest?: number;
}

/** Whether this many pages are rendered sooner with another thread than without. */
export const isHelpWorthwhile = (
  pages: number,
  { packages, processors = availableParallelism(), fewest = fewestPages }: Helping,
): boolean => processors > 1 && pages >= Math.max(fewest, worthwhile * packages);

/**
 * Renders, in a thread, of the pages that are left once a processor is free. Rejects where a page cannot be rendered
 * there.
 *
 * @param free settles when it is
 */
export const helpRendering = async (
  data: RenderThreadData,
  onRendered: (files: readonly RenderedFile[]) => void,
  { free, ...helping }: Helping & { readonly free: Promise<unknown> },
): Promise<void> => {
  await Promise.allSettled([free]);
  if (isHelpWorthwhile(countLeft(data.work), helping)) await renderInThread(data, onRendered);
};
