import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { Kysely, RawBuilder, Transaction } from 'kysely';
import type { Gate } from '../../http/gate.ts';
import { ClientLeft, type CredentialStore } from './credential-store.ts';
import type { GatewayTables } from './tables.ts';

/** Where an operation of the store reads and writes, for as long as somebody waits for it. */
export interface Databases {
  readonly read: Kysely<GatewayTables>;
  /**
   * Does the work in one write transaction, or nothing of it; what it resolves to is on disk. `isStrangers`: anybody may
   * have this written without an account, so it waits in a line of its own, where writers wait for each other.
   */
  transact<Result>(
    work: (transaction: Transaction<GatewayTables>) => Promise<Result>,
    isStrangers?: boolean,
  ): Promise<Result>;
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

/** One operation's wait: over where its client has left or its time has passed. */
export interface Wait {
  /** Aborted when the wait is over. Made when first asked for: what need not wait pays nothing for it. */
  readonly signal: AbortSignal;
  /** Throws where the wait is over. */
  assertWanted(): void;
  /** Set when all that is left is to hear whether a commit succeeded: it can no longer be left undone. */
  committing: boolean;
  end(): void;
}

/** Begins the wait of an operation, for as long as `client` is not aborted. Whoever begins it ends it. */
export const beginWait = (client?: AbortSignal): Wait => {
  const deadline = performance.now() + patience;
  let controller: AbortController | undefined;
  let timer: NodeJS.Timeout | undefined;
  const left = () => new ClientLeft();
  // The log tells codes alone, and this is why a store fails most often.
  const late = () => Object.assign(new Error(`not done within ${patience} ms`), { code: 'too_late' });
  const leave = () => controller?.abort(left());
  return {
    get signal() {
      if (controller) return controller.signal;
      controller = new AbortController();
      timer = setTimeout(() => controller?.abort(late()), Math.max(0, deadline - performance.now()));
      if (client?.aborted) leave();
      else client?.addEventListener('abort', leave);
      return controller.signal;
    },
    assertWanted: () => {
      // A timer may be a millisecond early, and whoever was told that the time has passed believes that nothing is done.
      controller?.signal.throwIfAborted();
      if (client?.aborted) throw left();
      if (performance.now() > deadline) throw late();
    },
    committing: false,
    end: () => {
      clearTimeout(timer);
      if (controller) client?.removeEventListener('abort', leave);
    },
  };
};

/** Resolves as the work does, but not later than its wait ends; what it does afterwards it may not commit. */
export const boundBy = <Result>(wait: Wait, work: Promise<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    const { signal } = wait;
    const stop = () => wait.committing || reject(signal.reason);
    // A signal that was given before tells nobody again.
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject);
  });

/** The same failure, with the code of a wait that took too long where the driver of PostgreSQL gave up first: it has none. */
export const withCode = (error: unknown): unknown =>
  error instanceof Error && !('code' in error) && /\btimeout\b/.test(error.message)
    ? Object.assign(error, { code: 'too_late' })
    : error;

/** Whether another connection holds the lock that was asked for (SQLITE_BUSY and its extended codes). */
const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' && (error.errcode & 0xff) === 5;

/** Whether PostgreSQL has no connection left, or the role or the database that is asked for ("too_many_connections"). */
const isFull = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === '53300';

/** Whether PostgreSQL took a transaction back that waited for another one that waited for it ("deadlock_detected"). */
const isDeadlock = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === '40P01';

/** A lock is had for a moment; a connection goes with whoever has it, and to ask for one costs a process over there. */
const pauseAfter = (error: unknown) => (isFull(error) ? 100 + Math.random() * 200 : 1 + Math.random() * 4);

/** Does the work again for as long as it meets a lock, or finds no connection to begin with, or was taken back. */
export const untilUnlocked = async <Result>(wait: Wait, work: () => Promise<Result>): Promise<Result> => {
  for (;;) {
    wait.assertWanted();
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) && !isFull(error) && !isDeadlock(error)) throw error;
      await sleep(pauseAfter(error), undefined, { signal: wait.signal }).catch(() => {
        // Itself it says only that it was aborted.
        throw wait.signal.reason;
      });
    }
  }
};

/** One write of a process at a time. Those of strangers, of whom there may be many, take turns with all others. */
export type WriteTurns = Pick<Gate, 'isOpen' | 'pass'>;

/** A write when it is its turn, or an error when its wait is over. */
export const inTurn = <Result>(
  turns: WriteTurns,
  wait: Wait,
  isStrangers: boolean,
  write: () => Promise<Result>,
): Promise<Result> => {
  // Only who has to wait is told when the wait is over.
  const isOpen = turns.isOpen();
  const writing = turns.pass(isStrangers ? 'strangers' : 'others', async () => {
    wait.assertWanted();
    return write();
  });
  return isOpen ? writing : boundBy(wait, writing);
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
        wait.assertWanted();
        return connection.transaction().execute(work);
      }),
    { signal: wait.signal },
  );

/**
 * A transaction on PostgreSQL; it is rolled back where nobody waits for its commit any more. One that was taken back is
 * done again by itself: what its operation has committed before would not be counted again.
 */
export const transactPostgres = <Result>(
  database: Kysely<GatewayTables>,
  wait: Wait,
  work: (transaction: Transaction<GatewayTables>) => Promise<Result>,
): Promise<Result> =>
  untilUnlocked(wait, async () => {
    try {
      return await database.connection().execute(
        (connection) => {
          wait.assertWanted();
          return connection.transaction().execute(async (transaction) => {
            const result = await work(transaction);
            wait.assertWanted();
            wait.committing = true;
            return result;
          });
        },
        { signal: wait.signal },
      );
    } finally {
      // What the operation does next can be left undone again.
      wait.committing = false;
    }
  });
