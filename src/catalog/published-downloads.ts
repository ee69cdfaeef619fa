import { documentPath } from '../contract/paths.ts';
import type { DownloadTotal } from '../contract/records.ts';
import type { CatalogDatabase } from './database.ts';

/** How often packages were downloaded, as last published with the catalog; empty if that never happened. */
export const readPublishedDownloads = (database: CatalogDatabase): DownloadTotal[] => {
  const [text = null] =
    database.prepare<[string | null]>('SELECT text FROM document WHERE path = ?').get(documentPath.downloads) ?? [];
  return text === null ? [] : (JSON.parse(text) as { data: DownloadTotal[] }).data;
};
