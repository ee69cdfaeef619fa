import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseConnection, Driver } from 'kysely';
import { isBusy, StatementCache } from './sqlite-statements.ts';

/** How long a write waits for another process to let go of the database. */
const busyLimit = 5_000;

/**
 * The writing connection, with group commit: transactions that arrive together each run in their own savepoint of one
 * SQLite transaction and share its one sync to disk. None is reported done before that sync, and where it fails all of
 * them fail, so what was acknowledged is on disk and what was not acknowledged did not happen.
 */
export class SqliteWriter {
  readonly #database: DatabaseSync;
  readonly #statements: StatementCache;
  readonly #assertInPlace: () => void;
  readonly #turns = new Turns();
  #group: Group | undefined;

  /** `assertInPlace` throws where writing to the open file would be writing to nowhere. */
  constructor(database: DatabaseSync, assertInPlace: () => void) {
    this.#database = database;
    this.#statements = new StatementCache(database);
    this.#assertInPlace = assertInPlace;
  }

  /** A Kysely driver; with `transactions` false it runs single queries, for reading a database in memory. */
  driver({ transactions }: { transactions: boolean }): Driver {
    return {
      init: async () => {},
      acquireConnection: async () => new Lease(this.#statements, await this.#turns.take(), !transactions),
      beginTransaction: (lease) => this.#begin(lease as Lease),
      commitTransaction: (lease) => this.#commit(lease as Lease),
      rollbackTransaction: (lease) => this.#rollback(lease as Lease),
      releaseConnection: async (lease) => (lease as Lease).end(),
      destroy: async () => {
        const end = await this.#turns.take();
        if (this.#group) this.#flush(this.#group);
        if (this.#database.isOpen) this.#database.close();
        end();
      },
    };
  }

  async #begin(lease: Lease) {
    if (!this.#group) {
      this.#assertInPlace();
      await this.#lock();
      const group = new Group();
      this.#group = group;
      // After the pending reads of this turn of the event loop: whoever asked meanwhile shares the sync.
      setImmediate(async () => {
        const end = await this.#turns.take();
        this.#flush(group);
        end();
      });
    }
    this.#database.exec('SAVEPOINT member');
    lease.group = this.#group;
  }

  async #commit(lease: Lease) {
    const { group } = lease;
    if (!group || group !== this.#group) throw new Error('the transaction is over');
    this.#database.exec('RELEASE member');
    lease.group = undefined;
    lease.end();
    await group.done;
  }

  async #rollback(lease: Lease) {
    const { group } = lease;
    lease.group = undefined;
    if (!group || group !== this.#group) return;
    if (this.#database.isTransaction) {
      this.#database.exec('ROLLBACK TO member; RELEASE member');
    } else {
      // A full disk or an I/O error makes SQLite undo the whole transaction, not the savepoint alone.
      this.#group = undefined;
      group.fail(new Error('the shared transaction was undone by SQLite'));
    }
  }

  #flush(group: Group) {
    if (group !== this.#group) return;
    this.#group = undefined;
    try {
      this.#database.exec('COMMIT');
      group.succeed();
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      group.fail(error);
    }
  }

  // SQLite's own waiting would block the event loop, and with it every answer that needs no lock.
  async #lock() {
    const deadline = performance.now() + busyLimit;
    for (;;) {
      try {
        this.#database.exec('BEGIN IMMEDIATE');
        return;
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw error;
        await sleep(1 + Math.random() * 4);
      }
    }
  }
}

/** Transactions whose changes reach the disk together. */
class Group {
  readonly done: Promise<void>;
  succeed: () => void = () => {};
  fail: (error: unknown) => void = () => {};

  constructor() {
    this.done = new Promise((resolve, reject) => {
      this.succeed = resolve;
      this.fail = reject;
    });
    // A group whose members were all rolled back has nobody to hear of its failure.
    this.done.catch(() => {});
  }
}

/** One user's turn with the connection. */
class Lease implements DatabaseConnection {
  group: Group | undefined;
  readonly #statements: StatementCache;
  readonly #end: () => void;
  readonly #alone: boolean;
  #ended = false;

  constructor(statements: StatementCache, end: () => void, alone: boolean) {
    this.#statements = statements;
    this.#end = end;
    this.#alone = alone;
  }

  async executeQuery<R>(query: Parameters<DatabaseConnection['executeQuery']>[0]) {
    if (!this.#alone && !this.group) throw new Error('writes need a transaction');
    return this.#statements.execute<R>(query);
  }

  streamQuery(): never {
    throw new Error('streaming is not offered');
  }

  end() {
    if (this.#ended) return;
    this.#ended = true;
    this.#end();
  }
}

/** Turns with something that one at a time may use, in the order asked. */
class Turns {
  readonly #waiting: (() => void)[] = [];
  #taken = false;

  /** Resolves to the function that ends the turn. */
  take(): Promise<() => void> {
    const end = () => {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#taken = false;
    };
    if (!this.#taken) {
      this.#taken = true;
      return Promise.resolve(end);
    }
    return new Promise((resolve) => this.#waiting.push(() => resolve(end)));
  }
}
