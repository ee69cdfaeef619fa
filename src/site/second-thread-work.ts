// The second thread of a build; see second-thread.ts, which starts it.
import { parentPort, workerData } from 'node:worker_threads';
import { loadBundle } from './bundle.ts';
import { openCatalog, provideCatalog } from './open-site.ts';
import { countLeft } from './page-work.ts';
import { pagesByFile, renderTaken } from './render.ts';
import { buildSearchIndex } from './search-index.ts';
import type { RenderOrder, SecondThreadData, SecondThreadReport } from './second-thread.ts';

const { order, index, rendersFew } = workerData as SecondThreadData;
const tell = (report: SecondThreadReport): void => parentPort?.postMessage(report);
// Read until this thread is ended.
const catalog = openCatalog(order, rendersFew);

const indexing = buildSearchIndex(catalog, index, (done, total) => tell({ kind: 'indexing', done, total })).then(
  (files) => tell({ kind: 'index', files }),
);

parentPort?.once('message', async ({ bundle, folder, work }: RenderOrder) => {
  await indexing;
  if (countLeft(work) > 0) {
    provideCatalog(catalog, order);
    const { pages } = await loadBundle(bundle);
    const listed = await pagesByFile(pages);
    await renderTaken({ pages, listed, folder, base: order.baseUrl }, work, (files) => tell({ kind: 'pages', files }));
  }
  tell({ kind: 'end' });
});
await indexing;
