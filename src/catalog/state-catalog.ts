import { randomBytes } from 'node:crypto';
import { constants, copyFileSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { flushFile } from '../disk/flush-file.ts';
import { makeFolder } from '../disk/make-folder.ts';
import type { CatalogDatabase } from './database.ts';
import { CatalogFile, isFull } from './node-sqlite.ts';
import { catalogFormat, createTables } from './schema.ts';
import { type Mark, markCatalog, placeMarked } from './soundness.ts';

/**
 * The file of the catalog in force, below the state folder. Readers open it read-only, and reopen it when it is
 * replaced.
 */
export const catalogPath = (state: string): string => path.join(state, 'catalog.sqlite');

/** How the names of all files begin that are made for the next catalog, below the state folder. */
const nextPrefix = 'catalog.next.';

/** In bytes. Less free room is not worth a second copy of the catalog, and the next rows take it. */
const leastFreeRoom = 4 * 2 ** 20;

/** Whether most of a catalog is pages that hold nothing, as after a large repository was removed. */
const isMostlyFree = (database: CatalogDatabase): boolean => {
  const read = (name: string): number => database.prepare<[number]>(`PRAGMA ${name}`).get()?.[0] ?? 0;
  const free = read('freelist_count');
  return free * read('page_size') > leastFreeRoom && free > read('page_count') / 2;
};

/** The version of a catalog's tables (see `catalogFormat`); undefined if it cannot be read. */
const readCatalogFormat = (file: string): number | undefined => {
  try {
    using database = CatalogFile.openReadOnly(file);
    return database.prepare<[number]>('PRAGMA user_version').get()?.[0];
  } catch {
    return undefined;
  }
};

type Table = [type: string, name: string, table: string, sql: string | null];
const listTables = (database: CatalogFile, most: number): Table[] =>
  database.prepare<Table>('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name LIMIT ?').all(most);

let ownTables: readonly Table[] | undefined;
const readOwnTables = (): readonly Table[] => {
  using database = CatalogFile.open(':memory:');
  createTables(database);
  return listTables(database, -1);
};

/**
 * Whether a catalog that somebody else made has this version, and exactly the tables of this version: a view in place
 * of a table is a program that runs whenever it is read, and need never end.
 */
export const isOwnCatalog = (file: string): boolean => {
  if (readCatalogFormat(file) !== catalogFormat) return false;
  ownTables ??= readOwnTables();
  using database = CatalogFile.openForeign(file);
  try {
    return JSON.stringify(listTables(database, ownTables.length + 1)) === JSON.stringify(ownTables);
  } catch {
    return false;
  }
};

/** Says what to do about the catalog in force, if another version made it; undefined if there is none or it is of this one. */
export const describeOtherFormat = (state: string): string | undefined => {
  const found = existsSync(catalogPath(state)) ? readCatalogFormat(catalogPath(state)) : undefined;
  if (found === undefined || found === catalogFormat) return undefined;
  const [who, what] =
    found < catalogFormat
      ? ['an earlier version of Debdex', 'build with this one']
      : ['a later version of Debdex', 'start the server with that one'];
  return `${catalogPath(state)} was made by ${who} (format ${found}; this one reads ${catalogFormat}): search, and what else is computed, may fail or be wrong. To end this, ${what}.`;
};

/** Whether the state folder has a readable catalog of this version. */
const hasCatalog = (state: string): boolean =>
  existsSync(catalogPath(state)) && readCatalogFormat(catalogPath(state)) === catalogFormat;

/**
 * The next catalog: a copy of the one in force, or empty if there is none of this version. It is built beside that and
 * replaces it by rename, so a reader sees one or the other, and a crash leaves the old one.
 */
export class NextCatalog {
  readonly database: CatalogFile;
  /** Whether it was empty at the beginning. */
  readonly isNew: boolean;
  /**
   * The file, which may be read after `seal`. Each has a name of its own: what a killed build started may run on for a
   * moment and open its catalog then, and a reader of this one would keep it from being written.
   */
  readonly file: string;
  readonly #state: string;
  #open = true;
  #mark: Mark | undefined;

  /** With `afresh` it begins empty, whatever is in force. */
  constructor(state: string, afresh = false) {
    this.#state = state;
    makeFolder(state);
    const left = readdirSync(state).filter((name) => name.startsWith(nextPrefix));
    for (const name of left) rmSync(path.join(state, name), { recursive: true, force: true });
    this.file = path.join(state, `${nextPrefix}${randomBytes(6).toString('hex')}.sqlite`);
    this.isNew = afresh || !hasCatalog(state);
    if (!this.isNew) copyFileSync(catalogPath(state), this.file, constants.COPYFILE_FICLONE);
    this.database = CatalogFile.openDraft(this.file);
    if (this.isNew) createTables(this.database);
  }

  /** Ends writing and flushes the file. */
  async seal(): Promise<void> {
    if (this.#mark !== undefined) return;
    this.database.exec('COMMIT');
    const compact = isMostlyFree(this.database) ? this.#writeCompact() : undefined;
    this.#close();
    if (compact !== undefined) renameSync(compact, this.file);
    flushFile(this.file);
    this.#mark = await markCatalog(this.file);
  }

  /** Writes it again without free pages, and returns that file; undefined if the disk has no room for it. */
  #writeCompact(): string | undefined {
    const file = `${this.file}.compact`;
    try {
      this.database.prepareWrite('VACUUM INTO ?').run(file);
      return file;
    } catch (error) {
      rmSync(file, { force: true });
      if (isFull(error)) return undefined;
      throw error;
    }
  }

  /** Puts it into force. */
  async publish(): Promise<void> {
    await this.seal();
    if (this.#mark !== undefined) {
      placeMarked(this.#state, this.#mark, () => renameSync(this.file, catalogPath(this.#state)));
    }
  }

  /** Keeps the catalog in force and drops this one. */
  discard(): void {
    this.#close();
    rmSync(this.file, { force: true });
  }

  #close(): void {
    if (this.#open) this.database.close();
    this.#open = false;
  }
}

/**
 * The catalog during a build: the one in force until something has to be written, then the next one. If nothing
 * changes, nothing is copied.
 */
export class CatalogBuild {
  readonly #state: string;
  #current: CatalogFile | undefined;
  #next: NextCatalog | undefined;

  readonly #afresh: boolean;

  /** With `afresh` the catalog in force is not read, and the next one begins empty. */
  constructor(state: string, afresh = false) {
    this.#state = state;
    this.#afresh = afresh;
    if (!afresh && hasCatalog(state)) this.#current = CatalogFile.openReadOnly(catalogPath(state));
  }

  /**
   * Calls `read` on the catalog in force if it has another version, which nothing else reads. Undefined if there is no
   * such catalog, or `read` throws.
   */
  readFormer<T>(read: (database: CatalogDatabase) => T): T | undefined {
    if (hasCatalog(this.#state) || !existsSync(catalogPath(this.#state))) return undefined;
    try {
      using database = CatalogFile.openReadOnly(catalogPath(this.#state));
      return read(database);
    } catch {
      return undefined;
    }
  }

  /** Whether anything was written. */
  get changed(): boolean {
    return this.#next !== undefined;
  }

  /** The catalog in force, until `seal`; undefined if there is none of this version. */
  get before(): CatalogFile | undefined {
    return this.#current;
  }

  /** The database to read from. */
  get database(): CatalogFile {
    return this.#next?.database ?? this.#current ?? this.writable();
  }

  /** The database to write to. A transaction is open on it until `seal`. */
  writable(): CatalogFile {
    if (this.#next === undefined) {
      this.#next = new NextCatalog(this.#state, this.#afresh);
      this.#next.database.exec('BEGIN');
    }
    return this.#next.database;
  }

  /** Ends reading and writing here. After that the file can be read. */
  async seal(): Promise<void> {
    this.#current?.close();
    this.#current = undefined;
    await this.#next?.seal();
  }

  /** Whether the catalog that is written was empty at the beginning. */
  get isNew(): boolean {
    return this.#next?.isNew === true;
  }

  /** A path for a temporary file while the catalog is written. If a crash leaves it, the next build removes it. */
  get searchDraft(): string {
    return `${this.file}.search`;
  }

  /** The file that will be in force: the written one or, if nothing was written, the present one. */
  get file(): string {
    return this.#next?.file ?? catalogPath(this.#state);
  }

  /** Puts the written catalog into force. Does nothing if nothing was written. */
  async publish(): Promise<void> {
    await this.seal();
    await this.#next?.publish();
  }

  /** Keeps the catalog in force and drops what was written. */
  discard(): void {
    this.#current?.close();
    this.#current = undefined;
    this.#next?.discard();
  }
}
