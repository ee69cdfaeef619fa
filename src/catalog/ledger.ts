import type { CatalogDatabase, Statement } from './database.ts';
import type { CatalogBuild } from './state-catalog.ts';

export interface LedgerEntry {
  readonly digest: Uint8Array;
  /** When this content was first published, ISO 8601. */
  readonly date: string;
  /** Of the file, in bytes. */
  readonly size: number;
  /** The whole file, to be kept if its content cannot be made from the catalog's rows. */
  readonly text?: string | undefined;
}

/**
 * What was published: the digest and date of every document. It is kept in the catalog so that both change together.
 */
export class Ledger {
  readonly #catalog: CatalogBuild;
  #select: ReturnType<typeof prepareSelect> | undefined;
  #selectSize: Statement<[number]> | undefined;
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

  /** Only the size, which is needed for every document. */
  sizeOf(path: string): number | undefined {
    this.#selectSize ??= this.#catalog.database.prepare<[number]>('SELECT size FROM document WHERE path = ?');
    return this.#selectSize.get(path)?.[0];
  }

  set(path: string, entry: LedgerEntry): void {
    this.#forgetPrepared();
    this.#insert ??= prepareInsert(this.#catalog);
    this.#insert.run(path, entry.digest, entry.date, entry.size, entry.text ?? null);
  }

  delete(path: string): void {
    this.#forgetPrepared();
    this.#catalog.writable().prepareWrite('DELETE FROM document WHERE path = ?').run(path);
  }

  // The first write may open the next catalog. Statements prepared for the one in force must not be used after that.
  #forgetPrepared(): void {
    if (this.#catalog.changed) return;
    this.#select = undefined;
    this.#selectSize = undefined;
  }

  /** How many documents it has. */
  get count(): number {
    return this.#catalog.database.prepare<[number]>('SELECT count(*) FROM document').get()?.[0] ?? 0;
  }

  /** The paths for which `isSo` holds, in order. */
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

/** The number of documents in a folder, and their lengths. */
export interface FolderSize {
  readonly files: number;
  readonly bytes: number;
  /** The longest document; the first by path if there are several. */
  readonly largest: { readonly path: string; readonly bytes: number };
}

/** Counts the documents below a folder. The folder's path has no slash at its end. */
export const readFolderSize = (database: CatalogDatabase, folder: string): FolderSize => {
  // "0" is the character after "/".
  const range = [`${folder}/`, `${folder}0`];
  const [files = 0, bytes = 0] =
    database
      .prepare<[number, number]>('SELECT count(*), total(size) FROM document WHERE path > ? AND path < ?')
      .get(...range) ?? [];
  const [path = '', longest = 0] =
    database
      .prepare<[string, number]>(
        'SELECT path, size FROM document WHERE path > ? AND path < ? ORDER BY size DESC, path LIMIT 1',
      )
      .get(...range) ?? [];
  return { files, bytes, largest: { path, bytes: longest } };
};
