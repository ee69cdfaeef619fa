import type { ManifestEntry } from '../contract/manifest.ts';
import type { Snapshot } from '../snapshots/snapshot.ts';
import type { SnapshotStore } from '../snapshots/store.ts';
import type { CatalogBuild } from './generation.ts';
import { computeSource, indexRepository, ingestRepository, removeRepository, type SnapshotContent } from './ingest.ts';
import { finishSearchIndex } from './search-index.ts';

export interface CatalogUpdate {
  /** Package identifiers whose records may differ from those of the catalog before. */
  readonly touched: ReadonlySet<string>;
  /** Slugs whose rows were written anew. */
  readonly ingested: readonly string[];
  /** Slugs that are no longer in the manifest, or have no snapshot any more. */
  readonly removed: readonly string[];
  /** Repositories whose stored snapshot could not be read; their rows stay as they were. */
  readonly damaged: readonly { readonly slug: string; readonly cause: unknown }[];
}

interface Options {
  /** Public address without trailing slash. */
  readonly base: string;
  readonly now: Date;
  readonly onRepository?: (done: number, total: number, slug: string) => void;
}

const readSources = (catalog: CatalogBuild): Map<string, string> =>
  new Map(catalog.database.prepare<[string, string]>('SELECT slug, source FROM repository').all());

// Both files are read and their hashes checked before a row is touched: a damaged store costs nothing that is known.
const readContent = async (
  store: SnapshotReader,
  snapshot: Snapshot,
): Promise<SnapshotContent | { cause: unknown }> => {
  try {
    const release = await store.readFile(snapshot.slug, snapshot.release);
    await store.checkFile(snapshot.slug, snapshot.packages);
    return { release, packages: store.streamFile(snapshot.slug, snapshot.packages) };
  } catch (cause) {
    return { cause };
  }
};

/** What the catalog reads of the snapshots. */
export type SnapshotReader = Pick<SnapshotStore, 'read' | 'readFile' | 'checkFile' | 'streamFile'>;

/**
 * Brings the catalog up to date with manifest and snapshots: only repositories whose snapshot or entry changed are
 * read again. An entry without a snapshot has no rows.
 */
export const updateCatalog = async (
  catalog: CatalogBuild,
  entries: readonly ManifestEntry[],
  store: SnapshotReader,
  { base, now, onRepository }: Options,
): Promise<CatalogUpdate> => {
  const known = readSources(catalog);
  const touched = new Set<string>();
  const ingested: string[] = [];
  const removed: string[] = [];
  const damaged: { slug: string; cause: unknown }[] = [];
  let done = 0;
  for (const entry of entries) {
    const snapshot = await store.read(entry.slug).catch((cause: unknown) => {
      damaged.push({ slug: entry.slug, cause });
      known.delete(entry.slug);
      return undefined;
    });
    if (snapshot !== undefined) {
      const source = computeSource(entry, snapshot, base);
      if (known.get(entry.slug) !== source) {
        const options = { base, now: now.toISOString(), source };
        const content = await readContent(store, snapshot);
        if ('cause' in content) {
          damaged.push({ slug: entry.slug, cause: content.cause });
        } else {
          const result = await ingestRepository(catalog.writable(), entry, snapshot, content, options);
          for (const name of result.touched) touched.add(name);
          ingested.push(entry.slug);
        }
      }
      known.delete(entry.slug);
    }
    onRepository?.(++done, entries.length, entry.slug);
  }
  for (const slug of known.keys()) {
    for (const name of removeRepository(catalog.writable(), slug)) touched.add(name);
    removed.push(slug);
  }
  return { touched, ingested, removed, damaged };
};

/**
 * Indexes the repositories just ingested for search. Apart from `updateCatalog`, so that it can go on while documents
 * are written.
 */
export const indexForSearch = async (catalog: CatalogBuild, ingested: readonly string[]): Promise<void> => {
  if (!catalog.changed) return;
  let added = 0;
  for (const slug of ingested) added += await indexRepository(catalog.writable(), slug);
  finishSearchIndex(catalog.writable(), added);
};
