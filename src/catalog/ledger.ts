import type { CatalogBuild } from './generation.ts';

export interface LedgerEntry {
  readonly digest: Uint8Array;
  /** When this content was first published, ISO 8601. */
  readonly date: string;
  /** Of the file, in bytes. */
  readonly size: number;
  /** The whole file, to be kept where the catalog's rows alone do not say what it says. */
  readonly text?: string | undefined;
}

/** What was published: the digest and date of every document, kept in the catalog so that both change together. */
export class Ledger {
  readonly #catalog: CatalogBuild;
  #select: ReturnType<typeof prepareSelect> | undefined;
  #insert: ReturnType<typeof prepareInsert> | undefined;

  constructor(catalog: CatalogBuild) {
    this.#catalog = catalog;
  }

  /** Without its text. */
  get(path: string): LedgerEntry | undefined {
    this.#select ??= prepareSelect(this.#catalog);
    const row = this.#select.get(path);
    return row && { digest: row[0], date: row[1], size: row[2] };
  }

  set(path: string, entry: LedgerEntry): void {
    // The first write may open the next catalog, and what was prepared on the one in force must not be read any more.
    if (!this.#catalog.changed) this.#select = undefined;
    this.#insert ??= prepareInsert(this.#catalog);
    this.#insert.run(path, entry.digest, entry.date, entry.size, entry.text ?? null);
  }

  delete(path: string): void {
    if (!this.#catalog.changed) this.#select = undefined;
    this.#catalog.writable().prepareWrite('DELETE FROM document WHERE path = ?').run(path);
  }

  /** The paths, in order, of which this is so. */
  pathsThat(isSo: (path: string) => boolean): string[] {
    const paths: string[] = [];
    const select = this.#catalog.database.prepare<[string]>('SELECT path FROM document ORDER BY path');
    for (const [path] of select.iterate()) if (isSo(path)) paths.push(path);
    return paths;
  }
}

const prepareSelect = (catalog: CatalogBuild) =>
  catalog.database.prepare<[Uint8Array, string, number]>('SELECT digest, date, size FROM document WHERE path = ?');

const prepareInsert = (catalog: CatalogBuild) =>
  catalog
    .writable()
    .prepareWrite('INSERT OR REPLACE INTO document (path, digest, date, size, text) VALUES (?, ?, ?, ?, ?)');
