import { openRelease } from '../apt/release-file.ts';
import type { ManifestEntry } from '../contract/manifest.ts';
import type { Addressing } from '../contract/public-addresses.ts';
import type { DownloadTotal } from '../contract/records.ts';
import { listIndexes, type Snapshot } from '../snapshots/snapshot.ts';
import type { SnapshotStore } from '../snapshots/store.ts';
import { updateComparedFindings, updateDivergences } from './divergence.ts';
import { updateVisitFindings } from './finding-rows.ts';
import { computeSource, indexRepository, ingestRepository, removeRepository, type SnapshotContent } from './ingest.ts';
import { readKnownHistory } from './known-history.ts';
import { readPublishedDownloads } from './published-downloads.ts';
import { SearchAside } from './search-aside.ts';
import { levelOfDownloads } from './search-document.ts';
import { moveSearchDocuments } from './search-index.ts';
import { SearchWriter } from './search-writer.ts';
import type { CatalogBuild } from './state-catalog.ts';
import { removeUnusedWords } from './unused-words.ts';

export interface CatalogUpdate {
  /** Package identifiers whose records may differ from those of the catalog before. */
  readonly touched: ReadonlySet<string>;
  /** Slugs whose rows were written anew. */
  readonly ingested: readonly string[];
  /** Slugs that are no longer in the manifest. */
  readonly removed: readonly string[];
  /** Slugs whose history was lost or damaged, and is again what the catalog knew of it. */
  readonly rebuilt: readonly string[];
  /** Slugs that have no snapshot any more; their rows stay as they were. */
  readonly lost: readonly string[];
  /** Repositories whose stored snapshot could not be read; their rows stay as they were. */
  readonly damaged: readonly { readonly slug: string; readonly cause: unknown }[];
}

interface Options extends Addressing {
  readonly now: Date;
  readonly onRepository?: (done: number, total: number, slug: string) => void;
}

const readSources = (catalog: CatalogBuild): Map<string, string> =>
  new Map(catalog.database.prepare<[string, string]>('SELECT slug, source FROM repository').all());

// All files are read and their hashes checked before a row is touched: a damaged store costs nothing that is known.
const readContent = async (
  store: SnapshotReader,
  snapshot: Snapshot,
): Promise<SnapshotContent | { cause: unknown }> => {
  try {
    const opened = openRelease(await store.readFile(snapshot.slug, snapshot.release));
    if (opened.kind === 'refused') throw new Error(`${snapshot.release.path} ${opened.reason}`);
    const indexes = listIndexes(snapshot);
    for (const index of indexes) await store.checkFile(snapshot.slug, index);
    return { release: opened.content, indexes: indexes.map((index) => store.streamFile(snapshot.slug, index)) };
  } catch (cause) {
    return { cause };
  }
};

/** What the catalog reads of the snapshots, and the history that it reads and writes. */
export type SnapshotReader = Pick<
  SnapshotStore,
  'read' | 'readFile' | 'checkFile' | 'streamFile' | 'readAttempts' | 'history'
>;

/** One repository on its way into the catalog. */
class Update {
  /** Whether its history was lost, and the catalog knew of it. */
  rebuilt = false;
  readonly #catalog: CatalogBuild;
  readonly #store: SnapshotReader;
  readonly #entry: ManifestEntry;
  readonly #snapshot: Snapshot;

  constructor(catalog: CatalogBuild, store: SnapshotReader, entry: ManifestEntry, snapshot: Snapshot) {
    this.#catalog = catalog;
    this.#store = store;
    this.#entry = entry;
    this.#snapshot = snapshot;
  }

  /** Replaces its rows, from the bytes of its snapshot. */
  async ingest(content: SnapshotContent, addressing: Addressing, now: Date, source: string) {
    const { history: store } = this.#store;
    const { slug } = this.#entry;
    const known = this.#readKnown();
    const kept = await store.readRecords(slug);
    this.rebuilt = kept === undefined && known !== undefined;
    const addedAt = (await store.read(slug)).addedAt ?? known?.addedAt ?? now.toISOString();
    const history = kept ?? known?.records;
    const findings = await this.#readFindings();
    const options = { addressing, now: now.toISOString(), source, findings, history, addedAt };
    const result = await ingestRepository(this.#catalog.writable(), this.#entry, this.#snapshot, content, options);
    // Before the rows are in force: a build that ends here has seen what it has seen.
    const next = result.history ?? (kept ? undefined : history);
    if (next) await store.writeRecords(slug, next);
    await store.update(slug, { addedAt });
    return result;
  }

  /** Brings what may change without its rows up to date. */
  async refresh(): Promise<void> {
    const { history: store } = this.#store;
    const { slug } = this.#entry;
    updateVisitFindings(this.#catalog, slug, await this.#readFindings());
    if (await store.hasRecords(slug)) return;
    const known = this.#readKnown();
    if (known === undefined) return;
    this.rebuilt = true;
    await store.writeRecords(slug, known.records);
    if ((await store.read(slug)).addedAt === null) await store.update(slug, { addedAt: known.addedAt });
  }

  #readKnown() {
    const { slug, aliases } = this.#entry;
    return readKnownHistory(this.#catalog, [slug, ...aliases], this.#snapshot.origin);
  }

  // A snapshot that no visit spoke of since knows itself what was wrong with it.
  async #readFindings() {
    return (await this.#store.readAttempts(this.#entry.slug)).findings ?? this.#snapshot.findings;
  }
}

/**
 * Brings the catalog up to date with manifest and snapshots: only repositories whose snapshot or entry changed are
 * read again. An entry that never had a snapshot has no rows.
 */
export const updateCatalog = async (
  catalog: CatalogBuild,
  entries: readonly ManifestEntry[],
  store: SnapshotReader,
  { base, staticRefs, now, onRepository }: Options,
): Promise<CatalogUpdate> => {
  const addressing = { base, staticRefs };
  const known = readSources(catalog);
  const touched = new Set<string>();
  const ingested: string[] = [];
  const removed: string[] = [];
  const rebuilt: string[] = [];
  const lost: string[] = [];
  const damaged: { slug: string; cause: unknown }[] = [];
  let done = 0;
  for (const entry of entries) {
    const snapshot = await store.read(entry.slug).catch((cause: unknown) => {
      damaged.push({ slug: entry.slug, cause });
      return undefined;
    });
    if (snapshot === undefined) {
      // Losing what was crawled is no reason to take down what was made of it.
      if (known.has(entry.slug)) lost.push(entry.slug);
    } else {
      const source = computeSource(entry, snapshot, addressing);
      const one = new Update(catalog, store, entry, snapshot);
      if (known.get(entry.slug) === source) {
        await one.refresh();
      } else {
        const content = await readContent(store, snapshot);
        if ('cause' in content) {
          damaged.push({ slug: entry.slug, cause: content.cause });
        } else {
          const result = await one.ingest(content, addressing, now, source);
          for (const name of result.touched) touched.add(name);
          ingested.push(entry.slug);
        }
      }
      if (one.rebuilt) rebuilt.push(entry.slug);
    }
    known.delete(entry.slug);
    onRepository?.(++done, entries.length, entry.slug);
  }
  for (const slug of known.keys()) {
    for (const name of removeRepository(catalog.writable(), slug)) touched.add(name);
    removed.push(slug);
  }
  if (touched.size > 0) updateDivergences(catalog.writable(), touched);
  updateComparedFindings(catalog, now);
  return { touched, ingested, removed, rebuilt, lost, damaged };
};

/** Of fewer records a thread would take longer to start than it saves. */
const fewestAside = 10_000;

/**
 * Indexes the repositories just ingested for search. Apart from `updateCatalog`, so that it can go on while documents
 * are written. Of packages that are alike otherwise those are found first that were downloaded more often; where that
 * is not what the catalog was published with, documents change their places. A new catalog of `fewest` records or more
 * is indexed in a thread. Ends, with the reason of the signal or an error, where that is given.
 */
export const indexForSearch = async (
  catalog: CatalogBuild,
  ingested: readonly string[],
  downloads: readonly DownloadTotal[] = [],
  { signal, fewest = fewestAside }: { readonly signal?: AbortSignal; readonly fewest?: number } = {},
): Promise<void> => {
  const isMoved = JSON.stringify(downloads) !== JSON.stringify(readPublishedDownloads(catalog.database));
  if (!catalog.changed && !isMoved) return;
  const levels = new Map(downloads.map(({ package_id: id, total }) => [id, levelOfDownloads(total)]));
  const levelOf = (identifier: string): number => levels.get(identifier) ?? 0;
  const database = catalog.writable();
  const [records = 0] = database.prepare<[number]>('SELECT count(*) FROM record').get() ?? [];
  const isAside = catalog.isNew && records >= fewest;
  const sink = isAside ? new SearchAside(database, catalog.searchDraft, signal) : new SearchWriter(database);
  const indexing = { database, before: catalog.before, levelOf, sink, signal };
  try {
    for (const slug of ingested) await indexRepository(indexing, slug);
    // What was indexed just now has its place already.
    if (isMoved && !catalog.isNew) await moveSearchDocuments(indexing);
    await sink.finish();
    if (catalog.before !== undefined) removeUnusedWords(catalog.before, database);
  } finally {
    await sink.close();
  }
};
