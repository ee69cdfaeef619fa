import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs';
import path from 'node:path';
import type { CatalogDatabase } from './database.ts';
import { CatalogFile } from './node-sqlite.ts';
import { catalogFormat, createTables } from './schema.ts';
import { type Mark, markCatalog, placeMarked } from './soundness.ts';

/** The file of the catalog in force, below the state folder. Readers open it read-only and reopen it when replaced. */
export const catalogPath = (state: string): string => path.join(state, 'catalog.sqlite');

const nextPath = (state: string): string => path.join(state, 'catalog.next.sqlite');

/** Where its full-text index is made, where that has a file of its own until all of it is there. */
const searchDraftPath = (state: string): string => path.join(state, 'catalog.next.search.sqlite');

/** The version of a catalog's tables (see `catalogFormat`); undefined where it cannot be read. */
const readCatalogFormat = (file: string): number | undefined => {
  let database: CatalogFile | undefined;
  try {
    database = CatalogFile.openReadOnly(file);
    return database.prepare<[number]>('PRAGMA user_version').get()?.[0];
  } catch {
    return undefined;
  } finally {
    database?.close();
  }
};

type Table = [type: string, name: string, table: string, sql: string | null];
const listTables = (database: CatalogFile, most: number): Table[] =>
  database.prepare<Table>('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name LIMIT ?').all(most);

let ownTables: readonly Table[] | undefined;
const readOwnTables = (): readonly Table[] => {
  const database = CatalogFile.open(':memory:');
  try {
    createTables(database);
    return listTables(database, -1);
  } finally {
    database.close();
  }
};

/**
 * Whether a catalog that somebody else made is of this version, and of the tables of this version and nothing else: a view in
 * the place of one is a program, which runs whenever it is read and need never end.
 */
export const isOwnCatalog = (file: string): boolean => {
  if (readCatalogFormat(file) !== catalogFormat) return false;
  ownTables ??= readOwnTables();
  const database = CatalogFile.openForeign(file);
  try {
    return JSON.stringify(listTables(database, ownTables.length + 1)) === JSON.stringify(ownTables);
  } catch {
    return false;
  } finally {
    database.close();
  }
};

/** Whether the state folder holds a catalog of this version that can be read. */
const hasCatalog = (state: string): boolean =>
  existsSync(catalogPath(state)) && readCatalogFormat(catalogPath(state)) === catalogFormat;

/**
 * The catalog that comes next: a copy of the one in force, or empty where there is none of this version. It is built
 * aside and takes the other's place whole, by rename, so a reader sees one or the other and a crash leaves the old one.
 */
export class NextCatalog {
  readonly database: CatalogFile;
  /** Whether it began empty. */
  readonly isNew: boolean;
  readonly #state: string;
  #open = true;
  #mark: Mark | undefined;

  /** With `afresh` it begins empty, whatever is in force. */
  constructor(state: string, afresh = false) {
    this.#state = state;
    mkdirSync(state, { recursive: true });
    const file = nextPath(state);
    for (const leftover of [file, `${file}-journal`, searchDraftPath(state)])
      rmSync(leftover, { recursive: true, force: true });
    this.isNew = afresh || !hasCatalog(state);
    if (!this.isNew) copyFileSync(catalogPath(state), file, constants.COPYFILE_FICLONE);
    this.database = CatalogFile.openDraft(file);
    if (this.isNew) createTables(this.database);
  }

  /** The file, which may be read when it is sealed. */
  get file(): string {
    return nextPath(this.#state);
  }

  /** Ends writing, and flushes the file. */
  async seal(): Promise<void> {
    if (this.#mark !== undefined) return;
    this.database.exec('COMMIT');
    this.#close();
    const descriptor = openSync(this.file, 'r+');
    fsyncSync(descriptor);
    closeSync(descriptor);
    this.#mark = await markCatalog(this.file);
  }

  /** Puts it in force. */
  async publish(): Promise<void> {
    await this.seal();
    if (this.#mark !== undefined) {
      placeMarked(this.#state, this.#mark, () => renameSync(this.file, catalogPath(this.#state)));
    }
  }

  /** Leaves the catalog in force as it is. */
  discard(): void {
    this.#close();
    rmSync(nextPath(this.#state), { force: true });
  }

  #close(): void {
    if (this.#open) this.database.close();
    this.#open = false;
  }
}

/**
 * One build's view of the catalog: the one in force until something is to be written, the next one from then on.
 * Where nothing changes, nothing is copied.
 */
export class CatalogBuild {
  readonly #state: string;
  #current: CatalogFile | undefined;
  #next: NextCatalog | undefined;

  readonly #afresh: boolean;

  /** With `afresh` the one in force is not read, and the next one begins empty. */
  constructor(state: string, afresh = false) {
    this.#state = state;
    this.#afresh = afresh;
    if (!afresh && hasCatalog(state)) this.#current = CatalogFile.openReadOnly(catalogPath(state));
  }

  /**
   * What `read` reads of the catalog in force where that is of another version, which nothing else reads; undefined
   * where there is none such, or `read` throws.
   */
  readFormer<T>(read: (database: CatalogDatabase) => T): T | undefined {
    if (hasCatalog(this.#state) || !existsSync(catalogPath(this.#state))) return undefined;
    let database: CatalogFile | undefined;
    try {
      database = CatalogFile.openReadOnly(catalogPath(this.#state));
      return read(database);
    } catch {
      return undefined;
    } finally {
      database?.close();
    }
  }

  /** Whether anything was written. */
  get changed(): boolean {
    return this.#next !== undefined;
  }

  /** The catalog in force, until `seal`; undefined where there is none of this version. */
  get before(): CatalogFile | undefined {
    return this.#current;
  }

  /** The database to read from. */
  get database(): CatalogFile {
    return this.#next?.database ?? this.#current ?? this.writable();
  }

  /** The database to write to; one transaction is open on it until `seal`. */
  writable(): CatalogFile {
    if (this.#next === undefined) {
      this.#next = new NextCatalog(this.#state, this.#afresh);
      this.#next.database.exec('BEGIN');
    }
    return this.#next.database;
  }

  /** Ends reading and writing here; from then on the file can be read. */
  async seal(): Promise<void> {
    this.#current?.close();
    this.#current = undefined;
    await this.#next?.seal();
  }

  /** Whether what is written began empty. */
  get isNew(): boolean {
    return this.#next?.isNew === true;
  }

  /** Where a file may lie until the catalog is written; what a crash leaves of it goes with the next one. */
  get searchDraft(): string {
    return searchDraftPath(this.#state);
  }

  /** The file that is to be in force: the one that was written, or the one that is, where nothing was. */
  get file(): string {
    return this.#next?.file ?? catalogPath(this.#state);
  }

  /** Puts what was written in force; does nothing where nothing was. */
  async publish(): Promise<void> {
    await this.seal();
    await this.#next?.publish();
  }

  /** Leaves the catalog in force as it is. */
  discard(): void {
    this.#current?.close();
    this.#current = undefined;
    this.#next?.discard();
  }
}
