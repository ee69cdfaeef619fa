import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { Kysely, RawBuilder, Transaction } from 'kysely';
import type { GatewayTables } from '../schema.ts';
import type { CredentialStore } from '../store.ts';
import { isBusy } from './sqlite.ts';

/** Where an operation of the store reads and writes, for as long as somebody waits for it. */
export interface Databases {
  readonly read: Kysely<GatewayTables>;
  /** Does the work in one write transaction, or nothing of it; what it resolves to is on disk. */
  transact<Result>(work: (transaction: Transaction<GatewayTables>) => Promise<Result>): Promise<Result>;
  /** The store's time in milliseconds since 1970, for a statement that is run at once. */
  now(): RawBuilder<number>;
  /** Tells the store's clock of a time found in a row, where it has one that could be behind. */
  observe(time: number): void;
  /** Gives a portion of what was deleted back to the file system; resolves to whether there is more. */
  giveSpaceBack(): Promise<boolean>;
}

/** An operation of the store, still to be given its databases. */
export type Operation<Name extends keyof CredentialStore> = CredentialStore[Name] extends (
  ...parameters: infer Parameters
) => infer Result
  ? (databases: Databases, ...parameters: Parameters) => Result
  : never;

/** The longest that an operation waits, in milliseconds, for locks, connections and answers together. */
const patience = 5_000;

/** One operation's wait: aborted where its client has left or its time is over. */
export interface Wait {
  readonly signal: AbortSignal;
  /** Set when all that is left is to hear whether a commit succeeded: it can no longer be left undone. */
  committing: boolean;
  end(): void;
}

export const beginWait = (client?: AbortSignal): Wait => {
  const controller = new AbortController();
  const leave = () => controller.abort(new Error('the client has left'));
  const timer = setTimeout(() => controller.abort(new Error(`not done within ${patience} ms`)), patience);
  if (client?.aborted) leave();
  client?.addEventListener('abort', leave);
  return {
    signal: controller.signal,
    committing: false,
    end: () => {
      clearTimeout(timer);
      client?.removeEventListener('abort', leave);
    },
  };
};

/** Resolves as the work does, but not later than its wait ends; what it does afterwards it may not commit. */
export const boundBy = <Result>(wait: Wait, work: Promise<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    wait.signal.addEventListener('abort', () => wait.committing || reject(wait.signal.reason), { once: true });
    work.then(resolve, reject);
  });

const pause = (signal: AbortSignal) => sleep(1 + Math.random() * 4, undefined, { signal });

/** Does the work again for as long as it meets a lock. */
export const untilUnlocked = async <Result>({ signal }: Wait, work: () => Promise<Result>): Promise<Result> => {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      await pause(signal);
    }
  }
};

/**
 * A transaction on SQLite. Whoever holds the connection asks for the lock again and again; the others stand in line
 * behind it, and each leaves the line when its own wait is over.
 */
export const transactSqlite = <Result>(
  database: Kysely<GatewayTables>,
  wait: Wait,
  work: (transaction: Transaction<GatewayTables>) => Promise<Result>,
): Promise<Result> =>
  database.connection().execute(
    (connection) =>
      untilUnlocked(wait, async () => {
        // Each transaction keeps the process until it is on disk. In between everybody else gets a turn, and it is
        // noticed who has left. From here to the commit nothing is waited for.
        await setImmediate();
        wait.signal.throwIfAborted();
        return connection.transaction().execute(work);
      }),
    { signal: wait.signal },
  );

/** A transaction on PostgreSQL; it is rolled back where nobody waits for its commit any more. */
export const transactPostgres = <Result>(
  database: Kysely<GatewayTables>,
  wait: Wait,
  work: (transaction: Transaction<GatewayTables>) => Promise<Result>,
): Promise<Result> =>
  database.connection().execute(
    (connection) => {
      wait.signal.throwIfAborted();
      return connection.transaction().execute(async (transaction) => {
        const result = await work(transaction);
        wait.signal.throwIfAborted();
        wait.committing = true;
        return result;
      });
    },
    { signal: wait.signal },
  );
