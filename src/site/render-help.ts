import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { countLeft, type RenderedFile } from './page-work.ts';
import type { RenderThreadData, RenderThreadMessage } from './render-thread.ts';

// Rendering and the search index occupy one processor. If there is another, it renders some of the pages in a thread, which
// has to read the catalog first, as this one did.

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

/** Renders some of the remaining pages in a thread. Rejects if a page cannot be rendered there. */
export const helpRendering = async (
  data: RenderThreadData,
  onRendered: (files: readonly RenderedFile[]) => void,
  helping: Helping,
): Promise<void> => {
  if (isHelpWorthwhile(countLeft(data.work), helping)) await renderInThread(data, onRendered);
};
