import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { countLeft, type RenderedFile } from './page-work.ts';
import type { RenderThreadData, RenderThreadMessage } from './render-thread.ts';

// Rendering occupies one processor. While the search index is made, a second one is busy, too. After that, half of the
// remaining pages are rendered in another thread, which has to read the catalog first, as this one did. Doing both at
// the same time would be no faster, and take more memory.

/**
 * How many pages must remain for each package of the catalog to make another reading of it worthwhile: a few times more
 * than it costs.
 */
const worthwhile = 0.2;
/** How many pages must remain to start a thread at all. */
const fewestPages = 1000;

const renderInThread = (data: RenderThreadData, onRendered: (files: readonly RenderedFile[]) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    const thread = new Worker(new URL('./render-thread.ts', import.meta.url), { workerData: data });
    thread.on('message', (files: RenderThreadMessage) => onRendered(files));
    thread.on('error', reject);
    thread.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`site: a renderer ended with ${code}`))));
  });

/** What decides whether another thread is started. */
interface Helping {
  /** How many packages the catalog has. */
  readonly packages: number;
  readonly processors?: number;
  /** The fewest pages for which a thread is started. */
  readonly fewest?: number;
}

/** Whether that many pages are rendered sooner with another thread. */
export const isHelpWorthwhile = (
  pages: number,
  { packages, processors = availableParallelism(), fewest = fewestPages }: Helping,
): boolean => processors > 1 && pages >= Math.max(fewest, worthwhile * packages);

/**
 * Once a processor is free, renders some of the remaining pages in a thread. Rejects if a page cannot be rendered
 * there.
 *
 * @param free settles when a processor is free
 */
export const helpRendering = async (
  data: RenderThreadData,
  onRendered: (files: readonly RenderedFile[]) => void,
  { free, ...helping }: Helping & { readonly free: Promise<unknown> },
): Promise<void> => {
  await Promise.allSettled([free]);
  if (isHelpWorthwhile(countLeft(data.work), helping)) await renderInThread(data, onRendered);
};
