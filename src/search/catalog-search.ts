import type { CatalogDatabase } from '../catalog/database.ts';
import { DependencyReading } from '../catalog/dependency-reading.ts';
import { type KnownVersions, prepareKnownVersions } from '../catalog/known-versions.ts';
import { type LatestPriority, prepareLatest } from '../catalog/latest.ts';
import { ListReading } from '../catalog/list-reading.ts';
import { readPublishedDownloads } from '../catalog/published-downloads.ts';
import type { RecordList, RecordPiece } from '../catalog/record-list.ts';
import { readSlugs } from '../catalog/repository-slugs.ts';
import { SearchReading } from '../catalog/search-reading.ts';
import { readStale } from '../catalog/stale-repositories.ts';
import type { DependencyQuestion } from '../contract/dependency-records.ts';
import { AnswerTooLarge } from '../contract/errors.ts';
import { answerMaximum, type PackageFilter, type PackageOrder } from '../contract/parameters.ts';
import { computeClosure } from '../dependencies/closure.ts';
import { closurePieces } from '../dependencies/closure-text.ts';
import type { Steps } from '../dependencies/work.ts';
import { filterExpression } from './filter.ts';
import { OlderSearch } from './older-search.ts';
import { type Found, type LocatedPage, lastPage, PackageSearch, pageOf, type ResultPage } from './package-search.ts';
import { createPauses } from './pauses.ts';
import { RepositorySearch } from './repository-search.ts';
import { SortedResults } from './sorted-results.ts';

const recordsAtOnce = 32;

/** How many sorted results are kept, each of at most 80 kB. */
const mostLately = 8;

/**
 * Reads the records of these, some at a time. Throws AnswerTooLarge if they exceed the size of an answer, because
 * strangers decide how long a record is.
 */
const readInParts = async <T>(
  all: readonly T[],
  read: (some: readonly T[], isFirst: boolean) => RecordList,
): Promise<RecordList> => {
  const pieces: RecordPiece[] = [];
  let count = 0;
  let size = 0;
  const pause = createPauses();
  for (let start = 0; start < all.length; start += recordsAtOnce) {
    await pause();
    const part = read(all.slice(start, start + recordsAtOnce), start === 0);
    if (part.count === 0) continue;
    if (count > 0) pieces.push(',');
    pieces.push(...part.pieces);
    count += part.count;
    size = part.pieces.reduce((sum, { length }) => sum + length, size);
    if (size > answerMaximum) throw new AnswerTooLarge();
  }
  return { count, pieces };
};

/** Runs a computation in steps to its end, and lets everything else get its turn in between. */
const inTurns = async <T>(steps: Steps<T>): Promise<T> => {
  const pause = createPauses();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    // Most steps end at once, and awaiting nothing would take longer.
    const waiting = pause();
    if (waiting !== undefined) await waiting;
  }
};

/** All questions to one catalog, in any engine. Its statements are prepared once. */
export class CatalogSearch {
  readonly #reading: SearchReading;
  readonly #packages: PackageSearch;
  readonly #repositories: RepositorySearch;
  readonly #lists: ListReading;
  readonly #latest: (names: readonly string[], priority: LatestPriority) => RecordList;
  readonly #known: KnownVersions;
  readonly #slugOf: (slug: string) => string | undefined;
  readonly #stale: readonly string[];
  readonly #sorted: SortedResults;
  /** Recently sorted results, by what was asked: a client that asks for one page asks for the next. */
  readonly #lately = new Map<string, Found>();
  /** The same catalog in the form of addresses from before /v2. */
  readonly older: OlderSearch;
  readonly #dependencies: DependencyReading;

  /** Throws where the catalog cannot be read. */
  constructor(database: CatalogDatabase) {
    this.#reading = new SearchReading(database);
    this.#packages = new PackageSearch(this.#reading);
    this.#slugOf = readSlugs(database);
    this.#stale = readStale(database);
    this.#sorted = new SortedResults(this.#reading, () =>
      readPublishedDownloads(database).map(({ package_id: id, total }) => [id, total]),
    );
    this.#repositories = new RepositorySearch(database);
    this.#lists = new ListReading(database);
    this.#latest = prepareLatest(database);
    this.#known = prepareKnownVersions(database);
    this.older = new OlderSearch(database, this.#packages, this.#repositories);
    this.#dependencies = new DependencyReading(database);
  }

  /** One page of package records. PackageSearch describes the default order. */
  async searchPackages(
    q: string,
    limit: number,
    page: number,
    filter: PackageFilter = {},
    order?: PackageOrder,
  ): Promise<ResultPage> {
    const within = filterExpression(filter, {
      slugOf: this.#slugOf,
      stale: this.#stale,
      isKnown: (one) => this.#reading.match(one, 1).length > 0,
    });
    const packages =
      within === undefined ? this.#packages : new PackageSearch(new SearchReading(this.#reading, within));
    const located =
      order === undefined
        ? packages.locate(q, limit, page)
        : await this.#locateIn(packages, { order, within, q, limit, page });
    const { ids, ...rest } = located;
    const isBeginning = page === 1 && order === undefined;
    return {
      ...rest,
      records: await readInParts(ids, (some, isFirst) => packages.read(some, isFirst && isBeginning)),
    };
  }

  async #locateIn(
    packages: PackageSearch,
    {
      page,
      ...asked
    }: { order: NonNullable<PackageOrder>; within?: string | undefined; q: string; limit: number; page: number },
  ): Promise<LocatedPage> {
    const { order, q, limit } = asked;
    const key = JSON.stringify(asked);
    const found = this.#lately.get(key) ?? (await inTurns(this.#sorted.sort(packages.locateAll(q, limit), order)));
    this.#lately.delete(key);
    this.#lately.set(key, found);
    for (const oldest of this.#lately.keys()) {
      if (this.#lately.size <= mostLately) break;
      this.#lately.delete(oldest);
    }
    return pageOf(found, limit, page);
  }

  /** One page of repository records. */
  async searchRepositories(q: string, limit: number, page: number): Promise<ResultPage> {
    return this.#repositories.find(q, limit, page);
  }

  /** One page of the list of a repository; undefined if there is no such repository. */
  async repositoryPackages(slug: string, limit: number, page: number): Promise<ResultPage | undefined> {
    const located = this.#lists.locate(slug, (page - 1) * limit, limit);
    if (located === undefined) return undefined;
    const { ids, total } = located;
    const records = await readInParts(ids, (some) => this.#lists.records(some));
    return { records, more: page * limit < total, last: lastPage(total, limit) };
  }

  /** The latest record of each known identifier, in the given order. */
  async latest(ids: readonly string[], priority: LatestPriority): Promise<RecordList> {
    return readInParts(ids, (some) => this.#latest(some, priority));
  }

  /** Those of these versions that are indexed. */
  async known<T extends { readonly package_id: string; readonly package_version: string }>(
    versions: readonly T[],
  ): Promise<T[]> {
    const indexed = new Map<string, ReadonlySet<string>>();
    for (const { package_id: id } of versions) if (!indexed.has(id)) indexed.set(id, this.#known.versionsOf(id));
    return versions.filter(({ package_id, package_version }) => indexed.get(package_id)?.has(package_version));
  }

  /** Whether any version of this package is indexed. */
  async knows(id: string): Promise<boolean> {
    return this.#known.hasPackage(id);
  }

  /** What installing a package brings, as pieces of JSON text; undefined if no version of it is indexed. */
  async dependencies(question: DependencyQuestion): Promise<string[] | undefined> {
    if (!this.#known.hasPackage(question.packageId)) return undefined;
    return inTurns(closurePieces(await inTurns(computeClosure(this.#dependencies, question))));
  }

  /** Whether the index answers a question. Throws if it does not. */
  async probe(): Promise<boolean> {
    this.#packages.find('probe', 1, 1);
    return true;
  }
}
