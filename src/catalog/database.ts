/** A value as SQLite stores it. Integers beyond 2^53 do not occur in the catalog. */
export type SqlValue = null | number | string | Uint8Array;

/** A statement that reads. Rows are arrays, in the order of its columns. */
export interface Statement<Row extends readonly SqlValue[]> {
  all(...values: SqlValue[]): Row[];
  get(...values: SqlValue[]): Row | undefined;
  iterate(...values: SqlValue[]): Iterable<Row>;
}

/**
 * What the catalog needs of an engine to be read. It is small and synchronous, so that any other SQLite than Node's,
 * such as that of a Durable Object, needs only a short adapter. The tables and all SQL on them belong to this room;
 * others call its readings.
 */
export interface CatalogDatabase {
  prepare<Row extends readonly SqlValue[]>(sql: string): Statement<Row>;
}

/** What a build needs in addition, to write it. */
export interface WritableDatabase extends CatalogDatabase {
  /** A statement that writes. */
  prepareWrite(sql: string): { run(...values: SqlValue[]): void };
  /** Runs statements without values. */
  exec(sql: string): void;
}
