import { existsSync, rmSync } from 'node:fs';
import { readDivergences } from '../catalog/divergence-reading.ts';
import {
  type RepositoryRow,
  readRepositoryFindings,
  readRepositoryRecords,
  readRepositoryRows,
} from '../catalog/reading.ts';
import type { CatalogBuild } from '../catalog/state-catalog.ts';
import { decodeFileName, decodeFolderName } from '../contract/filenames.ts';
import type { Failure } from '../contract/findings.ts';
import { tellsOfGenerations } from '../contract/generation.ts';
import { apiRoot, documentPath, packagesFolder } from '../contract/paths.ts';
import type { DownloadTotal, LandingRecord } from '../contract/records.ts';
import type { Document } from '../documents/document.ts';
import {
  documents,
  findingsDocuments,
  rankingDocuments,
  repositoryDocuments,
  type SeenSince,
} from '../documents/documents.ts';
import { linksOf, pagesOf, parsePagePath, recordsOn } from '../documents/list-pages.ts';
import { DocumentPublisher, type OpenList } from './document-publisher.ts';
import { walkFiles } from './folder-entries.ts';
import type { FolderNote } from './folder-note.ts';
import type { StandingFiles } from './generation.ts';
import type { OutputFolder } from './output-folder.ts';
import { PackageDocuments } from './package-documents.ts';

export interface EmissionCount {
  written: number;
  unchanged: number;
  removed: number;
}

export interface EmissionOptions {
  readonly output: OutputFolder;
  readonly now: Date;
  /** Identifiers of packages whose records may have changed since the last emission. */
  readonly touched: ReadonlySet<string>;
  /** Slugs of repositories whose records may have changed. */
  readonly ingested: readonly string[];
  /** Why the last crawl of a repository took nothing, by slug. */
  readonly failures: ReadonlyMap<string, Failure>;
  /** Since when builds have found what is wrong with repositories; not known by default. */
  readonly seenSince?: SeenSince;
  readonly landing: LandingRecord;
  /** How often packages were downloaded, in the order of the list; empty by default. */
  readonly downloads?: readonly DownloadTotal[];
  /** The undated documents that describe the API. Requested when everything that they describe is written. */
  readonly descriptions: () => Promise<readonly Document[]>;
  /** Paths below the API's root that others publish, and that are not removed. */
  readonly beside?: readonly string[];
  /** Whether to read every document and compare it with the ledger, rather than only its size. */
  readonly verify?: boolean;
  /** The state of the folder of the packages' documents after the last build, if known. */
  readonly folder?: FolderNote;
  readonly onDocument?: (done: number, total: number) => void;
  /** Aborted when nobody waits for the result any more. */
  readonly signal?: AbortSignal;
}

const listOf = documentPath.repositoryPackages;
const listPath = new RegExp(`^${listOf('a').replace('/a/', '/([^/]+)/')}$`);
const repositoryPath = new RegExp(`^${documentPath.repository('a').replace('a.json', '([^/]+)\\.json')}$`);

/** After this many records of a list other work gets its turn, because a large list takes seconds. */
const turn = 1024;

/** What may vanish, in the order in which it is removed. */
const removalTurns = ['page', 'package', 'former slug', 'repository', 'list'] as const;
type RemovalTurn = (typeof removalTurns)[number];

/**
 * Publishes the catalog: writes every document whose content changed or whose file is missing, and leaves the others
 * with their bytes and date. Vanished documents stay until `removeVanished`, which is called when the catalog is in
 * force, so that nothing in force ever names a missing file.
 */
export class Emission {
  readonly #catalog: CatalogBuild;
  readonly #options: EmissionOptions;
  readonly #output: OutputFolder;
  readonly #publisher: DocumentPublisher;
  readonly #expected = new Set<string>();
  #removed = 0;
  readonly #packages: PackageDocuments;
  #found: readonly string[] | undefined;

  constructor(catalog: CatalogBuild, options: EmissionOptions) {
    const { output, now, verify = false } = options;
    this.#catalog = catalog;
    this.#options = options;
    this.#output = output;
    for (const file of options.beside ?? []) this.#expected.add(file);
    output.sweep();
    this.#publisher = new DocumentPublisher(catalog, output, now, verify);
    const { touched, folder, onDocument, signal } = options;
    this.#packages = new PackageDocuments(output, this.#publisher, { catalog, touched, folder, onDocument, signal });
  }

  get count(): EmissionCount {
    return { ...this.#publisher.count, removed: this.#removed };
  }

  /** The paths of all documents except the unchanged ones in `standing`. */
  *files(): Generator<string> {
    yield* this.#expected;
    yield* this.#packages.files;
  }

  /**
   * The documents that are unchanged since the last generation and were not examined one by one; undefined if all were.
   */
  get standing(): StandingFiles | undefined {
    return this.#packages.standing;
  }

  /** How many of the written documents had unchanged content but a missing or damaged file. */
  get repaired(): number {
    return this.#publisher.repaired;
  }

  /**
   * Writes what changed, each document after those that it names, so that whenever this ends, nothing names a missing
   * file. Package, repository and list name each other in a circle, so for a new repository an empty list is written
   * first.
   */
  async write(): Promise<void> {
    try {
      const { database } = this.#catalog;
      const rows = readRepositoryRows(database);
      const missing = new Set(
        rows.map(({ slug }) => slug).filter((slug) => this.#output.lookUp(listOf(slug)) === undefined),
      );
      for (const slug of missing) this.#publisher.placeInAdvance(documents.repositoryPackages(slug, []));
      const { failures, seenSince } = this.#options;
      const findings = findingsDocuments(readRepositoryFindings(database), rows, failures, seenSince);
      await this.#publishAll([...findings, ...repositoryDocuments(rows)]);
      await this.#publisher.finish();
      await this.#packages.write();
      await this.#publisher.finish();
      const ingested = new Set(this.#options.ingested);
      for (const repository of rows) {
        await this.#publishLists(repository, ingested.has(repository.slug), !missing.has(repository.slug));
      }
      const descriptions = await this.#options.descriptions();
      const { landing, downloads = [] } = this.#options;
      const others = [documents.downloads(downloads), ...descriptions, documents.landing(landing)];
      await this.#publishAll([...rankingDocuments(rows), ...this.#compared(), ...others]);
      await this.#publisher.finish();
    } finally {
      await this.#publisher.close();
      this.#output.sweep();
    }
  }

  /** Removes from the ledger what the catalog no longer has. To be called before the catalog comes into force. */
  forgetVanished(): void {
    const { ledger } = this.#publisher;
    // The ledger has all expected documents, except those that others publish. If it has no more than that, nothing has
    // vanished.
    const { standing, files } = this.#packages;
    const own = this.#expected.size - (this.#options.beside ?? []).length;
    if (ledger.count === own + files.size + (standing?.count ?? 0)) return;
    const isKnown = (file: string) => this.#expected.has(file) || files.has(file) || standing?.has(file) === true;
    for (const file of ledger.pathsThat((one) => !isKnown(one))) ledger.delete(file);
  }

  /** Whether `removeVanished` has anything to do. */
  get hasVanished(): boolean {
    return this.#vanished.length > 0;
  }

  /**
   * Removes the files that belong to no document any more, each before those that it names. To be called when the
   * catalog is in force.
   */
  removeVanished(): void {
    const turns = Map.groupBy(this.#vanished, (file) => this.#removalTurn(file));
    const vanished = removalTurns.flatMap((turn) => turns.get(turn) ?? []);
    for (const file of vanished) {
      const page = parsePagePath(file);
      // Pages name each other, so all of them must be empty before the first is removed.
      if (page !== undefined) this.#placeEmptyPage(page.slug, page.page);
      const slug = listPath.exec(file)?.[1];
      if (slug === undefined) continue;
      this.#publisher.placeInAdvance(documents.repositoryPackages(decodeFolderName(slug) ?? slug, []));
    }
    for (const document of vanished) rmSync(this.#output.resolve(document), { force: true });
    this.#removed += vanished.length;
    this.#found = [];
    const standing = this.#packages.standing;
    this.#output.prune(apiRoot, (file) => this.#isPart(file) || standing?.has(file) === true);
    this.#output.sweep();
  }

  /** Records the state of the folder of the packages' documents for the next build. To be called at the very end. */
  noteFolder(): void {
    this.#packages.noteFolder();
  }

  // A page names packages, a package its repository, a former slug the present one, and that its list, which by then
  // names nothing. A former slug has no list of its own.
  #removalTurn(file: string): RemovalTurn {
    if (parsePagePath(file) !== undefined) return 'page';
    if (listPath.test(file)) return 'list';
    if (file.startsWith(`${packagesFolder}/`)) return 'package';
    const slug = decodeFileName(repositoryPath.exec(file)?.[1] ?? '');
    return slug !== undefined && existsSync(this.#output.resolve(listOf(slug))) ? 'repository' : 'former slug';
  }

  // Needed more than once when all is written. After that nothing unexpected is added.
  get #vanished(): readonly string[] {
    this.#found ??= this.#findVanished();
    return this.#found;
  }

  #isPart(file: string): boolean {
    const isOwn = [this.#expected, this.#packages.files].some((files) => this.#output.isPart(file, files));
    return isOwn || tellsOfGenerations(file);
  }

  #findVanished(): string[] {
    if (!existsSync(this.#output.resolve(apiRoot))) return [];
    const vanished: string[] = [];
    const known = this.#packages.findVanished();
    for (const file of walkFiles(
      this.#output.root,
      apiRoot,
      (folder) => known !== undefined && folder === packagesFolder,
    )) {
      if (!this.#isPart(file)) vanished.push(file);
    }
    return [...vanished, ...(known ?? [])].sort();
  }

  async #publishAll(composed: readonly Document[]): Promise<void> {
    for (const document of composed) {
      this.#options.signal?.throwIfAborted();
      this.#expected.add(document.path);
      const pause = this.#publisher.publish(document);
      if (pause !== undefined) await pause;
    }
  }

  /** The divergences, which need all packages. They are only computed if they may have changed. */
  #compared(): readonly Document[] {
    const file = documentPath.divergences;
    if (this.#options.touched.size > 0 || !this.#publisher.isSound(file)) {
      return [documents.divergences(readDivergences(this.#catalog.database))];
    }
    this.#expected.add(file);
    this.#publisher.count.unchanged++;
    return [];
  }

  /** The list of one repository, whole and in pages. It is only read again if it may have changed. */
  async #publishLists({ slug, packageCount, record }: RepositoryRow, ingested: boolean, there: boolean): Promise<void> {
    const pages = pagesOf(packageCount);
    const numbers = Array.from({ length: pages }, (_, index) => index + 1);
    const files = [listOf(slug), ...numbers.map((page) => documentPath.repositoryPackagesPage(slug, page))];
    for (const file of files) this.#expected.add(file);
    if (!ingested && there && files.every((file) => this.#publisher.isSound(file))) {
      this.#publisher.count.unchanged += files.length;
      return;
    }
    for (const page of numbers) {
      const file = documentPath.repositoryPackagesPage(slug, page);
      if (this.#output.lookUp(file) === undefined) this.#placeEmptyPage(slug, page);
    }
    const records = readRepositoryRecords(this.#catalog.database, slug);
    const whole = this.#publisher.openList(listOf(slug), packageCount);
    const passed = pages === 0 ? records : this.#inPages(slug, record, packageCount, records);
    let appended = 0;
    for (const one of passed) {
      whole.append(one);
      if (++appended % turn !== 0) continue;
      await new Promise((resolve) => setImmediate(resolve));
      this.#options.signal?.throwIfAborted();
    }
    whole.finish();
  }

  /** Passes records on and writes each page on the way, so that they are read once. */
  *#inPages(slug: string, record: string, count: number, records: Iterable<string>): Generator<string> {
    const pages = pagesOf(count);
    let page = 0;
    let list: OpenList | undefined;
    let left = 0;
    for (const one of records) {
      if (left === 0) {
        page++;
        left = recordsOn(page, count);
        const file = documentPath.repositoryPackagesPage(slug, page);
        list = this.#publisher.openList(file, left, linksOf(record, page, pages));
      }
      list?.append(one);
      if (--left === 0) list?.finish();
      yield one;
    }
  }

  // Stands in for a page until that can be written, or is removed.
  #placeEmptyPage(slug: string, page: number): void {
    this.#publisher.placeInAdvance(documents.repositoryPackagesPage(slug, page, [], {}));
  }
}
