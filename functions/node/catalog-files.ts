import { existsSync, statSync } from 'node:fs';
import { catalogPath } from '../../src/catalog/generation.ts';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { CatalogSearch } from '../../src/search/catalog-search.ts';
import type { SearchIndex } from '../dependencies.ts';

/** One generation of the catalog, opened read-only. */
class Generation {
  readonly identity: string;
  readonly #search: CatalogSearch;
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
      this.#search = new CatalogSearch(this.#database);
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Keeps this generation open for as long as it is read, whatever comes in force meanwhile. */
  async ask<T>(question: (search: CatalogSearch) => Promise<T>): Promise<T> {
    this.#readers++;
    try {
      return await question(this.#search);
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

// A new generation takes the name of the one before: what tells them apart is the file behind the name.
const identityOf = (file: string): string => {
  const { dev, ino, mtimeMs } = statSync(file);
  return `${dev}:${ino}:${mtimeMs}`;
};

/**
 * The search index of a state folder. Every method answers from the catalog in force; `refresh` takes up a new one.
 * Methods reject where there is no catalog or it cannot be read. What is read in parts is of one generation throughout.
 */
export class CatalogFiles implements SearchIndex {
  readonly #file: string;
  #generation: Generation | undefined;

  constructor(state: string) {
    this.#file = catalogPath(state);
  }

  searchPackages: SearchIndex['searchPackages'] = (...question) =>
    this.#ask((search) => search.searchPackages(...question));

  searchRepositories: SearchIndex['searchRepositories'] = (...question) =>
    this.#ask((search) => search.searchRepositories(...question));

  latest: SearchIndex['latest'] = (...question) => this.#ask((search) => search.latest(...question));

  known: SearchIndex['known'] = (versions) => this.#ask((search) => search.known(versions));

  knows: SearchIndex['knows'] = (id) => this.#ask((search) => search.knows(id));

  /** Whether the index answers a question now; the catalog in force must be there and readable, not only open. */
  async probe(): Promise<boolean> {
    try {
      if (!existsSync(this.#file)) return false;
      this.refresh();
      return await this.#ask((search) => search.probe());
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

  async #ask<T>(question: (search: CatalogSearch) => Promise<T>): Promise<T> {
    this.#generation ??= new Generation(this.#file);
    return this.#generation.ask(question);
  }
}
