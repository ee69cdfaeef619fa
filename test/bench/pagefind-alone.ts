// Lets Pagefind index the records of a site's catalog, and does nothing else. Prints how many seconds that took.
import { close, createIndex } from 'pagefind';
import { composeSearchRecords, indexSettings } from '../../src/site/pagefind-index.ts';
import { SiteCatalog } from '../../src/site/site-catalog.ts';

const [catalogFile = ''] = process.argv.slice(2);
const catalog = new SiteCatalog(catalogFile);
const records = [...composeSearchRecords(catalog)];
catalog.close();
const started = performance.now();
const { index } = await createIndex(indexSettings(records.length));
if (index === undefined) throw new Error('Pagefind did not start.');
for (let at = 0; at < records.length; at += 500) {
  await Promise.all(records.slice(at, at + 500).map((record) => index.addCustomRecord(record)));
}
await index.getFiles();
console.log((performance.now() - started) / 1000);
await close();
