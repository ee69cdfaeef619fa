import { fromHex, toHex } from '../contract/hex.ts';
import type { CatalogDatabase, SqlValue } from './database.ts';

// The catalog as rows, for engines that cannot open a SQLite file. They come in portions of consecutive rows that are
// small enough for one event of a Durable Object. The keys themselves decide where portions begin, so that an insertion
// changes one portion and not all that follow.

/**
 * The tables that are published as rows, in the order in which they are taken, with their primary keys. The full-text
 * index is computed from them.
 */
export const portionTables = {
  repository: ['id'],
  finding: ['repository', 'code'],
  record: ['id'],
  provision: ['record', 'name', 'version'],
  divergence: ['package', 'version', 'architecture', 'repository'],
  search_document: ['id'],
  spelling: ['bucket'],
  inner_word: ['bucket'],
  document: ['path'],
} as const satisfies Readonly<Record<string, readonly [string, ...string[]]>>;
export type PortionTable = keyof typeof portionTables;

/** Whether there is such a table. */
export const isPortionTable = (name: string): name is PortionTable => Object.hasOwn(portionTables, name);

/** The value of the first column of a table's key. */
export type PortionKey = number | string;

/** Rows of one table: those whose first key column is at least `first` and less than that of the next portion. */
export interface Portion {
  readonly table: PortionTable;
  /** Null for the first portion of a table, which begins before all keys. */
  readonly first: PortionKey | null;
  readonly rows: number;
  /** One line for each row: a JSON array of its columns in order. Bytes are `{"hex":"…"}`. */
  readonly text: string;
}

/**
 * No table of a Durable Object accepts a row larger than this, in bytes (developers.cloudflare.com, "Limits": 2 MB).
 */
const largestRow = 2_000_000;

/** The catalog cannot be published as portions. The message says why. */
export class RowTooLarge extends Error {
  override name = 'RowTooLarge';
}

/** The most characters and rows of a portion, unless all its rows have the same key. */
const most = { characters: 2 ** 20, rows: 4000 } as const;
/** From this many characters on, a portion ends at the next key that is a boundary. */
const fewest = 2 ** 18;
const everyNth = 64;

// Depends only on the key, so that the portions on both sides of an insertion stay the same.
const isBoundary = (key: PortionKey): boolean => {
  let value = 0x811c9dc5;
  for (const character of String(key)) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return (value >>> 8) % everyNth === 0;
};

const encodeValue = (value: SqlValue): unknown => (value instanceof Uint8Array ? { hex: toHex(value) } : value);

/** Encodes a row as a line of a portion, without its line feed. */
export const encodeRow = (row: readonly SqlValue[]): string => JSON.stringify(row.map(encodeValue));

/** Decodes a line of a portion. */
export const decodeRow = (line: string): SqlValue[] =>
  (JSON.parse(line) as (SqlValue | { hex: string })[]).map((value) =>
    typeof value === 'object' && value !== null && 'hex' in value ? fromHex(value.hex) : value,
  );

const leading = (table: PortionTable): string => portionTables[table][0];

/**
 * The columns of a table, except those that are computed from others, and the positions of its key columns among them.
 */
export const columnsOf = (database: CatalogDatabase, table: PortionTable) => {
  const columns = database
    .prepare<[number, string]>(`PRAGMA table_info(${table})`)
    .all()
    .map(([, name]) => name);
  return { columns, keys: portionTables[table].map((name) => columns.indexOf(name)) };
};

function* readTable(database: CatalogDatabase, table: PortionTable): Generator<Portion> {
  const {
    columns,
    keys: [place = 0],
  } = columnsOf(database, table);
  const order = portionTables[table].join(', ');
  const select = database.prepare(`SELECT ${columns.join(', ')} FROM ${table} ORDER BY ${order}`);
  let first: PortionKey | null = null;
  let last: PortionKey | undefined;
  let lines: string[] = [];
  let characters = 0;
  for (const row of select.iterate()) {
    const key = row[place] as PortionKey;
    const isOver = characters >= most.characters || lines.length >= most.rows;
    if (last !== undefined && key !== last && (isOver || (characters >= fewest && isBoundary(key)))) {
      yield { table, first, rows: lines.length, text: lines.join('\n') };
      first = key;
      lines = [];
      characters = 0;
    }
    const line = encodeRow(row);
    if (line.length * 3 > largestRow && new TextEncoder().encode(line).length > largestRow) {
      throw new RowTooLarge(`a row of ${table} (${leading(table)} ${key}) has more than ${largestRow / 1e6} MB`);
    }
    lines.push(line);
    characters += line.length + 1;
    last = key;
  }
  yield { table, first, rows: lines.length, text: lines.join('\n') };
}

/** The portions of a catalog, with one at a time in memory. Throws RowTooLarge. */
export function* readPortions(database: CatalogDatabase): Generator<Portion> {
  for (const table of Object.keys(portionTables) as PortionTable[]) yield* readTable(database, table);
}
