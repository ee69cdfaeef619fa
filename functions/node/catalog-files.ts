import { existsSync, statSync } from 'node:fs';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import type { CatalogSearch } from '../../src/search/catalog-search.ts';
import { CatalogQuestions, type QuestionKind } from '../catalog-questions.ts';
import { type Measure, unmeasured } from './measure-questions.ts';
import { OpenCatalog } from './open-catalog.ts';

// A new generation takes the name of the one before: what tells them apart is the file behind the name.
const identityOf = (file: string): string => {
  const { dev, ino, mtimeMs } = statSync(file);
  return `${dev}:${ino}:${mtimeMs}`;
};

interface Generation {
  readonly identity: string;
  readonly catalog: OpenCatalog;
}

const openGeneration = (file: string): Generation => {
  // Before it is opened: another may take the name in between, and is then noticed.
  const identity = identityOf(file);
  return { identity, catalog: new OpenCatalog(file, () => undefined) };
};

/**
 * The search index of a state folder. Every method answers from the catalog in force; `refresh` takes up a new one.
 * Methods reject where there is no catalog or it cannot be read. What is read in parts is of one generation throughout.
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

  /** Whether the index answers a question now; the catalog in force must be there and readable, not only open. */
  override async probe(): Promise<boolean> {
    try {
      if (!existsSync(this.#file)) return false;
      this.refresh();
      return await super.probe();
    } catch {
      return false;
    }
  }

  /** Takes up the catalog in force, if it is another one than before. Throws where it cannot be read; the one before then stays. */
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
