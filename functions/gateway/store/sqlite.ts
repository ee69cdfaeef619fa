import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely';
import { makePrivateFile } from './private-file.ts';
import type { GatewayTables } from './tables.ts';

/** The connections of a SQLite credential store. */
export interface SqliteConnections {
  /** Sees only what is on disk; refuses writes. */
  readonly read: Kysely<GatewayTables>;
  /** A transaction begins with the write lock in hand, or fails at once; when it has ended it is on disk. */
  readonly write: Kysely<GatewayTables>;
  /**
   * Gives some free pages back to the file system, unless they are few; answers whether many are left. With the last of
   * them the write-ahead log is emptied too.
   */
  giveBack(): boolean;
  close(): void;
}

/** The write-ahead log is cut to this many bytes whenever it begins anew. */
const logMaximum = 4 * 2 ** 20;
/** Pages given back at a time, and left free for what is written next; of 4 KiB each. */
const pagesAtATime = 128;
const pagesLeftFree = 256;

/**
 * Opens the database file, created with its folder where missing, readable by its owner alone. `:memory:` opens one that
 * is forgotten at close, for tests. No connection ever waits for a lock, because that would block the event loop: what
 * meets one throws SQLITE_BUSY (see untilUnlocked). Throws where the file cannot be opened or is no database.
 */
export const openSqlite = (file: string): SqliteConnections => {
  const inMemory = file === ':memory:';
  if (!inMemory) {
    mkdirSync(dirname(file), { recursive: true });
    // SQLite gives the -wal and -shm files the mode of the database file.
    makePrivateFile(file);
  }
  const opened = inMemory ? undefined : statSync(file);
  // Writes to a file that was moved or deleted would succeed and be gone at the next start.
  const assertInPlace = () => {
    const now = opened && statSync(file);
    if (now?.dev !== opened?.dev || now?.ino !== opened?.ino) {
      throw Object.assign(new Error('the database file was replaced while open'), { code: 'file_replaced' });
    }
  };
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    prepareFile(database);
    const write = kysely(database, assertInPlace);
    const reader = inMemory ? undefined : new DatabaseSync(file, { readOnly: true, timeout: 0 });
    return {
      read: reader ? kysely(reader, () => {}) : write,
      write,
      giveBack: () => {
        const free = () => Number(readPragma(database, 'freelist_count')) - pagesLeftFree;
        if (free() > 0) database.exec(`PRAGMA incremental_vacuum(${Math.min(free(), pagesAtATime)})`);
        const more = free() > 0;
        // The file itself becomes smaller when the log is moved into it.
        if (!more) database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
        return more;
      },
      close: () => {
        if (reader?.isOpen) reader.close();
        if (database.isOpen) database.close();
      },
    };
  } catch (error) {
    database.close();
    throw error;
  }
};

const prepareFile = (database: DatabaseSync) => {
  // Has to come before the first table: a file without it never becomes smaller. To set it takes the write lock.
  if (readPragma(database, 'auto_vacuum') !== incremental) database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  database.exec('PRAGMA journal_mode = WAL');
  database.exec(`PRAGMA synchronous = FULL; PRAGMA journal_size_limit = ${logMaximum}`);
  // Written anew once where an earlier version made it.
  if (readPragma(database, 'auto_vacuum') !== incremental) database.exec('VACUUM');
};

const incremental = 2;

const readPragma = (database: DatabaseSync, name: string) =>
  Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];

const kysely = (database: DatabaseSync, beforeWriting: () => void) =>
  new Kysely<GatewayTables>({ dialect: new SqliteDialect({ database: adapt(database, beforeWriting) }) });

/** What Kysely's dialect, made for another driver, wants of a database. */
const adapt = (database: DatabaseSync, beforeWriting: () => void): SqliteDatabase => {
  // The store has a fixed set of queries, so this stays small.
  const prepared = new Map<string, SqliteStatement>();
  const command = (run: () => void): SqliteStatement => ({
    reader: false,
    all: () => [],
    iterate: () => [].values(),
    run: () => {
      run();
      return { changes: 0, lastInsertRowid: 0 };
    },
  });
  prepared.set(
    'begin',
    command(() => {
      beforeWriting();
      database.exec('BEGIN IMMEDIATE');
    }),
  );
  prepared.set(
    'rollback',
    // A full disk or an I/O error makes SQLite roll back by itself.
    command(() => database.isTransaction && database.exec('ROLLBACK')),
  );
  return {
    close: () => {
      if (database.isOpen) database.close();
    },
    prepare: (text) => {
      const known = prepared.get(text);
      if (known) return known;
      const statement = database.prepare(text);
      const adapted: SqliteStatement = {
        reader: statement.columns().length > 0,
        all: (values) => statement.all(...(values as SQLInputValue[])),
        run: (values) => statement.run(...(values as SQLInputValue[])),
        iterate: (values) => statement.iterate(...(values as SQLInputValue[])),
      };
      // What changes the tables is run once.
      if (/^(select|insert|update|delete|with)\b/i.test(text)) prepared.set(text, adapted);
      return adapted;
    },
  };
};
