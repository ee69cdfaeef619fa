import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { GatewayTables } from './schema.ts';
import { isBusy, StatementCache } from './sqlite-statements.ts';
import { SqliteWriter } from './sqlite-writer.ts';

/** The two connections of a SQLite credential store. */
export interface SqliteDatabases {
  /** Sees only what is on disk; refuses writes. */
  readonly read: Kysely<GatewayTables>;
  /** Every query runs in a transaction, and a transaction is done when it is on disk. */
  readonly write: Kysely<GatewayTables>;
}

/**
 * Opens the database file, created with its folder where missing, readable by its owner alone. `:memory:` opens one that
 * is forgotten at close, for tests. Throws where the file cannot be opened or is no database.
 */
export const openSqlite = async (file: string): Promise<SqliteDatabases> => {
  if (file === ':memory:') {
    const database = new DatabaseSync(file);
    const writer = new SqliteWriter(database, () => {});
    return {
      read: kysely(writer.driver({ transactions: false })),
      write: kysely(writer.driver({ transactions: true })),
    };
  }
  mkdirSync(dirname(file), { recursive: true });
  // SQLite gives the -wal and -shm files the mode of the database file.
  closeSync(openSync(file, 'a', 0o600));
  const { dev, ino } = statSync(file);
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    await enterWal(database);
    database.exec('PRAGMA synchronous = FULL');
    // Writes to a file that was moved or deleted would succeed and be gone at the next start.
    const assertInPlace = () => {
      const now = statSync(file);
      if (now.dev !== dev || now.ino !== ino) throw new Error('the database file was replaced while open');
    };
    const reader = new DatabaseSync(file, { readOnly: true, timeout: 2_000 });
    return {
      read: kysely(readDriver(reader)),
      write: kysely(new SqliteWriter(database, assertInPlace).driver({ transactions: true })),
    };
  } catch (error) {
    database.close();
    throw error;
  }
};

// The change of journal mode needs the file to itself for a moment and does not wait for it by itself.
const enterWal = async (database: DatabaseSync) => {
  for (let attempt = 0; ; attempt++) {
    try {
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!isBusy(error) || attempt === 200) throw error;
      await sleep(5 + Math.random() * 20);
    }
  }
};

const kysely = (driver: Driver) => new Kysely<GatewayTables>({ dialect: new NodeSqliteDialect(driver) });

class NodeSqliteDialect implements Dialect {
  readonly #driver: Driver;
  constructor(driver: Driver) {
    this.#driver = driver;
  }
  createDriver() {
    return this.#driver;
  }
  createQueryCompiler() {
    return new SqliteQueryCompiler();
  }
  createAdapter() {
    return new NodeSqliteAdapter();
  }
  createIntrospector(database: Kysely<unknown>) {
    return new SqliteIntrospector(database);
  }
}

class NodeSqliteAdapter extends SqliteAdapter {
  // The writer has its own queue; Kysely's would hold a transaction's place until it is on disk.
  override get supportsMultipleConnections() {
    return true;
  }
}

const readDriver = (database: DatabaseSync): Driver => {
  const statements = new StatementCache(database);
  const connection: DatabaseConnection = {
    executeQuery: async (query) => statements.execute(query),
    streamQuery: () => {
      throw new Error('streaming is not offered');
    },
  };
  const refuse = async () => {
    throw new Error('this connection only reads');
  };
  return {
    init: async () => {},
    acquireConnection: async () => connection,
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    releaseConnection: async () => {},
    destroy: async () => database.close(),
  };
};
