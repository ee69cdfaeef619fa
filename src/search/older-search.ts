import type { CatalogDatabase } from '../catalog/database.ts';
import { prepareLatestNumbers } from '../catalog/latest.ts';
import { OlderReading, type ReadOlder } from '../catalog/older-reading.ts';
import { AnswerTooLarge } from '../contract/errors.ts';
import type { OlderPackage, OlderRepository } from '../contract/older-addresses/records.ts';
import { answerMaximum } from '../contract/parameters.ts';
import { furthestResult, type PackageSearch } from './package-search.ts';
import { createPauses } from './pauses.ts';
import type { RepositorySearch } from './repository-search.ts';

// What is found and in which order is what the present addresses find: only the form of the records is another.

/** Each record is read as a value here, which takes longer than to pass its text on (H7): one may take a millisecond. */
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

/** What addresses from before /v2 ask of a catalog. */
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

  /** One page of what a text finds; without one, of those of the best rankings. */
  async packages(text: string, limit: number, page: number): Promise<OlderPackage[]> {
    const start = (page - 1) * limit;
    const best = () => (start >= furthestResult ? [] : this.#reading.bestDocuments(limit, start));
    const ids = text === '' ? best() : this.#packages.locate(text, limit, page).ids;
    return readInParts(ids, (some) => this.#reading.ofDocuments(some));
  }

  /** The latest record of each known identifier, in the order asked. */
  async latest(ids: readonly string[]): Promise<OlderPackage[]> {
    return readInParts(this.#latest(ids), (some) => this.#reading.ofRecords(some));
  }

  /** One page of what a text finds; without one, of those of these rankings or of all, by ranking and slug. */
  async repositories(
    text: string,
    rankings: ReadonlySet<number> | undefined,
    limit: number,
    page: number,
  ): Promise<OlderRepository[]> {
    const { repositories } = this.#reading;
    if (text !== '') {
      return this.#repositories.locate(text, limit, page).flatMap((slug) => repositories.get(slug) ?? []);
    }
    const start = (page - 1) * limit;
    return [...repositories.values()]
      .filter(({ ranking }) => rankings?.has(ranking) ?? true)
      .slice(start, start + limit);
  }
}
