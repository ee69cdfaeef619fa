import { hash } from 'node:crypto';
import { splitClearSigned } from '../apt/clearsigned.ts';
import { decompress } from '../apt/decompress.ts';
import { type PackageStanza, parsePackage } from '../apt/packages.ts';
import { parseRelease, type ReleaseFile } from '../apt/release.ts';
import { createStanzaReader, type Stanza } from '../apt/stanza.ts';
import { compareVersions } from '../apt/version.ts';
import { FindingCounter } from '../contract/findings.ts';
import type { ManifestEntry } from '../contract/manifest.ts';
import type { Snapshot } from '../snapshots/snapshot.ts';
import type { CatalogDatabase, WritableDatabase } from './database.ts';
import { computeDetails, computeRecordJson, withoutLatest } from './record.ts';
import { findRepository } from './record-range.ts';
import { computeEmbeddedRepository, computeRepositoryRecord } from './repository.ts';
import { catalogFormat, endRecordId, firstRecordId } from './schema.ts';
import { addSearchDocuments, removeSearchDocuments } from './search-index.ts';

/** What was read of one repository. stanzas = records + those that findings say were left out. */
export interface IngestCount {
  readonly stanzas: number;
  readonly records: number;
}

/** The verified bytes of a snapshot's files. */
export interface SnapshotContent {
  readonly release: Uint8Array;
  readonly packages: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** What a repository's rows are computed from; while its digest stays the same the rows do too. */
export const computeSource = (entry: ManifestEntry, snapshot: Snapshot, base: string): string => {
  const { release, packages, hasInRelease, hasReleaseGpg, paymentEndpoint, changedAt, findings, signing } = snapshot;
  const files = [release.path, release.sha256, packages.path, packages.sha256];
  const origin = [hasInRelease, hasReleaseGpg, paymentEndpoint, changedAt, findings, signing.state, signing.signers];
  return hash('sha256', JSON.stringify([catalogFormat, base, entry, files, origin]));
};

// An index made of a hundred thousand different sections would repeat them all in each of its records.
const mostSections = 500;

const indexLimits = { maxBytes: 4 * 2 ** 30, maxRatio: Number.POSITIVE_INFINITY };

/** Removes a repository and all its rows; returns the package identifiers it held. */
export const removeRepository = (database: WritableDatabase, slug: string): string[] => {
  const found = findRepository(database, slug);
  if (found === undefined) return [];
  const { id, range } = found;
  const packages = database
    .prepare<[string]>('SELECT DISTINCT package FROM record WHERE id >= ? AND id < ?')
    .all(...range);
  removeSearchDocuments(database, ...range);
  database.prepareWrite('DELETE FROM record WHERE id >= ? AND id < ?').run(...range);
  database.prepareWrite('DELETE FROM finding WHERE repository = ?').run(id);
  database.prepareWrite('DELETE FROM repository WHERE id = ?').run(id);
  return packages.flat();
};

/** When each record of a repository was first seen, by package, version and architecture. */
const readFirstSeen = (database: CatalogDatabase, slug: string): Map<string, string> => {
  const rows = database
    .prepare<[name: string, version: string, architecture: string, firstSeen: string]>(
      `SELECT record.package, record.version, record.architecture, record.first_seen
       FROM repository JOIN record ON record.repository = repository.id WHERE repository.slug = ?`,
    )
    .iterate(slug);
  const seen = new Map<string, string>();
  for (const [name, version, architecture, firstSeen] of rows) {
    seen.set(`${name}\n${version}\n${architecture}`, firstSeen);
  }
  return seen;
};

/** A copy that does not keep the text alive which it was cut from: the reader hands out pieces of large buffers. */
const detached = (text: string): string => Buffer.from(text).toString();

/**
 * Reads the stanzas of one index and writes a row for each, in the order of the index. The rows are complete when
 * `finish` has run: a later stanza may replace an earlier one or take "latest" from it.
 */
class RecordWriter {
  readonly findings = new FindingCounter();
  readonly sections = new Set<string>();
  readonly packages = new Set<string>();
  stanzas = 0;
  records = 0;

  readonly #entry: ManifestEntry;
  readonly #base: string;
  readonly #repository: number;
  readonly #firstSeen: ReadonlyMap<string, string>;
  readonly #now: string;
  readonly #insert;
  readonly #demote;
  readonly #rowOf = new Map<string, number>();
  readonly #newest = new Map<string, { version: string; row: number }>();
  #nextRow: number;
  readonly #endRow: number;

  constructor(
    database: WritableDatabase,
    entry: ManifestEntry,
    base: string,
    repository: number,
    firstSeen: ReadonlyMap<string, string>,
    now: string,
  ) {
    this.#entry = entry;
    this.#base = base;
    this.#repository = repository;
    this.#firstSeen = firstSeen;
    this.#now = now;
    this.#nextRow = firstRecordId(entry.ranking, repository);
    this.#endRow = endRecordId(entry.ranking, repository);
    this.#insert = database.prepareWrite(
      `INSERT OR REPLACE INTO record
         (id, repository, package, version, architecture, latest, name, author, section, first_seen, json, details)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    const read = database.prepare<[string]>('SELECT json FROM record WHERE id = ?');
    const write = database.prepareWrite('UPDATE record SET latest = 0, json = ? WHERE id = ?');
    this.#demote = (row: number) => {
      const [json = ''] = read.get(row) ?? [];
      write.run(withoutLatest(json), row);
    };
  }

  write(stanza: PackageStanza): void {
    const { package: name, version, architecture } = stanza;
    const key = `${name}\n${version}\n${architecture}`;
    let row = this.#rowOf.get(key);
    if (row === undefined) {
      if (this.#nextRow >= this.#endRow) {
        this.findings.add('records-too-many', key.replaceAll('\n', ' '));
        return;
      }
      row = this.#nextRow++;
      this.#rowOf.set(key, row);
      this.records++;
    } else {
      this.findings.add('stanza-duplicate', key.replaceAll('\n', ' '));
    }
    const latest = this.#takeLatest(`${name}\n${architecture}`, version, row);
    if (!this.packages.has(name)) this.packages.add(detached(name));
    if (stanza.section !== null) this.#addSection(stanza.section);
    this.#insert.run(
      row,
      this.#repository,
      name,
      version,
      architecture,
      latest ? 1 : 0,
      stanza.name,
      stanza.author,
      stanza.section,
      this.#firstSeen.get(key) ?? this.#now,
      computeRecordJson(this.#entry, stanza, latest, this.#base),
      computeDetails(stanza),
    );
  }

  /** Whether this version is the newest of its package and architecture so far; the one it overtakes loses the mark. */
  #takeLatest(key: string, version: string, row: number): boolean {
    const newest = this.#newest.get(key);
    if (newest === undefined) {
      this.#newest.set(key, { version: detached(version), row });
      return true;
    }
    if (newest.row === row) return true;
    // Two spellings of one version (1.0 and 0:1.0) are equal: the first one keeps the mark, so exactly one has it.
    if (compareVersions(version, newest.version) <= 0) return false;
    this.#demote(newest.row);
    newest.version = detached(version);
    newest.row = row;
    return true;
  }

  #addSection(section: string): void {
    if (this.sections.has(section)) return;
    if (this.sections.size < mostSections) this.sections.add(detached(section));
    else this.findings.add('sections-too-many', section);
  }
}

/** A stanza in a few words, for a finding's example. */
const describe = (fields: Stanza): string =>
  ['package', 'version', 'architecture'].map((name) => fields.get(name) ?? `no ${name}`).join(' ');

const readRelease = (bytes: Uint8Array): ReleaseFile => {
  const split = splitClearSigned(bytes);
  return parseRelease(split.kind === 'signed' ? split.content : bytes);
};

/**
 * Replaces the rows of one repository by those of its snapshot and returns what was read and which package identifiers
 * it held before or holds now. `now` is the first-seen time of records that were not there before.
 *
 * @throws DecompressionError where the index cannot be decompressed, which the crawl has made sure it can
 */
export const ingestRepository = async (
  database: WritableDatabase,
  entry: ManifestEntry,
  snapshot: Snapshot,
  files: SnapshotContent,
  options: { readonly base: string; readonly now: string; readonly source: string },
): Promise<IngestCount & { readonly touched: Set<string> }> => {
  const release = readRelease(files.release);
  const firstSeen = readFirstSeen(database, entry.slug);
  const before = database
    .prepare<[id: number, addedAt: string]>('SELECT id, added_at FROM repository WHERE slug = ?')
    .get(entry.slug);
  const touched = new Set(removeRepository(database, entry.slug));
  // A repository keeps its number, so that equal input gives an equal catalog whatever was built before.
  const [id = 1] = before ?? database.prepare<[number]>('SELECT coalesce(max(id), 0) + 1 FROM repository').get() ?? [];

  const writer = new RecordWriter(database, entry, options.base, id, firstSeen, options.now);
  const reader = createStanzaReader({
    stanza: (fields) => {
      writer.stanzas++;
      const parsed = parsePackage(fields);
      if (parsed.ok) {
        writer.write(parsed.value);
        for (const code of parsed.findings) writer.findings.add(code, describe(fields));
      } else {
        writer.findings.add(parsed.finding, describe(fields));
      }
    },
    finding: (code, detail) => {
      // A stanza too large to be read was there all the same: it counts, and the finding says where it went.
      if (code === 'stanza-oversized') writer.stanzas++;
      writer.findings.add(code, detail);
    },
  });
  for await (const chunk of decompress(files.packages, snapshot.packages.compression, indexLimits)) reader.write(chunk);
  reader.end();

  const record = computeRepositoryRecord(
    entry,
    snapshot,
    release,
    { count: writer.records, sections: writer.sections },
    options.base,
  );
  database
    .prepareWrite(
      `INSERT INTO repository (id, slug, source, ranking, bootstrap, uri, suite, aliases, package_count, stanzas,
         added_at, changed_at, signing, record, embedded)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      id,
      entry.slug,
      options.source,
      entry.ranking,
      entry.bootstrap ? 1 : 0,
      entry.uri,
      entry.suite,
      JSON.stringify(entry.aliases),
      writer.records,
      writer.stanzas,
      before?.[1] ?? options.now,
      snapshot.changedAt,
      JSON.stringify({ state: snapshot.signing.state, signers: snapshot.signing.signers }),
      JSON.stringify(record),
      JSON.stringify(computeEmbeddedRepository(record)),
    );
  const addFinding = database.prepareWrite(
    'INSERT INTO finding (repository, code, count, example) VALUES (?, ?, ?, ?)',
  );
  writer.findings.addAll(snapshot.findings);
  for (const { code, count, example } of writer.findings.list()) addFinding.run(id, code, count, example);

  for (const name of writer.packages) touched.add(name);
  return { stanzas: writer.stanzas, records: writer.records, touched };
};

/** Indexes the records of an ingested repository for search; returns how many. */
export const indexRepository = async (database: WritableDatabase, slug: string): Promise<number> => {
  const found = findRepository(database, slug);
  return found === undefined ? 0 : addSearchDocuments(database, found.ranking, ...found.range);
};
