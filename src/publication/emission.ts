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
import type { Finding } from '../contract/findings.ts';
import { tellsOfGenerations } from '../contract/generation.ts';
import { apiRoot, documentPath, packageFolder } from '../contract/paths.ts';
import type { DownloadTotal, LandingRecord } from '../contract/records.ts';
import type { Document } from '../documents/document.ts';
import { documents, findingsDocuments, rankingDocuments, repositoryDocuments } from '../documents/documents.ts';
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
  /** Package identifiers whose records may have changed since the last emission. */
  readonly touched: ReadonlySet<string>;
  /** Slugs of repositories whose records may have changed. */
  readonly ingested: readonly string[];
  /** Why the last crawl of a repository took nothing, by slug. */
  readonly failures: ReadonlyMap<string, Finding>;
  readonly landing: LandingRecord;
  /** How often packages were downloaded, in the order in which that is told; nothing was counted unless told otherwise. */
  readonly downloads?: readonly DownloadTotal[];
  /** The documents without a date, which describe the API. Asked for when all that they describe is written. */
  readonly descriptions: () => Promise<readonly Document[]>;
  /** Paths below the API's root that others publish: what stands there is not removed. */
  readonly beside?: readonly string[];
  /** Whether to read every document and compare it with what the ledger says, and not its size alone. */
  readonly verify?: boolean;
  /** How the folder of the packages' documents looked after the build before, where that is known. */
  readonly folder?: FolderNote;
  readonly onDocument?: (done: number, total: number) => void;
  /** Given where nobody waits for it any more. */
  readonly signal?: AbortSignal;
}

const listOf = documentPath.repositoryPackages;
const listPath = new RegExp(`^${listOf('a').replace('/a/', '/([^/]+)/')}$`);
const repositoryPath = new RegExp(`^${documentPath.repository('a').replace('a.json', '([^/]+)\\.json')}$`);

/** After so many records of a list other work gets its turn: a large list takes seconds. */
const turn = 1024;

/** What vanishes, in the order in which it is removed. */
const removalTurns = ['page', 'package', 'former slug', 'repository', 'list'] as const;
type RemovalTurn = (typeof removalTurns)[number];

/**
 * Publishes the catalog: writes every document whose content changed or that is missing, and leaves the others as they
 * are, bytes and date. What has vanished stays until `removeVanished`, which comes after the catalog is in force, so
 * that nothing in force ever names a missing file.
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

  /** The paths of all documents but those that are `standing`, which did not change. */
  *files(): Generator<string> {
    yield* this.#expected;
    yield* this.#packages.files;
  }

  /** The documents that stand as the generation before tells of them, and were not gone through; undefined where all were. */
  get standing(): StandingFiles | undefined {
    return this.#packages.standing;
  }

  /** How many of those written have the content that they had, and did not stand there as it was written. */
  get repaired(): number {
    return this.#publisher.repaired;
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
        rows.map(({ slug }) => slug).filter((slug) => this.#output.lookUp(listOf(slug)) === undefined),
      );
      for (const slug of missing) this.#publisher.placeInAdvance(documents.repositoryPackages(slug, []));
      const findings = findingsDocuments(readRepositoryFindings(database), rows, this.#options.failures);
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

  /** Takes what the catalog no longer has out of the ledger; to be called before the catalog is put in force. */
  forgetVanished(): void {
    const { ledger } = this.#publisher;
    // All that are expected are in it, but for those that others publish: where it has no more, none of it has vanished.
    const { standing, files } = this.#packages;
    const own = this.#expected.size - (this.#options.beside ?? []).length;
    if (ledger.count === own + files.size + (standing?.count ?? 0)) return;
    const isKnown = (file: string) => this.#expected.has(file) || files.has(file) || standing?.has(file) === true;
    for (const file of ledger.pathsThat((one) => !isKnown(one))) ledger.delete(file);
  }

  /** Whether there is anything for `removeVanished` to do. */
  get hasVanished(): boolean {
    return this.#vanished.length > 0;
  }

  /**
   * Removes the files that belong to no document any more, each before those that it names; to be called when the
   * catalog is in force.
   */
  removeVanished(): void {
    const turns = Map.groupBy(this.#vanished, (file) => this.#removalTurn(file));
    const vanished = removalTurns.flatMap((turn) => turns.get(turn) ?? []);
    for (const file of vanished) {
      const page = parsePagePath(file);
      // Pages name each other, so none of them may name anything when the first goes.
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

  /** Notes how the folder of the packages' documents looks, for the build after; to be called at the very end. */
  noteFolder(): void {
    this.#packages.noteFolder();
  }

  // A page names packages, a package its repository, a former slug the present one, and that its list, which by then
  // names nothing. A former slug has no list of its own.
  #removalTurn(file: string): RemovalTurn {
    if (parsePagePath(file) !== undefined) return 'page';
    if (listPath.test(file)) return 'list';
    if (file.startsWith(`${packageFolder}/`)) return 'package';
    const slug = decodeFileName(repositoryPath.exec(file)?.[1] ?? '');
    return slug !== undefined && existsSync(this.#output.resolve(listOf(slug))) ? 'repository' : 'former slug';
  }

  // Asked for more than once when all is written, after which nothing comes that is not expected.
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
      (folder) => known !== undefined && folder === packageFolder,
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

  /** What differs between repositories, which takes all packages to tell: only where any of them may have changed. */
  #compared(): readonly Document[] {
    const file = documentPath.divergences;
    if (this.#options.touched.size > 0 || !this.#publisher.isSound(file)) {
      return [documents.divergences(readDivergences(this.#catalog.database))];
    }
    this.#expected.add(file);
    this.#publisher.count.unchanged++;
    return [];
  }

  /** The list of one repository, whole and in pages, which is read again only where it may have changed. */
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

  /** Passes on records of which each page is written on the way, so that they are read once. */
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

  // Stands for a page until that can stand there, or is gone.
  #placeEmptyPage(slug: string, page: number): void {
    this.#publisher.placeInAdvance(documents.repositoryPackagesPage(slug, page, [], {}));
  }
}
