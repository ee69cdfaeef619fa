import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { BuildOrder } from './build-site.ts';
import type { PreparedBundle } from './bundle.ts';
import { countLeft, type RenderedFile, type SharedWork } from './page-work.ts';

// Reading the catalog and rendering occupy one processor. If there is another, a thread reads the catalog at the same time,
// makes the search index, and then renders some of the pages that are left.

/** What the thread is given at its start. */
export interface SecondThreadData {
  readonly order: BuildOrder;
  /** The folder of the search index. */
  readonly index: string;
  /** Whether it is likely to render few pages, or none, because most are kept. */
  readonly rendersFew: boolean;
}

/** Pages that it is told to render some of. */
export interface RenderOrder {
  readonly bundle: PreparedBundle;
  /** The folder of the pages. */
  readonly folder: string;
  readonly work: SharedWork;
}

/** What it reports. `end`: the pages are rendered. */
export type SecondThreadReport =
  | { readonly kind: 'indexing'; readonly done: number; readonly total: number }
  | { readonly kind: 'index'; readonly files: readonly string[] }
  | { readonly kind: 'pages'; readonly files: readonly RenderedFile[] }
  | { readonly kind: 'end' };

/** How large a catalog must be for the time that another reading of it takes: some thousand packages. */
const smallest = 16e6;

/** How many pages must remain: to render any, the thread loads their bundle first. */
const fewestPages = 1000;

/** Whether a build with this catalog is sooner done with a second thread. */
export const isWorthSecondThread = (catalogPath: string, processors = availableParallelism()): boolean =>
  processors > 1 && statSync(catalogPath).size >= smallest;

/** The second thread of a build. The caller has to end it. */
export class SecondThread {
  readonly #worker: Worker;
  /** Rejects if the thread fails. */
  readonly #failed: Promise<never>;

  constructor(data: SecondThreadData) {
    this.#worker = new Worker(new URL('./second-thread-work.ts', import.meta.url), { workerData: data });
    this.#failed = new Promise((_, reject) => {
      this.#worker.once('error', reject);
      this.#worker.once('exit', (code) => reject(new Error(`site: the second thread ended with ${code}`)));
    });
    // An error is reported to whoever waits.
    this.#failed.catch(() => {});
  }

  /** Waits for a report for which `read` returns a value. */
  #receive<Value>(read: (report: SecondThreadReport) => Value | undefined): Promise<Value> {
    const { promise, resolve } = Promise.withResolvers<Value>();
    const listen = (report: SecondThreadReport) => {
      const value = read(report);
      if (value === undefined) return;
      this.#worker.off('message', listen);
      resolve(value);
    };
    this.#worker.on('message', listen);
    return Promise.race([promise, this.#failed]);
  }

  /** Waits for the search index, and returns its files. */
  readIndex(onPackage: (done: number, total: number) => void): Promise<readonly string[]> {
    return this.#receive((report) => {
      if (report.kind === 'indexing') onPackage(report.done, report.total);
      return report.kind === 'index' ? report.files : undefined;
    });
  }

  /** Renders some of the remaining pages, after the index, if there are many. Rejects if a page cannot be rendered there. */
  async render(
    order: RenderOrder,
    onRendered: (files: readonly RenderedFile[]) => void,
    fewest = fewestPages,
  ): Promise<void> {
    if (countLeft(order.work) < fewest) return;
    const rendering = this.#receive((report) => {
      if (report.kind === 'pages') onRendered(report.files);
      return report.kind === 'end' ? true : undefined;
    });
    this.#worker.postMessage(order);
    await rendering;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
