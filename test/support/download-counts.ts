import { DatabaseSync } from 'node:sqlite';
import { patience } from './patience.ts';

/** Limits of counters that a busy machine may take longer to open than a server may. */
export const unhurried = { taskTimeout: patience.timeout, keyTimeout: patience.timeout };

/** A download of a version, as clients report it. */
export const one = (id: string, version = '1.0') => ({ package_id: id, package_version: version });

/** The SQL that reads all daily counts. */
export const dailyCounts = 'SELECT * FROM downloads ORDER BY day, package_id, package_version';

/** Daily counts by day, package and version. */
export const countsOf = (rows: readonly Record<string, unknown>[]): Record<string, number> =>
  Object.fromEntries(rows.map((row) => [`${row.day} ${row.package_id} ${row.package_version}`, Number(row.count)]));

/** The counts in a database file. */
export const readCounts = (file: string): Record<string, number> => {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database.prepare(dailyCounts).all();
  database.close();
  return countsOf(rows);
};
