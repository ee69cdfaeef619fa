import type { CatalogDatabase } from '../catalog/database.ts';
import { prepareLatestNumbers } from '../catalog/latest.ts';
import { OlderReading, type ReadOlder } from '../catalog/older-reading.ts';
import { AnswerTooLarge } from '../contract/errors.ts';
import type { OlderPackage, OlderRepository } from '../contract/older-addresses/records.ts';
import { answerMaximum } from '../contract/parameters.ts';
import { furthestResult, type PackageSearch } from './package-search.ts';
import { createPauses } from './pauses.ts';
import type { RepositorySearch } from './repository-search.ts';

// The results and their order are those of the present addresses; only the form of the records differs.

/** Each record is parsed here, which takes longer than passing on its text (H7). One may take a millisecond. */
const recordsAtOnce = 2;

const readInParts = async (
  ids: readonly number[],
  read: (some: readonly number[]) => ReadOlder[],
): Promise<OlderPackage[]> => {
  const records: OlderPackage[] = [];
  const pause = createPauses();
  let size = 0;
  for (let start = 0; start < ids.length; start += recordsAtOnce) {
    await pause();
    for (const found of read(ids.slice(start, start + recordsAtOnce))) {
      records.push(found.record);
      size += found.size;
    }
    if (size > answerMaximum) throw new AnswerTooLarge();
  }
  return records;
};

/** The questions of addresses from before /v2 to a catalog. */
export class OlderSearch {
  readonly #reading: OlderReading;
  readonly #packages: PackageSearch;
  readonly #repositories: RepositorySearch;
  readonly #latest: (names: readonly string[]) => number[];

  /** Throws where the catalog cannot be read. */
  constructor(database: CatalogDatabase, packages: PackageSearch, repositories: RepositorySearch) {
    this.#reading = new OlderReading(database);
    this.#packages = packages;
    this.#repositories = repositories;
    this.#latest = prepareLatestNumbers(database);
  }

  /** One page of the packages that match a text; for an empty text, of those in the best ranked repositories. */
  async packages(text: string, limit: number, page: number): Promise<OlderPackage[]> {
    const start = (page - 1) * limit;
    const best = () => (start >= furthestResult ? [] : this.#reading.bestDocuments(limit, start));
    const ids = text === '' ? best() : this.#packages.locate(text, limit, page).ids;
    return readInParts(ids, (some) => this.#reading.ofDocuments(some));
  }

  /** The latest record of each known identifier, in the given order. */
  async latest(ids: readonly string[]): Promise<OlderPackage[]> {
    return readInParts(this.#latest(ids), (some) => this.#reading.ofRecords(some));
  }

  /**
   * One page of the repositories with these rankings, or with any, that match a text; for an empty text, of all of
   * them, by ranking and slug.
   */
  async repositories(
    text: string,
    rankings: ReadonlySet<number> | undefined,
    limit: number,
    page: number,
  ): Promise<OlderRepository[]> {
    const { repositories } = this.#reading;
    const slugs = text === '' ? [...repositories.keys()] : this.#repositories.locate(text);
    const start = (page - 1) * limit;
    return slugs
      .flatMap((slug) => repositories.get(slug) ?? [])
      .filter(({ ranking }) => rankings?.has(ranking) ?? true)
      .slice(start, start + limit);
  }
}
