import { openRelease } from '../apt/release-file.ts';
import { type ManifestEntry, slugKey } from '../contract/manifest.ts';
import type { Addressing } from '../contract/public-addresses.ts';
import type { DownloadTotal } from '../contract/records.ts';
import type { RecordHistory } from '../snapshots/record-history.ts';
import { listIndexes, type Snapshot } from '../snapshots/snapshot.ts';
import { isRefused } from '../snapshots/snapshot-files.ts';
import type { SnapshotStore } from '../snapshots/store.ts';
import { updateComparedFindings, updateDivergences } from './divergence.ts';
import { updateVisitFindings } from './finding-rows.ts';
import { computeSource, indexRepository, ingestRepository, removeRepository, type SnapshotContent } from './ingest.ts';
import { readKnownHistory } from './known-history.ts';
import { readPublishedDownloads } from './published-downloads.ts';
import { readSources } from './repository-slugs.ts';
import { SearchAside } from './search-aside.ts';
import { levelOfDownloads } from './search-document.ts';
import { moveSearchDocuments } from './search-index.ts';
import { SearchWriter } from './search-writer.ts';
import type { CatalogBuild } from './state-catalog.ts';
import { removeUnusedWords } from './unused-words.ts';

export interface CatalogUpdate {
  /** Identifiers of packages whose records may differ from those in the previous catalog. */
  readonly touched: ReadonlySet<string>;
  /** Slugs of repositories whose rows were written again. */
  readonly ingested: readonly string[];
  /** Slugs that are no longer in the manifest. */
  readonly removed: readonly string[];
  /** Slugs of repositories whose history was lost or damaged, and was restored from the catalog. */
  readonly rebuilt: readonly string[];
  /** Slugs of repositories that have no snapshot any more. Their rows stay as they were. */
  readonly lost: readonly string[];
  /** Repositories whose stored snapshot or history could not be read, or written. Their rows stay as they were. */
  readonly damaged: readonly { readonly slug: string; readonly cause: unknown }[];
}

interface Options extends Addressing {
  readonly now: Date;
  readonly onRepository?: (done: number, total: number, slug: string) => void;
}

/** The content of a snapshot, and what is known of the time before. */
interface Stored extends SnapshotContent {
  readonly records: RecordHistory | undefined;
  readonly addedAt: string | null;
}

// All files are read and their hashes checked before a row is touched, so that a damaged store loses nothing that is
// known.
const readStored = async (store: SnapshotReader, snapshot: Snapshot): Promise<Stored | { cause: unknown }> => {
  try {
    const { addedAt } = await store.history.read(snapshot.slug);
    const records = await store.history.readRecords(snapshot.slug);
    const bytes = await store.readFile(snapshot.slug, snapshot.release);
    const opened = openRelease(bytes, { blankAfter: true });
    if (opened.kind === 'refused') throw new Error(`${snapshot.release.path} ${opened.reason}`);
    const indexes = listIndexes(snapshot);
    for (const index of indexes) await store.checkFile(snapshot.slug, index);
    const streams = indexes.map((index) => store.streamFile(snapshot.slug, index));
    return { release: opened.content, indexes: streams, records, addedAt };
  } catch (cause) {
    return { cause };
  }
};

/** Why nothing can be written of one repository, which is no reason to end the build of all others. */
const findRefusal = async (write: () => Promise<void>): Promise<{ cause: unknown } | undefined> => {
  try {
    await write();
    return undefined;
  } catch (cause) {
    if (isRefused(cause)) return { cause };
    throw cause;
  }
};

/** Reads what is stored of a repository, and checks that the history takes what comes of it: rows that were written cannot be taken back. */
const prepareStored = async (store: SnapshotReader, snapshot: Snapshot): Promise<Stored | { cause: unknown }> => {
  const stored = await readStored(store, snapshot);
  if ('cause' in stored) return stored;
  return (await findRefusal(() => store.history.assertWritable(snapshot.slug))) ?? stored;
};

const findHistory = ({ history }: SnapshotReader, slug: string): { hasHistory: boolean } | { cause: unknown } => {
  try {
    return { hasHistory: history.hasRecords(slug) };
  } catch (cause) {
    return { cause };
  }
};

/** What the catalog reads from the snapshots, and the history that it reads and writes. */
export type SnapshotReader = Pick<
  SnapshotStore,
  'read' | 'readFile' | 'checkFile' | 'streamFile' | 'readAttempts' | 'history'
>;

/** One repository on its way into the catalog. */
class Update {
  /** Whether its history was lost and restored from the catalog. */
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

  /** Replaces its rows with those of its snapshot. */
  async ingest({ records: kept, ...content }: Stored, addressing: Addressing, now: Date, source: string) {
    const { history: store } = this.#store;
    const { slug } = this.#entry;
    const known = this.#readKnown();
    this.rebuilt = kept === undefined && known !== undefined;
    const addedAt = content.addedAt ?? known?.addedAt ?? now.toISOString();
    const history = kept ?? known?.records;
    const findings = await this.#readFindings();
    const options = { addressing, now: now.toISOString(), source, findings, history, addedAt };
    const result = await ingestRepository(this.#catalog.writable(), this.#entry, this.#snapshot, content, options);
    // Written before the rows come into force: if the build ends here, the history of what it saw is kept.
    const next = result.history ?? (kept ? undefined : history);
    if (next) await store.writeRecords(slug, next);
    await store.update(slug, { addedAt });
    return result;
  }

  /**
   * Updates what may change even if the rows do not. `hasHistory`: whether its records are in the history. Returns why they
   * cannot be written there.
   */
  async refresh(hasHistory: boolean): Promise<{ cause: unknown } | undefined> {
    const { history: store } = this.#store;
    const { slug } = this.#entry;
    updateVisitFindings(this.#catalog, slug, await this.#readFindings());
    if (hasHistory) return undefined;
    const known = this.#readKnown();
    if (known === undefined) return undefined;
    return findRefusal(async () => {
      await store.writeRecords(slug, known.records);
      if ((await store.read(slug)).addedAt === null) await store.update(slug, { addedAt: known.addedAt });
      this.rebuilt = true;
    });
  }

  #readKnown() {
    const { slug, aliases } = this.#entry;
    return readKnownHistory(this.#catalog, [slug, ...aliases], this.#snapshot.origin);
  }

  // If no visit has reported since the snapshot was made, or that may not be read, the snapshot's own findings hold.
  async #readFindings() {
    const attempts = await this.#store.readAttempts(this.#entry.slug).catch(() => undefined);
    return attempts?.findings ?? this.#snapshot.findings;
  }
}

/**
 * Updates the catalog from manifest and snapshots. Only repositories whose snapshot or entry changed are read again. An
 * entry that never had a snapshot has no rows.
 */
export const updateCatalog = async (
  catalog: CatalogBuild,
  entries: readonly ManifestEntry[],
  store: SnapshotReader,
  { base, staticRefs, now, onRepository }: Options,
): Promise<CatalogUpdate> => {
  const addressing = { base, staticRefs };
  const known = readSources(catalog.database);
  const touched = new Set<string>();
  const ingested: string[] = [];
  const removed: string[] = [];
  const rebuilt: string[] = [];
  const lost: string[] = [];
  const damaged: { slug: string; cause: unknown }[] = [];
  /** The `slugKey` of what repositories were called for which no rows could be written under their present slug. */
  const former = new Set<string>();
  const keepFormer = ({ slug, aliases }: ManifestEntry) => {
    for (const one of [slug, ...aliases]) former.add(slugKey(one));
  };
  let done = 0;
  for (const entry of entries) {
    const snapshot = await store.read(entry.slug).catch((cause: unknown) => {
      damaged.push({ slug: entry.slug, cause });
      return undefined;
    });
    if (snapshot === undefined) {
      // A lost snapshot is no reason to remove what was made of it, also under a former slug.
      if (known.has(entry.slug)) lost.push(entry.slug);
      else keepFormer(entry);
    } else {
      const source = computeSource(entry, snapshot, addressing);
      const one = new Update(catalog, store, entry, snapshot);
      const isSame = known.get(entry.slug) === source;
      const stored = isSame ? findHistory(store, entry.slug) : await prepareStored(store, snapshot);
      if ('cause' in stored) {
        damaged.push({ slug: entry.slug, cause: stored.cause });
        if (!known.has(entry.slug)) keepFormer(entry);
      } else if ('hasHistory' in stored) {
        const refused = await one.refresh(stored.hasHistory);
        if (refused !== undefined) damaged.push({ slug: entry.slug, ...refused });
      } else {
        const result = await one.ingest(stored, addressing, now, source);
        for (const name of result.touched) touched.add(name);
        ingested.push(entry.slug);
      }
      if (one.rebuilt) rebuilt.push(entry.slug);
    }
    known.delete(entry.slug);
    onRepository?.(++done, entries.length, entry.slug);
  }
  for (const slug of known.keys()) {
    if (former.has(slugKey(slug))) continue;
    for (const name of removeRepository(catalog.writable(), slug)) touched.add(name);
    removed.push(slug);
  }
  if (touched.size > 0) updateDivergences(catalog.writable(), touched);
  updateComparedFindings(catalog, now);
  return { touched, ingested, removed, rebuilt, lost, damaged };
};

/** With fewer records, a thread takes longer to start than it saves. */
const fewestAside = 10_000;

/**
 * Indexes the repositories that were just ingested for search. It is separate from `updateCatalog`, so that it can run
 * while documents are written. Among packages that are otherwise equal, those with more downloads are found first; if
 * the downloads differ from those that the catalog was published with, documents get new numbers. A new catalog with
 * `fewest` records or more is indexed in a thread. Rejects with the signal's reason, or an error, if the signal is
 * aborted.
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
    // Newly indexed documents already have the right number.
    if (isMoved && !catalog.isNew) await moveSearchDocuments(indexing);
    await sink.finish();
    if (catalog.before !== undefined) removeUnusedWords(catalog.before, database);
  } finally {
    await sink.close();
  }
};
