import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type IndexEntry, indexEntry, partFile } from '../../src/results/file-index.ts';
import { FileIndexSearch } from '../../src/results/file-index-search.ts';
import { buildSearchIndex } from '../../src/site/search-index.ts';
import type { SiteCatalog } from '../../src/site/site-catalog.ts';
import { temporaryFolder } from './folder.ts';

/** Opens the search index of a published site. Tells of each part that it reads. */
const openFileIndex = (out: string, onRead: (file: string, content: string) => void = () => {}) => {
  const read = (file: string) => readFileSync(path.join(out, file), 'utf8');
  return new FileIndexSearch(JSON.parse(read(indexEntry)) as IndexEntry, async (kind, name) => {
    const file = partFile(kind, name);
    const content = read(file);
    onRead(file, content);
    return JSON.parse(content);
  });
};

/** Builds the search index of a catalog into a folder of its own, and opens it. */
export const openBuiltIndex = async (catalog: SiteCatalog, onRead?: (file: string, content: string) => void) => {
  const out = temporaryFolder();
  await buildSearchIndex(catalog, path.join(out, path.dirname(indexEntry)));
  return openFileIndex(out, onRead);
};
