import { DatabaseSync } from 'node:sqlite';
import type { SqlValue, Statement, WritableDatabase } from './database.ts';

/**
 * The primary result code of an error of SQLite (sqlite.org/rescode.html), which is the low byte of what it tells;
 * undefined for any other error.
 */
export const resultCode = (error: unknown): number | undefined => {
  if (!(error instanceof Error) || !('errcode' in error && 'code' in error)) return undefined;
  if (error.code !== 'ERR_SQLITE_ERROR') return undefined;
  return Number(error.errcode) & 0xff;
};

/** In bytes; the longest of our own, the list of what is downloaded most, has half of it at most. */
const longestForeign = 32 * 2 ** 20;

/** Whether a text or blob was longer than may be read (SQLITE_TOOBIG). */
export const isTooLong = (error: unknown): boolean => resultCode(error) === 18;

/** A file of SQLite, opened by Node's; the one place of this room that names it. */
export class CatalogFile implements WritableDatabase {
  readonly #database: DatabaseSync;

  private constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Opens a file to read and write it, making it where it is not there. */
  static open(file: string): CatalogFile {
    return new CatalogFile(new DatabaseSync(file));
  }

  /**
   * Opens a file that a crash throws away until all of it is written: it needs no journal, no flush, and nobody else
   * looks at it. The tables in which a full-text index keeps its own rows may be written too.
   */
  static openDraft(file: string): CatalogFile {
    const draft = new CatalogFile(new DatabaseSync(file, { defensive: false }));
    draft.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536');
    draft.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY');
    return draft;
  }

  /** Opens a file that is there, to read alone. Throws where it is not, or is no database. */
  static openReadOnly(file: string, longest?: number): CatalogFile {
    const limits = longest === undefined ? {} : { limits: { length: longest } };
    const database = new DatabaseSync(file, { readOnly: true, ...limits });
    // A catalog never changes in its place, so its lock (a shared one, since nothing is written) is kept from the first
    // statement on. To take it and to look for changes anew costs each statement some seven calls of the system, which
    // take three times as long as finding the records of a package.
    try {
      database.exec('PRAGMA locking_mode = EXCLUSIVE');
    } catch (error) {
      database.close();
      throw error;
    }
    return new CatalogFile(database);
  }

  /** The same of a catalog that somebody else made: a longer text or blob than any Debdex writes is refused when it is read. */
  static openForeign(file: string): CatalogFile {
    return CatalogFile.openReadOnly(file, longestForeign);
  }

  prepare<Row extends readonly SqlValue[]>(sql: string): Statement<Row> {
    const statement = this.#database.prepare(sql);
    statement.setReturnArrays(true);
    return statement as unknown as Statement<Row>;
  }

  prepareWrite(sql: string): { run(...values: SqlValue[]): void } {
    return this.#database.prepare(sql);
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  close(): void {
    this.#database.close();
  }
}
