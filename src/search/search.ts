import { existsSync, statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { catalogPath } from '../catalog/generation.ts';
import { type KnownVersions, prepareKnownVersions } from '../catalog/known-versions.ts';
import { type LatestPriority, prepareLatest } from '../catalog/latest.ts';
import { CatalogFile } from '../catalog/node-sqlite.ts';
import type { RecordList, RecordPiece } from '../catalog/record-list.ts';
import { SearchReading } from '../catalog/search-reading.ts';
import { AnswerTooLarge } from '../contract/errors.ts';
import { answerMaximum } from '../contract/parameters.ts';
import { PackageSearch, type ResultPage } from './package-search.ts';
import { RepositorySearch } from './repository-search.ts';

/** So many records are read at once, and how long, in milliseconds, before everything else gets its turn (H7). */
const recordsAtOnce = 32;
const longestReading = 4;

/** One generation of the catalog, opened read-only, with its statements prepared. */
class Generation {
  readonly identity: string;
  readonly packages: PackageSearch;
  readonly repositories: RepositorySearch;
  readonly latest: (names: readonly string[], priority: LatestPriority) => RecordList;
  readonly known: KnownVersions;
  readonly #database: CatalogFile;
  #readers = 0;
  #isOver = false;

  constructor(file: string) {
    this.identity = identityOf(file);
    this.#database = CatalogFile.openReadOnly(file);
    try {
      // The kernel keeps the file in memory once for all processes. Mapping it would save a tenth of the time and
      // count all of it as this process's own.
      this.#database.exec('PRAGMA cache_size = -4096; PRAGMA query_only = 1');
      this.packages = new PackageSearch(new SearchReading(this.#database));
      this.repositories = new RepositorySearch(this.#database);
      this.latest = prepareLatest(this.#database);
      this.known = prepareKnownVersions(this.#database);
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Keeps this generation open for as long as it is read, whatever comes in force meanwhile. */
  async hold<T>(read: () => Promise<T>): Promise<T> {
    this.#readers++;
    try {
      return await read();
    } finally {
      this.#readers--;
      if (this.#isOver && this.#readers === 0) this.#database.close();
    }
  }

  /** Closes the file, once its readers are done. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#readers === 0) this.#database.close();
  }
}

/**
 * The records of these, read some at a time. Throws AnswerTooLarge where they are more than one answer holds: strangers
 * choose how long a record is.
 */
const readInParts = async <T>(all: readonly T[], read: (some: readonly T[]) => RecordList): Promise<RecordList> => {
  const pieces: RecordPiece[] = [];
  let count = 0;
  let size = 0;
  let began = performance.now();
  for (let start = 0; start < all.length; start += recordsAtOnce) {
    if (performance.now() - began > longestReading) {
      await nextTurn();
      began = performance.now();
    }
    const part = read(all.slice(start, start + recordsAtOnce));
    if (part.count === 0) continue;
    if (count > 0) pieces.push(',');
    pieces.push(...part.pieces);
    count += part.count;
    size = part.pieces.reduce((sum, { length }) => sum + length, size);
    if (size > answerMaximum) throw new AnswerTooLarge();
  }
  return { count, pieces };
};

// A new generation takes the name of the one before: what tells them apart is the file behind the name.
const identityOf = (file: string): string => {
  const { dev, ino, mtimeMs } = statSync(file);
  return `${dev}:${ino}:${mtimeMs}`;
};

/**
 * The search index of a state folder. Every method answers from the catalog in force; `refresh` takes up a new one.
 * Methods reject where there is no catalog or it cannot be read. What is read in parts is of one generation throughout.
 */
export class CatalogSearch {
  readonly #file: string;
  #generation: Generation | undefined;

  constructor(state: string) {
    this.#file = catalogPath(state);
  }

  /** One page of package records; see PackageSearch for the order. */
  async searchPackages(q: string, limit: number, page: number): Promise<ResultPage> {
    const generation = this.#current();
    return generation.hold(async () => {
      const { ids, more } = generation.packages.locate(q, limit, page);
      return { records: await readInParts(ids, (some) => generation.packages.read(some)), more };
    });
  }

  /** One page of repository records. */
  async searchRepositories(q: string, limit: number, page: number): Promise<ResultPage> {
    return this.#current().repositories.find(q, limit, page);
  }

  /** The latest record of each known identifier, in the order asked. */
  async latest(ids: readonly string[], priority: LatestPriority): Promise<RecordList> {
    const generation = this.#current();
    return generation.hold(() => readInParts(ids, (some) => generation.latest(some, priority)));
  }

  /** Of these versions of packages, the ones that are indexed. */
  async known<T extends { readonly package_id: string; readonly package_version: string }>(
    versions: readonly T[],
  ): Promise<T[]> {
    const { known } = this.#current();
    const indexed = new Map<string, ReadonlySet<string>>();
    for (const { package_id: id } of versions) if (!indexed.has(id)) indexed.set(id, known.versionsOf(id));
    return versions.filter(({ package_id, package_version }) => indexed.get(package_id)?.has(package_version));
  }

  /** Whether any version of this package is indexed. */
  async knows(id: string): Promise<boolean> {
    return this.#current().known.hasPackage(id);
  }

  /** Whether the index answers a question now; the catalog in force must be there and readable, not only open. */
  async probe(): Promise<boolean> {
    try {
      if (!existsSync(this.#file)) return false;
      this.refresh();
      this.#current().packages.find('probe', 1, 1);
      return true;
    } catch {
      return false;
    }
  }

  /** Takes up the catalog in force, if it is another one than before. Throws where it cannot be read; the one before then stays. */
  refresh(): void {
    const before = this.#generation;
    if (before === undefined || !existsSync(this.#file) || before.identity === identityOf(this.#file)) return;
    this.#generation = new Generation(this.#file);
    before.close();
  }

  close(): void {
    this.#generation?.close();
    this.#generation = undefined;
  }

  #current(): Generation {
    this.#generation ??= new Generation(this.#file);
    return this.#generation;
  }
}
