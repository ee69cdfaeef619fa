import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { CatalogSearch } from '../../src/search/catalog-search.ts';

/** One generation of the catalog, opened read-only. `more` is what `prepare` makes of it besides its search. */
export class OpenCatalog<More = undefined> {
  readonly search: CatalogSearch;
  readonly more: More;
  readonly #database: CatalogFile;
  #readers = 0;
  #isOver = false;

  /** Throws if the file cannot be read. */
  constructor(file: string, prepare: (database: CatalogFile) => More, isForeign = false) {
    this.#database = isForeign ? CatalogFile.openForeign(file) : CatalogFile.openReadOnly(file);
    try {
      // The kernel keeps the file in memory once for all processes. Mapping it would save a tenth of the time, but all
      // of it would count as this process's own memory.
      this.#database.exec('PRAGMA cache_size = -4096; PRAGMA query_only = 1');
      this.search = new CatalogSearch(this.#database);
      this.more = prepare(this.#database);
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Asks this generation, and keeps it open until it has answered, whatever comes into force meanwhile. */
  async ask<T>(question: (search: CatalogSearch) => Promise<T>): Promise<T> {
    this.#readers++;
    try {
      return await question(this.search);
    } finally {
      this.#readers--;
      if (this.#isOver && this.#readers === 0) this.#database.close();
    }
  }

  /** Closes the file when its last reader has finished. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#readers === 0) this.#database.close();
  }
}
