import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { findEntry } from '../../src/disk/find-entry.ts';
import type { CatalogSearch } from '../../src/search/catalog-search.ts';
import { CatalogQuestions, type QuestionKind } from '../catalog-questions.ts';
import { type Measure, unmeasured } from './measure-questions.ts';
import { OpenCatalog } from './open-catalog.ts';

// Every generation has the same name, so they are told apart by the file behind the name.
const identityOf = (file: string): string => {
  const { dev, ino, mtimeMs } = statSync(file);
  return `${dev}:${ino}:${mtimeMs}`;
};

interface Generation {
  readonly identity: string;
  readonly catalog: OpenCatalog;
}

const openGeneration = (file: string): Generation => {
  // Read before the file is opened: if another one takes the name in between, the next check notices.
  const identity = identityOf(file);
  // Of one that this user may not read, SQLite says only that it cannot open it, and not which.
  accessSync(file, constants.R_OK);
  return { identity, catalog: new OpenCatalog(file, () => undefined) };
};

/**
 * The search index of a state folder. Every method answers from the catalog in force; `refresh` switches to a new one.
 * Methods reject if there is no catalog or it cannot be read. All parts of one answer come from the same generation.
 */
export class CatalogFiles extends CatalogQuestions {
  readonly #file: string;
  readonly #measure: Measure;
  #generation: Generation | undefined;

  constructor(state: string, measure = unmeasured) {
    super();
    this.#file = catalogPath(state);
    this.#measure = measure;
  }

  /**
   * Whether the index can answer now. The catalog in force must still exist and be readable; that it is open is not
   * enough. Throws an Error that says why it cannot.
   */
  override async probe(): Promise<boolean> {
    if (findEntry(this.#file) === undefined) throw new Error('there is no catalog');
    this.refresh();
    return super.probe();
  }

  /** Switches to the catalog in force if it has changed. Throws if that cannot be read; then the one before stays. */
  refresh(): void {
    const before = this.#generation;
    if (before === undefined || !existsSync(this.#file) || before.identity === identityOf(this.#file)) return;
    this.#generation = openGeneration(this.#file);
    before.catalog.close();
  }

  close(): void {
    this.#generation?.catalog.close();
    this.#generation = undefined;
  }

  protected ask<T>(kind: QuestionKind, question: (search: CatalogSearch) => Promise<T>): Promise<T> {
    return this.#measure(kind, async () => {
      this.#generation ??= openGeneration(this.#file);
      return this.#generation.catalog.ask(question);
    });
  }
}
