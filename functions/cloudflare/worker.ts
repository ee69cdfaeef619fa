import { createWorker } from './create-worker.ts';

export { CatalogObject } from './catalog-object.ts';
export { DownloadsObject } from './downloads-object.ts';

/** The Worker without a gateway. */
export default createWorker();
