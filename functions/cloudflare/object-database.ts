import type { SqlValue, Statement, WritableDatabase } from '../../src/catalog/database.ts';
import type { SqlStorage, StoredValue } from './platform.ts';

const read = (value: StoredValue): SqlValue =>
  value instanceof ArrayBuffer ? new Uint8Array(value) : (value as SqlValue);

/** The catalog in the storage of a Durable Object, whose engine keeps compiled statements by their text. */
export const objectDatabase = (sql: SqlStorage): WritableDatabase => ({
  prepare: <Row extends readonly SqlValue[]>(text: string): Statement<Row> => {
    function* iterate(...values: SqlValue[]): Generator<Row> {
      for (const row of sql.exec(text, ...values).raw()) yield row.map(read) as unknown as Row;
    }
    return {
      iterate,
      all: (...values) => [...iterate(...values)],
      get: (...values) => {
        for (const row of iterate(...values)) return row;
        return undefined;
      },
    };
  },
  prepareWrite: (text) => ({ run: (...values) => void sql.exec(text, ...values) }),
  exec: (text) => void sql.exec(text),
});
