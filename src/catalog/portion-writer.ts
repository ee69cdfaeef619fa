import type { CatalogDatabase, SqlValue, WritableDatabase } from './database.ts';
import { columnsOf, decodeRow, encodeRow, type PortionKey, type PortionTable, portionTables } from './portions.ts';
import { catalogTables } from './schema.ts';
import { composeSearchRow, insertSearchRow } from './search-row.ts';

// Brings a catalog from one generation to another, portion by portion, in as many steps as necessary. Each step has to
// run in a transaction. If the process is killed between two steps, the next one continues.

/** The place of a portion among the rows of its table, and its digest. */
export interface PlacedPortion {
  readonly table: PortionTable;
  /** The first key; null for the first portion of a table. */
  readonly first: PortionKey | null;
  /** The first key of the next portion; null for the last one. */
  readonly end: PortionKey | null;
  readonly sha256: string;
}

// Which portions were written, and which search documents still have old rows in the full-text index.
const ownTables = `
  CREATE TABLE written_portion (
    part TEXT NOT NULL,
    first,
    "end",
    sha256 TEXT NOT NULL
  );
  CREATE INDEX written_portion_place ON written_portion (part, first);
  CREATE TABLE due_document (
    id INTEGER PRIMARY KEY
  );
`;

/** Creates the tables of a catalog that is written in portions. */
export const createPortionTables = (database: WritableDatabase): void => {
  database.exec(catalogTables);
  database.exec(ownTables);
};

// Tables that belong to the engine and the platform, and those that are dropped together with a full-text index.
const isForeign = (name: string): boolean => /^(?:_cf_|sqlite_|search_(?!document))/.test(name);

/** Drops all tables of a catalog except one, including those that another version of this program made. */
export const dropPortionTables = (database: WritableDatabase, kept: string): void => {
  const names = database.prepare<[name: string]>("SELECT name FROM sqlite_master WHERE type = 'table'").all().flat();
  for (const name of names) if (name !== kept && !isForeign(name)) database.exec(`DROP TABLE "${name}"`);
};

/**
 * Search documents indexed in one step. A step also ends after that many characters of their records: two hundred long
 * descriptions take ten seconds.
 */
const documentsInStep = 200;
const charactersInStep = 2 ** 18;

/** Pages of the full-text index, of 4 KB, that are merged in one step. */
const pagesInStep = 500;

/** The share of documents that must be new for merging the whole full-text index to pay. */
const greatChange = 0.1;

/** How many rows a step changed. */
interface Written {
  readonly added: number;
  readonly removed: number;
}

const keyOf = (row: readonly SqlValue[], places: readonly number[]): string =>
  JSON.stringify(places.map((place) => row[place] ?? null));

/** Brings tables that hold a catalog, or nothing yet, to another one, portion by portion. */
export class PortionWriter {
  readonly #database: WritableDatabase;

  /** The tables must exist; see createPortionTables. */
  constructor(database: WritableDatabase) {
    this.#database = database;
  }

  /** Those of these portions whose rows differ from the stored ones, in their order. */
  findMissing<Placed extends PlacedPortion>(portions: readonly Placed[]): Placed[] {
    const nameOf = (...place: readonly SqlValue[]): string => JSON.stringify(place);
    const written = this.#database.prepare<SqlValue[]>('SELECT part, first, "end", sha256 FROM written_portion');
    const standing = new Set<string>();
    for (const row of written.iterate()) standing.add(nameOf(...row));
    return portions.filter(({ table, first, end, sha256 }) => !standing.has(nameOf(table, first, end, sha256)));
  }

  /**
   * Replaces the rows of a table between both ends of a portion with those of its text. Writes only the rows that
   * differ.
   */
  write(portion: PlacedPortion, text: string): Written {
    const { table, first, end } = portion;
    const database = this.#database;
    const { columns, keys: places } = columnsOf(database, table);
    const before = new Map(this.#read(portion, columns).map((row) => [keyOf(row, places), row]));
    const changed: SqlValue[][] = [];
    for (const line of text === '' ? [] : text.split('\n')) {
      const row = decodeRow(line);
      const key = keyOf(row, places);
      const known = before.get(key);
      before.delete(key);
      if (known === undefined || encodeRow(known) !== line) changed.push(row);
    }
    const condition = portionTables[table].map((name) => `${name} = ?`).join(' AND ');
    const remove = database.prepareWrite(`DELETE FROM ${table} WHERE ${condition}`);
    for (const row of before.values()) {
      this.#noteDue(table, row);
      remove.run(...places.map((place) => row[place] ?? null));
    }
    if (changed.length > 0) {
      const values = columns.map(() => '?').join(', ');
      const insert = database.prepareWrite(
        `INSERT OR REPLACE INTO ${table} (${columns.join(', ')}) VALUES (${values})`,
      );
      for (const each of changed) {
        this.#noteDue(table, each);
        insert.run(...each);
      }
    }
    this.#forgetWithin(portion);
    database.prepareWrite('INSERT INTO written_portion VALUES (?, ?, ?, ?)').run(table, first, end, portion.sha256);
    return { added: changed.length, removed: before.size };
  }

  /**
   * Updates some rows of the full-text index, in the order of their numbers. Returns how many: 0 if all are up to date.
   * Counting the rest would mean reading all of it in every step.
   */
  indexSome(): number {
    const database = this.#database;
    const due = database.prepare<[number]>(`SELECT id FROM due_document ORDER BY id LIMIT ${documentsInStep}`).all();
    const find = database.prepare<[json: string, details: string | null]>(
      `SELECT record.json, record.details FROM search_document CROSS JOIN record ON record.id = search_document.record
       WHERE search_document.id = ?`,
    );
    const remove = database.prepareWrite('DELETE FROM search WHERE rowid = ?');
    const insert = database.prepareWrite(insertSearchRow);
    const done = database.prepareWrite('DELETE FROM due_document WHERE id = ?');
    let [count, characters] = [0, 0];
    for (const [id] of due) {
      if (characters >= charactersInStep) break;
      remove.run(id);
      const found = find.get(id);
      if (found !== undefined) {
        insert.run(id, ...composeSearchRow(...found).texts);
        characters += found[0].length;
      }
      done.run(id);
      count++;
    }
    return count;
  }

  /** Whether so many documents are new that merging the whole full-text index pays. */
  isMergeDue(indexed: number): boolean {
    return indexed > countRows(this.#database, 'search_document') * greatChange;
  }

  /**
   * Merges a part of the full-text index, which in the end is one segment, as after its command "optimize". Whether
   * there is more to merge.
   */
  mergeSome(): boolean {
    const database = this.#database;
    const changes = database.prepare<[number]>('SELECT total_changes()');
    const before = changes.get()?.[0] ?? 0;
    // A negative number has segments of all levels merged (https://sqlite.org/fts5.html, section 6.9).
    database.exec(`INSERT INTO search (search, rank) VALUES ('merge', -${pagesInStep})`);
    // The command itself counts as one change.
    return (changes.get()?.[0] ?? 0) - before > 1;
  }

  /** The number of rows of a table. They are really counted, so that lost rows are noticed. */
  count(table: PortionTable): number {
    return countRows(this.#database, table);
  }

  // Written portions do not overlap. So of those that begin before this one, only the last can reach into it. Checking
  // all of them for each portion would take quadratic time.
  #forgetWithin({ table, first, end }: PlacedPortion): void {
    const database = this.#database;
    const from = first === null ? '' : ' AND first >= ?';
    const to = end === null ? '' : ' AND first < ?';
    const bounds = [first, end].filter((bound) => bound !== null);
    database.prepareWrite(`DELETE FROM written_portion WHERE part = ?${from}${to}`).run(table, ...bounds);
    const forget = database.prepareWrite('DELETE FROM written_portion WHERE rowid = ?');
    const reaching = (condition: string, ...values: SqlValue[]): boolean => {
      const select = database.prepare<[id: number, reaches: 0 | 1]>(
        `SELECT rowid, ?1 IS NULL OR "end" IS NULL OR "end" > ?1 FROM written_portion
         WHERE part = ?2 AND ${condition} ORDER BY first DESC LIMIT 1`,
      );
      const last = select.get(first, table, ...values);
      if (last?.[1] === 1) forget.run(last[0]);
      return last !== undefined;
    };
    // The first portion has no first key, and SQL orders NULL before everything.
    if (first === null || !reaching('first < ?3', first)) reaching('first IS NULL');
  }

  #read({ table, first, end }: PlacedPortion, columns: readonly string[]): SqlValue[][] {
    const [leading] = portionTables[table];
    const bounds = [
      ...(first === null ? [] : [{ condition: `${leading} >= ?`, value: first }]),
      ...(end === null ? [] : [{ condition: `${leading} < ?`, value: end }]),
    ];
    const where = bounds.length === 0 ? '' : ` WHERE ${bounds.map(({ condition }) => condition).join(' AND ')}`;
    return this.#database
      .prepare<SqlValue[]>(`SELECT ${columns.join(', ')} FROM ${table}${where}`)
      .all(...bounds.map(({ value }) => value));
  }

  // The row of the full-text index depends on both the search document and its record.
  #noteDue(table: PortionTable, [id = null]: readonly SqlValue[]): void {
    if (table === 'search_document') {
      this.#database.prepareWrite('INSERT OR IGNORE INTO due_document VALUES (?)').run(id);
    } else if (table === 'record') {
      this.#database
        .prepareWrite('INSERT OR IGNORE INTO due_document SELECT id FROM search_document WHERE record = ?')
        .run(id);
    }
  }
}

const countRows = (database: CatalogDatabase, table: string): number =>
  database.prepare<[number]>(`SELECT count(*) FROM ${table}`).get()?.[0] ?? 0;
