import { DatabaseSync } from 'node:sqlite';
import { assertRegular } from '../disk/regular-file.ts';
import type { SqlValue, Statement, WritableDatabase } from './database.ts';

/**
 * The primary result code of a SQLite error (sqlite.org/rescode.html), which is the low byte of its code; undefined for
 * any other error.
 */
export const resultCode = (error: unknown): number | undefined => {
  if (!(error instanceof Error) || !('errcode' in error && 'code' in error)) return undefined;
  if (error.code !== 'ERR_SQLITE_ERROR') return undefined;
  return Number(error.errcode) & 0xff;
};

/**
 * In bytes. The longest text that Debdex writes, the list of the most downloaded packages, has half of this at most.
 */
const longestForeign = 32 * 2 ** 20;

/** Whether a text or blob was too long to be read (SQLITE_TOOBIG). */
export const isTooLong = (error: unknown): boolean => resultCode(error) === 18;

// https://sqlite.org/rescode.html: SQLITE_IOERR, as where a quota is met, and SQLITE_FULL.
const fullCodes: ReadonlySet<number | undefined> = new Set([10, 13]);

/** Whether a disk had no room for what was written. */
export const isFull = (error: unknown): boolean => fullCodes.has(resultCode(error));

/** A SQLite file, opened with Node's SQLite. This room names that module only here. */
export class CatalogFile implements WritableDatabase {
  readonly #database: DatabaseSync;

  private constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Opens a file for reading and writing, and makes it if it does not exist. */
  static open(file: string): CatalogFile {
    return new CatalogFile(new DatabaseSync(file));
  }

  /**
   * Opens a draft, which is worthless until all of it is written and is deleted after a crash: it needs no journal and
   * no flush, and nobody else reads it. Even the tables in which a full-text index keeps its rows can be written.
   */
  static openDraft(file: string): CatalogFile {
    const draft = new CatalogFile(new DatabaseSync(file, { defensive: false }));
    draft.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536');
    draft.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY');
    // Catalogs are published: removed rows must be gone, and a page of zeros takes nothing in a compressed copy. Of their
    // words the full-text index keeps some until it merges its parts.
    draft.exec('PRAGMA secure_delete = ON');
    return draft;
  }

  /** Opens an existing file for reading only. Throws if it does not exist, is no file or no database. */
  static openReadOnly(file: string, longest?: number): CatalogFile {
    assertRegular(file);
    const limits = longest === undefined ? {} : { limits: { length: longest } };
    const database = new DatabaseSync(file, { readOnly: true, ...limits });
    // A catalog never changes in place, so the shared lock is kept from the first statement on. Taking it for each
    // statement, and checking for changes, costs some seven system calls, which take three times as long as finding the
    // records of a package.
    try {
      database.exec('PRAGMA locking_mode = EXCLUSIVE');
    } catch (error) {
      database.close();
      throw error;
    }
    return new CatalogFile(database);
  }

  /**
   * The same for a catalog that somebody else made. A text or blob that is longer than any that Debdex writes is
   * refused when it is read.
   */
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

  [Symbol.dispose](): void {
    this.close();
  }
}
