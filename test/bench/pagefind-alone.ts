// Lets Pagefind index the packages of a site's catalog, with what a search among files finds and shows of each, and does
// nothing else. Prints how many seconds that took. It is what the search index of the site is measured against.
import { hash } from 'node:crypto';
import { close, createIndex } from 'pagefind';
import { composeTerms } from '../../src/site/index-words.ts';
import { composeCard } from '../../src/site/row-card.ts';
import { composeFacets } from '../../src/site/search-index.ts';
import { SiteCatalog } from '../../src/site/site-catalog.ts';

const [catalogFile = ''] = process.argv.slice(2);
const catalog = new SiteCatalog(catalogFile);
const common = new Set(catalog.commonArchitectures);
const blanks = (id: string): string => ' '.repeat(Number.parseInt(hash('sha256', id).slice(0, 2), 16));
const records = [...catalog.packages.values()].map((summary) => ({
  // What is only shown is in the address, where Pagefind looks for no words. It compares every address with all earlier
  // ones, by length first, so blanks at the end spare it two fifths of its time.
  url: `/package/${summary.id}/#${JSON.stringify(composeCard(summary, catalog.hasDevices))}${blanks(summary.id)}`,
  content: [...composeTerms(summary).keys()].join(' '),
  language: 'unknown',
  meta: { title: summary.name, id: summary.id },
  filters: Object.fromEntries(
    Object.entries(composeFacets(summary, catalog.hasDevices, common)).map(([name, values]) => [name, [...values]]),
  ),
  sort: { name: summary.name, updated: summary.updatedAt },
}));
catalog.close();
const started = performance.now();
const { index } = await createIndex({ forceLanguage: 'unknown', maxFragments: Math.ceil(records.length / 16) });
if (index === undefined) throw new Error('Pagefind did not start.');
for (let at = 0; at < records.length; at += 500) {
  await Promise.all(records.slice(at, at + 500).map((record) => index.addCustomRecord(record)));
}
await index.getFiles();
console.log((performance.now() - started) / 1000);
await close();
