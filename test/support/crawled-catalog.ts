import { readRepositoryFindings } from '../../src/catalog/reading.ts';
import { CatalogBuild } from '../../src/catalog/state-catalog.ts';
import { updateCatalog } from '../../src/catalog/update.ts';
import type { Finding } from '../../src/contract/findings.ts';
import type { ManifestEntry } from '../../src/contract/manifest.ts';
import type { CrawlBench } from './crawling.ts';
import { temporaryFolder } from './folder.ts';

/** The records and findings of a catalog made from a crawl. */
export const makeCatalogOf = async (
  bench: CrawlBench,
  entry: ManifestEntry,
): Promise<{ records: { package_id: string; architecture: string }[]; findings: readonly Finding[] }> => {
  const catalog = new CatalogBuild(temporaryFolder());
  try {
    await updateCatalog(catalog, [entry], bench.store, { base: 'https://index.test', now: bench.now });
    const rows = catalog.database.prepare<[string, string]>('SELECT package, architecture FROM record').all();
    const [found] = readRepositoryFindings(catalog.database);
    return {
      records: rows.map(([package_id, architecture]) => ({ package_id, architecture })),
      findings: found?.findings ?? [],
    };
  } finally {
    catalog.discard();
  }
};
