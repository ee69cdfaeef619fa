import { Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely';
import { createSteadyClock, timeOf } from '../store/clock.ts';
import { migrate } from '../store/migrations.ts';
import type { Connection } from '../store/open-connection.ts';
import { startClock } from '../store/started-clock.ts';
import type { GatewayTables } from '../store/tables.ts';

type Stored = null | number | string | ArrayBuffer;

/** The storage of a Durable Object of Cloudflare, as far as the store needs it (docs, "SQLite-backed Storage"). */
export interface ObjectStorage {
  readonly sql: {
    exec(
      statement: string,
      ...values: (Stored | ArrayBufferView)[]
    ): { readonly columnNames: string[]; raw(): IterableIterator<(Stored | ArrayBufferView)[]> };
  };
  /** Does the work in one transaction, or nothing of it; meanwhile the object is told of no event. */
  transaction<Result>(work: () => Promise<Result>): Promise<Result>;
}

const readers = /^\s*(?:select|with)\b|\breturning\b/i;

/** What Kysely's dialect, made for another driver, wants of a database. */
const adapt = ({ sql }: ObjectStorage): SqliteDatabase => {
  const run = (text: string, values: readonly unknown[]) => sql.exec(text, ...(values as Stored[]));
  function* rows(text: string, values: readonly unknown[]): Generator<Record<string, unknown>> {
    const cursor = run(text, values);
    const names = cursor.columnNames;
    for (const row of cursor.raw()) {
      // Bytes come as a buffer, which the store compares as bytes.
      const values = row.map((value) => (value instanceof ArrayBuffer ? new Uint8Array(value) : value));
      yield Object.fromEntries(names.map((name, at) => [name, values[at]]));
    }
  }
  // The object's storage begins and ends its transactions itself, and refuses the words.
  const nothing: SqliteStatement = {
    reader: false,
    all: () => [],
    iterate: () => [].values(),
    run: () => ({ changes: 0, lastInsertRowid: 0 }),
  };
  const words = new Set(['begin', 'commit', 'rollback']);
  return {
    close: () => {},
    prepare: (text) =>
      words.has(text)
        ? nothing
        : {
            reader: readers.test(text),
            all: (values) => [...rows(text, values)],
            iterate: (values) => rows(text, values),
            run: (values) => {
              run(text, values);
              // What the cursor counts has the rows of indexes in it.
              const [row] = [...run('select changes()', []).raw()];
              return { changes: Number(row?.[0]), lastInsertRowid: 0 };
            },
          },
  };
};

/**
 * The credential store in the storage of a Durable Object. The object runs one thing at a time and sees only what it
 * wrote itself; what it answers leaves when what it wrote is on disk (docs, "Output gates"). `clock` stands in for the
 * platform's, for tests. Throws where the store is newer than this program, and ClockBehind.
 */
export const connectObject = async (storage: ObjectStorage, clock?: () => number): Promise<Connection> => {
  const database = new Kysely<GatewayTables>({ dialect: new SqliteDialect({ database: adapt(storage) }) });
  await storage.transaction(() => migrate(database, 'sqlite'));
  // The platform shows the time of the last event, and no other clock that would run on where that is set back.
  const elapsed = () => 0;
  const steady = clock
    ? { now: clock, observe: () => {} }
    : await startClock(database, createSteadyClock(Date.now, elapsed));
  return {
    during: (wait) => ({
      read: database,
      // Kysely has one connection, which is asked for first: whoever waits for it holds up no event.
      transact: (work) =>
        database.connection().execute((connection) => {
          wait.assertWanted();
          return storage.transaction(() => connection.transaction().execute(work));
        }),
      now: () => timeOf(steady.now),
      observe: steady.observe,
      // Its pages are reused, and billed by what is in them.
      giveSpaceBack: async () => false,
    }),
    bound: (_, work) => work,
    close: async () => {},
  };
};
