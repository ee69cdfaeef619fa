import type { CatalogBuild } from '../catalog/generation.ts';

export interface LedgerEntry {
  readonly digest: Uint8Array;
  /** When this content was first published, ISO 8601. */
  readonly date: string;
}

/** What was published: the digest and date of every document, kept in the catalog so that both change together. */
export class Ledger {
  readonly #catalog: CatalogBuild;
  #select: ReturnType<typeof prepareSelect> | undefined;
  #insert: ReturnType<typeof prepareInsert> | undefined;

  constructor(catalog: CatalogBuild) {
    this.#catalog = catalog;
  }

  get(path: string): LedgerEntry | undefined {
    this.#select ??= prepareSelect(this.#catalog);
    return this.#select.get(path) as LedgerEntry | undefined;
  }

  set(path: string, entry: LedgerEntry): void {
    // The first write may open the next catalog, and what was prepared on the one in force must not be read any more.
    if (!this.#catalog.changed) this.#select = undefined;
    this.#insert ??= prepareInsert(this.#catalog);
    this.#insert.run(path, entry.digest, entry.date);
  }

  delete(path: string): void {
    if (!this.#catalog.changed) this.#select = undefined;
    this.#catalog.writable().prepare('DELETE FROM document WHERE path = ?').run(path);
  }

  /** Every path, in order. */
  paths(): string[] {
    const rows = this.#catalog.database.prepare('SELECT path FROM document ORDER BY path').all();
    return rows.map((row) => row.path as string);
  }
}

const prepareSelect = (catalog: CatalogBuild) =>
  catalog.database.prepare('SELECT digest, date FROM document WHERE path = ?');

const prepareInsert = (catalog: CatalogBuild) =>
  catalog.writable().prepare('INSERT OR REPLACE INTO document (path, digest, date) VALUES (?, ?, ?)');
