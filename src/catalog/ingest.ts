import { hash } from 'node:crypto';
import { decompress } from '../apt/decompress.ts';
import { createRecordReader } from '../apt/record-reader.ts';
import type { ReleaseFile } from '../apt/release.ts';
import type { Finding } from '../contract/findings.ts';
import { limits } from '../contract/limits.ts';
import { addressKey, type ManifestEntry } from '../contract/manifest.ts';
import type { Addressing } from '../contract/public-addresses.ts';
import { type RecordHistory, RecordSights } from '../snapshots/record-history.ts';
import { listIndexes, type Snapshot } from '../snapshots/snapshot.ts';
import type { WritableDatabase } from './database.ts';
import { writeFindings } from './finding-rows.ts';
import { readPackageBytes } from './package-bytes.ts';
import { findRepository } from './record-range.ts';
import { RecordWriter } from './record-writer.ts';
import { computeEmbeddedRepository, computeRepositoryRecord } from './repository-record.ts';
import { catalogFormat } from './schema.ts';
import { addSearchDocuments, type Indexing, readDocumentNumbers, removeSearchDocuments } from './search-index.ts';

/** The counts of one repository: stanzas = records + those that findings report as left out. */
export interface IngestCount {
  readonly stanzas: number;
  readonly records: number;
}

/** The verified content of a snapshot's files. */
export interface SnapshotContent {
  readonly release: ReleaseFile;
  /** The bytes of each of `listIndexes`, in that order. */
  readonly indexes: readonly (AsyncIterable<Uint8Array> | Iterable<Uint8Array>)[];
}

/** A digest of everything that a repository's rows are computed from. While it stays the same, so do the rows. */
export const computeSource = (
  entry: ManifestEntry,
  snapshot: Snapshot,
  { base, staticRefs = false }: Addressing,
): string => {
  const { release, hasInRelease, hasReleaseGpg, paymentEndpoint, changedAt, signing } = snapshot;
  const files = [release, ...listIndexes(snapshot)].flatMap(({ path, sha256 }) => [path, sha256]);
  const said = [hasInRelease, hasReleaseGpg, paymentEndpoint, changedAt, signing.state, signing.signers];
  // How the origin is asked is no part of what it says, and may be secret.
  const { headers: _, ...told } = entry;
  return hash('sha256', JSON.stringify([catalogFormat, limits, base, staticRefs, told, snapshot.origin, files, said]));
};

// The last stanza of an index may lack the blank line after it.
const betweenIndexes = Buffer.from('\n\n');

// The crawl has already checked the other limits of the index.
const indexLimits = { maxBytes: limits.textBytes, maxRatio: Number.POSITIVE_INFINITY };

/** Removes a repository and all its rows. Returns the package identifiers that it held. */
export const removeRepository = (database: WritableDatabase, slug: string): string[] => {
  const found = findRepository(database, slug);
  if (found === undefined) return [];
  const { id, range } = found;
  const packages = database
    .prepare<[string]>('SELECT DISTINCT package FROM record WHERE id >= ? AND id < ?')
    .all(...range);
  removeSearchDocuments(database, ...range);
  database.prepareWrite('DELETE FROM record WHERE id >= ? AND id < ?').run(...range);
  database.prepareWrite('DELETE FROM provision WHERE record >= ? AND record < ?').run(...range);
  database.prepareWrite('DELETE FROM finding WHERE repository = ?').run(id);
  database.prepareWrite('DELETE FROM repository WHERE id = ?').run(id);
  return packages.flat();
};

/**
 * Replaces the rows of a repository with those of its snapshot. Returns the counts, the identifiers of the packages
 * that it held before or holds now, and its history if that changed. `findings` are those of visits; `history` and
 * `addedAt` are what is known of the past, and `now` is the first-seen time of records that are not in the history.
 *
 * @throws DecompressionError if the index cannot be decompressed, which the crawl has ruled out
 */
export const ingestRepository = async (
  database: WritableDatabase,
  entry: ManifestEntry,
  snapshot: Snapshot,
  files: SnapshotContent,
  options: {
    readonly addressing: Addressing;
    readonly now: string;
    readonly source: string;
    readonly findings?: readonly Finding[];
    readonly history?: RecordHistory | undefined;
    readonly addedAt?: string;
  },
): Promise<IngestCount & { readonly touched: Set<string>; readonly history: RecordHistory | undefined }> => {
  const { release } = files;
  const { now, history, addedAt = now, findings = [] } = options;
  const sights = new RecordSights(history, addressKey(snapshot.origin), now, snapshot.changedAt);
  const before = database.prepare<[id: number]>('SELECT id FROM repository WHERE slug = ?').get(entry.slug);
  // Nothing is known of what another address had before.
  const bytesBefore = sights.isFirst ? new Map() : readPackageBytes(database, [entry.slug, ...entry.aliases]);
  const touched = new Set(removeRepository(database, entry.slug));
  // A repository keeps its number, so that the same input gives the same catalog, whatever was built before.
  const [id = 1] = before ?? database.prepare<[number]>('SELECT coalesce(max(id), 0) + 1 FROM repository').get() ?? [];

  const describe = (packages: { count: number; sections: Iterable<string> }) =>
    computeRepositoryRecord(entry, snapshot, release, packages, options.addressing);
  const embed = (packages: { count: number; sections: Iterable<string> }) =>
    JSON.stringify(computeEmbeddedRepository(describe(packages)));
  const { addressing } = options;
  const writer = new RecordWriter(database, entry, { addressing, repository: id, sights, bytesBefore, embed });
  const reader = createRecordReader({
    record: (stanza, number) => writer.write(stanza, number),
    finding: (code, detail) => writer.findings.add(code, detail),
  });
  for (const [number, { compression }] of listIndexes(snapshot).entries()) {
    for await (const chunk of decompress(files.indexes[number] ?? [], compression, indexLimits)) reader.write(chunk);
    reader.write(betweenIndexes);
  }
  reader.end();

  const packages = { count: writer.records, sections: writer.sections };
  const { uri, suite } = describe(packages);
  database
    .prepareWrite(
      `INSERT INTO repository (id, slug, source, ranking, bootstrap, uri, suite, aliases, package_count, stanzas,
         added_at, changed_at, signing, record, embedded, index_findings, visit_findings)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', '')`,
    )
    .run(
      id,
      entry.slug,
      options.source,
      entry.ranking,
      entry.bootstrap ? 1 : 0,
      uri,
      suite,
      JSON.stringify(entry.aliases),
      writer.records,
      reader.stanzas,
      addedAt,
      snapshot.changedAt,
      JSON.stringify({ state: snapshot.signing.state, signers: snapshot.signing.signers }),
      JSON.stringify(describe(packages)),
      embed(packages),
    );
  writeFindings(database, id, writer.findings.list(), findings);
  for (const name of writer.packages) touched.add(name);
  return { stanzas: reader.stanzas, records: writer.records, touched, history: sights.finish(new Date(now)) };
};

/** Indexes the records of an ingested repository for search. Returns how many there are. */
export const indexRepository = async (indexing: Indexing, slug: string): Promise<number> => {
  const { database, before } = indexing;
  const found = findRepository(database, slug);
  if (found === undefined) return 0;
  const then = before && findRepository(before, slug);
  const known = before && then ? readDocumentNumbers(before, ...then.range) : new Map<string, number>();
  return addSearchDocuments(indexing, found.ranking, ...found.range, known);
};
