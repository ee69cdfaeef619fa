import { createHash, type Hash } from 'node:crypto';
import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { CatalogBuild } from '../catalog/generation.ts';
import { Ledger, type LedgerEntry } from '../catalog/ledger.ts';
import {
  type RepositoryRow,
  readLongPackages,
  readPackageIdentifiers,
  readPackageRecords,
  readRepositoryRecords,
  readRepositoryRows,
} from '../catalog/reading.ts';
import { decodeFileName } from '../contract/filenames.ts';
import type { Finding } from '../contract/findings.ts';
import { apiRoot, documentPath } from '../contract/paths.ts';
import type { LandingRecord } from '../contract/records.ts';
import {
  emptyPackagesDocument,
  findingsDocuments,
  landingDocument,
  packageDocuments,
  rankingDocuments,
  repositoryDocuments,
} from '../documents/catalog-documents.ts';
import { type Document, documentDigest, documentText, successHead } from '../documents/document.ts';
import { flushFiles } from './flush.ts';
import { OutputFolder, StagedFile } from './output-folder.ts';
import { isSound, readEntry } from './soundness.ts';
import { DocumentWriter } from './writer.ts';

export interface EmissionCount {
  written: number;
  unchanged: number;
  removed: number;
}

export interface EmissionOptions {
  /** The output folder. */
  readonly out: string;
  readonly now: Date;
  /** Package identifiers whose records may have changed since the last emission. */
  readonly touched: ReadonlySet<string>;
  /** Slugs of repositories whose records may have changed. */
  readonly ingested: readonly string[];
  /** Why the last crawl of a repository took nothing, by slug. */
  readonly failures: ReadonlyMap<string, Finding>;
  readonly landing: LandingRecord;
  /** Documents without a date, by path: the descriptions of the API. Asked for when all that they describe is written. */
  readonly texts: () => Promise<ReadonlyMap<string, string>>;
  /** Whether to read every document and compare it with what the ledger says, and not its size alone. */
  readonly verify?: boolean;
  readonly onDocument?: (done: number, total: number) => void;
}

const listOf = documentPath.repositoryPackages;
const listPath = new RegExp(`^${listOf('a').replace('/a/', '/([^/]+)/')}$`);
const packageFolder = path.posix.dirname(documentPath.package('a'));

/** What vanishes, in the order in which it is removed. */
const removalTurns = ['package', 'former slug', 'repository', 'list'] as const;
type RemovalTurn = (typeof removalTurns)[number];

/**
 * Publishes the catalog: writes every document whose content changed or that is missing, and leaves the others as they
 * are, bytes and date. What has vanished stays until `removeVanished`, which comes after the catalog is in force, so
 * that nothing in force ever names a missing file.
 */
export class Emission {
  readonly count: EmissionCount = { written: 0, unchanged: 0, removed: 0 };
  /** How many of those written have the content that they had, and did not stand there as it was written. */
  repaired = 0;
  readonly #catalog: CatalogBuild;
  readonly #options: EmissionOptions;
  readonly #output: OutputFolder;
  readonly #ledger: Ledger;
  readonly #writer: DocumentWriter;
  readonly #expected = new Set<string>();
  readonly #written: string[] = [];

  constructor(catalog: CatalogBuild, options: EmissionOptions) {
    this.#catalog = catalog;
    this.#options = options;
    this.#output = new OutputFolder(options.out);
    this.#output.sweep();
    this.#ledger = new Ledger(catalog);
    this.#writer = new DocumentWriter(options.out);
  }

  /**
   * Writes what changed, each document after those that it names, so that whenever this ends, nothing names a missing
   * file. Package, repository and list name each other in a circle: for a new repository an empty list comes first.
   */
  async write(): Promise<void> {
    try {
      const { database } = this.#catalog;
      const rows = readRepositoryRows(database);
      const missing = new Set(
        rows.map(({ slug }) => slug).filter((slug) => !existsSync(this.#output.resolve(listOf(slug)))),
      );
      for (const slug of missing) this.#writeEmptyList(slug);
      const findings = findingsDocuments(database, rows, this.#options.failures);
      await this.#publishAll([...findings, ...repositoryDocuments(rows)]);
      await this.#writer.finish();
      await this.#publishPackages();
      await this.#writer.finish();
      const ingested = new Set(this.#options.ingested);
      for (const repository of rows) {
        this.#expected.add(listOf(repository.slug));
        this.#publishRepositoryPackages(repository, ingested.has(repository.slug), !missing.has(repository.slug));
      }
      const texts = [...(await this.#options.texts())].map(([file, text]) => ({ path: file, head: text, tail: '' }));
      await this.#publishAll([...rankingDocuments(rows), ...texts, landingDocument(this.#options.landing)]);
      await this.#writer.finish();
    } finally {
      await this.#writer.close();
      this.#output.sweep();
    }
  }

  /** Resolves when all that was written is on the disk; to be called before the catalog, which says so, is. */
  async flush(): Promise<void> {
    const files = this.#written.map((file) => this.#output.resolve(file));
    if (files.length > 0) await flushFiles(this.#output.root, files);
  }

  /** Takes what the catalog no longer has out of the ledger; to be called before the catalog is put in force. */
  forgetVanished(): void {
    for (const file of this.#ledger.paths()) if (!this.#expected.has(file)) this.#ledger.delete(file);
  }

  /** Whether there is anything for `removeVanished` to do. */
  get hasVanished(): boolean {
    return this.#vanished().length > 0;
  }

  /**
   * Removes the files that belong to no document any more, each before those that it names; to be called when the
   * catalog is in force.
   */
  removeVanished(): void {
    const turns = Map.groupBy(this.#vanished(), (file) => this.#removalTurn(file));
    const vanished = removalTurns.flatMap((turn) => turns.get(turn) ?? []);
    for (const file of vanished) {
      const slug = listPath.exec(file)?.[1];
      if (slug !== undefined) this.#writeEmptyList(decodeFileName(slug) ?? slug);
    }
    for (const document of vanished) {
      rmSync(this.#output.resolve(document), { force: true });
      this.count.removed++;
    }
    const folders = new Set(vanished.map((document) => path.dirname(this.#output.resolve(document))));
    for (const folder of folders) removeIfEmpty(folder);
    this.#output.sweep();
  }

  // A list names packages, a package its repository, a former slug the present one, and that its list, which by then
  // names nothing. A former slug has no list of its own.
  #removalTurn(file: string): RemovalTurn {
    if (listPath.test(file)) return 'list';
    if (file.startsWith(`${packageFolder}/`)) return 'package';
    return existsSync(this.#output.resolve(file.replace(/\.json$/, '/packages.json'))) ? 'repository' : 'former slug';
  }

  // Folder by folder: Node's own recursive reading asks the system about each file once more.
  #vanished(folder: string = apiRoot): string[] {
    const directory = this.#output.resolve(folder);
    if (!existsSync(directory)) return [];
    return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
      const document = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return this.#vanished(document);
      return this.#expected.has(document) ? [] : [document];
    });
  }

  #writeEmptyList(slug: string): void {
    const document = emptyPackagesDocument(slug);
    this.#output.write(document.path, documentText(document, this.#options.now.toISOString()));
  }

  async #publishPackages(): Promise<void> {
    const due = new Set<string>();
    let total = 0;
    for (const name of readPackageIdentifiers(this.#catalog.database)) {
      const file = documentPath.package(name);
      this.#expected.add(file);
      total++;
      if (this.#options.touched.has(name) || !this.#isSound(file)) due.add(name);
    }
    this.count.unchanged += total - due.size;
    let done = 0;
    const { size } = due;
    for (const [name, count] of readLongPackages(this.#catalog.database)) {
      if (!due.delete(name)) continue;
      const file = documentPath.package(name);
      this.#publishStream(file, count, readPackageRecords(this.#catalog.database, name));
      this.#options.onDocument?.(++done, size);
    }
    for (const document of packageDocuments(this.#catalog.database, due)) {
      const pause = this.#publish(document);
      if (pause !== undefined) await pause;
      this.#options.onDocument?.(++done, size);
    }
  }

  /** Whether a document stands there as the ledger has it. */
  #isSound(file: string, entry = this.#ledger.get(file)): boolean {
    return entry !== undefined && isSound(this.#output.resolve(file), entry, this.#options.verify === true);
  }

  async #publishAll(documents: readonly Document[]): Promise<void> {
    for (const document of documents) {
      this.#expected.add(document.path);
      const pause = this.#publish(document);
      if (pause !== undefined) await pause;
    }
  }

  /** Writes a document unless the same content stands there already. Returns what to wait for, if anything. */
  #publish(document: Document): Promise<void> | undefined {
    const digest = documentDigest(document);
    const known = this.#ledger.get(document.path) ?? this.#adopt(document, digest);
    const same = known !== undefined && Buffer.compare(known.digest, digest) === 0;
    if (same && this.#isSound(document.path, known)) {
      this.count.unchanged++;
      return undefined;
    }
    const date = same ? known.date : this.#options.now.toISOString();
    const text = this.#text(document, date);
    if (!same) this.#ledger.set(document.path, { digest, date, size: Buffer.byteLength(text) });
    this.#note(document.path);
    if (same) this.repaired++;
    return this.#writer.write({ path: document.path, text });
  }

  #note(file: string): void {
    this.count.written++;
    this.#written.push(file);
  }

  #text(document: Document, date: string): string {
    return document.tail === '' ? document.head : documentText(document, date);
  }

  // Where the ledger is lost and the files are not, a file with the same content keeps its bytes and its date.
  #adopt(document: Document, digest: Uint8Array): LedgerEntry | undefined {
    const file = this.#output.resolve(document.path);
    if (!existsSync(file)) return undefined;
    const { date = this.#options.now.toISOString(), ...found } = readEntry(file);
    if (Buffer.compare(found.digest, digest) !== 0) return undefined;
    const entry = { ...found, date };
    this.#ledger.set(document.path, entry);
    return entry;
  }

  /** The packages document of one repository, which is read again only where it may have changed. */
  #publishRepositoryPackages({ slug, packageCount }: RepositoryRow, ingested: boolean, there: boolean): void {
    const file = listOf(slug);
    const known = this.#ledger.get(file);
    const sound = there && known !== undefined && this.#isSound(file, known);
    if (!ingested && sound) {
      this.count.unchanged++;
      return;
    }
    this.#publishStream(file, packageCount, readRepositoryRecords(this.#catalog.database, slug));
  }

  /** A list document, written as it is composed: a large one never stands in memory whole. */
  #publishStream(file: string, count: number, records: Iterable<string>): void {
    const known = this.#ledger.get(file);
    const sound = this.#isSound(file, known);
    const staged = new StagedFile(this.#output);
    const now = this.#options.now.toISOString();
    const digest = createHash('sha256');
    writeList(staged, digest, now, count, records);
    const entry = { digest: digest.digest().subarray(0, 16), date: now, size: staged.size };
    const there = known === undefined && existsSync(this.#output.resolve(file));
    const found = there ? readEntry(this.#output.resolve(file)) : undefined;
    const before = known ?? (found?.date === undefined ? undefined : { ...found, date: found.date });
    const same = before !== undefined && Buffer.compare(before.digest, entry.digest) === 0;
    if (same) staged.overwrite(successHead.length, Buffer.from(before.date));
    if (same && (sound || known === undefined)) {
      staged.discard();
      this.count.unchanged++;
    } else {
      staged.place(file);
      this.#note(file);
      if (same) this.repaired++;
    }
    if (!same) this.#ledger.set(file, entry);
    else if (known === undefined) this.#ledger.set(file, before);
  }
}

const removeIfEmpty = (folder: string): void => {
  if (readdirSync(folder).length === 0) rmdirSync(folder);
};

const pieceCharacters = 2 ** 20;

/** Writes a list envelope piece by piece, and its content without the date into the digest. */
const writeList = (staged: StagedFile, digest: Hash, date: string, count: number, records: Iterable<string>): void => {
  const append = (text: string) => {
    const bytes = Buffer.from(text);
    digest.update(bytes);
    staged.append(bytes);
  };
  append(successHead);
  staged.append(Buffer.from(date));
  append(`","count":${count},"data":[`);
  let piece = '';
  let first = true;
  for (const record of records) {
    piece += first ? record : `,${record}`;
    first = false;
    if (piece.length < pieceCharacters) continue;
    append(piece);
    piece = '';
  }
  append(`${piece}]}`);
};
