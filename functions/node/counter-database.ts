import { createHmac, randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { SqlValue, Statement, WritableDatabase } from '../../src/catalog/database.ts';
import type { PackageVersion } from '../dependencies.ts';
import { hashedTexts, type MarkedReport, type Marks, markReport, type Report } from '../downloads/download-marks.ts';

/** A database of Node's SQLite with the interface that the counters need. */
export const counterDatabase = (database: DatabaseSync): WritableDatabase => ({
  prepare: <Row extends readonly SqlValue[]>(text: string) => {
    const statement = database.prepare(text);
    statement.setReturnArrays(true);
    return statement as unknown as Statement<Row>;
  },
  prepareWrite: (text) => database.prepare(text),
  exec: (text) => database.exec(text),
});

/** Does the work in one transaction, which is rolled back if it throws. */
export const inTransaction = <T>(database: DatabaseSync, work: () => T): T => {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // After a full disk or an I/O error SQLite may have rolled back already.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
};

/** That many unpredictable bytes. */
export const random = (length: number): Uint8Array => randomBytes(length);

/** Marks a report with the key of its day. */
export const markWith = (key: Uint8Array, report: Report): MarkedReport =>
  markReport(
    report,
    hashedTexts(report).map((text) => createHmac('sha256', key).update(text).digest()),
  );

/** Takes the marks of a report of this day. To be called in a transaction; see `Marks`. */
export const takeMarks = (marks: Marks, day: string, report: Report, count: (one: PackageVersion) => void): number =>
  marks.take(markWith(marks.keyFor(day), report), count);
