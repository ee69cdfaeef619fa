import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import type { ObjectState, SqlStorage, StoredValue } from '../../functions/cloudflare/platform.ts';

/** An object's storage in memory, with Node's SQLite, and a record of its use: calls, and what is written and read. */
export const openStorage = () => {
  const database = new DatabaseSync(':memory:');
  onTestFinished(() => database.close());
  const asked = { calls: 0, values: 0 };
  const count = (rows: readonly (readonly StoredValue[])[]) => {
    for (const row of rows) for (const value of row) asked.values += typeof value === 'string' ? value.length : 8;
  };
  const sql: SqlStorage = {
    exec: (text, ...values) => {
      asked.calls++;
      count([values]);
      if (/^\s*CREATE/.test(text)) {
        database.exec(text);
        return { raw: () => [].values() };
      }
      const statement = database.prepare(text);
      statement.setReturnArrays(true);
      const rows = statement.all(...(values as string[])) as unknown as StoredValue[][];
      count(rows);
      return { raw: () => rows.values() };
    },
  };
  let alarm: number | null = null;
  const storage: ObjectState['storage'] = {
    sql,
    transactionSync: (work) => work(),
    getAlarm: async () => alarm,
    setAlarm: async (at) => {
      alarm = at;
    },
  };
  const state: ObjectState = { id: { equals: () => false }, storage };
  /** Takes the time of its alarm, which is then off; null if none is set. */
  const takeAlarm = (): number | null => {
    const at = alarm;
    alarm = null;
    return at;
  };
  return { state, sql, asked, takeAlarm };
};
