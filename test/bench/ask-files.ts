// Builds the search index among the files of a catalog into a folder, and asks it as the site's scripts do in a browser.
// Prints what was found first for each question. In a process of its own, because these scripts keep what they read.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { indexRoot } from '../../src/results/file-index.ts';
import { buildSearchIndex } from '../../src/site/search-index.ts';
import { SiteCatalog } from '../../src/site/site-catalog.ts';
import type { Found } from './engines.ts';

const [catalogFile = '', folder = '', questionsFile = '', depth = ''] = process.argv.slice(2);
const catalog = new SiteCatalog(catalogFile);
await buildSearchIndex(catalog, path.join(folder, indexRoot));
catalog.close();

globalThis.fetch = async (address) => {
  const file = path.join(folder, String(address).slice(String(address).indexOf(indexRoot)));
  return existsSync(file) ? new Response(readFileSync(file)) : new Response(null, { status: 404 });
};
const { searchFiles } = await import('../../src/components/client/search-files.ts');
const answers: Found[][] = [];
for (const question of JSON.parse(readFileSync(questionsFile, 'utf8')) as string[]) {
  const rows = await (await searchFiles(question, {})).read(0, Number(depth));
  answers.push(rows.map(({ id, name }) => ({ identifier: id, name })));
}
process.stdout.write(JSON.stringify(answers));
