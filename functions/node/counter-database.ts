import { createHmac, randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { SqlValue, Statement, WritableDatabase } from '../../src/catalog/database.ts';
import type { PackageVersion } from '../dependencies.ts';
import { hashedTexts, type MarkedReport, type Marks, markReport, type Report } from '../downloads/download-marks.ts';

/** A database of Node's SQLite as what counts downloads asks it. */
export const counterDatabase = (database: DatabaseSync): WritableDatabase => ({
  prepare: <Row extends readonly SqlValue[]>(text: string) => {
    const statement = database.prepare(text);
    statement.setReturnArrays(true);
    return statement as unknown as Statement<Row>;
  },
  prepareWrite: (text) => database.prepare(text),
  exec: (text) => database.exec(text),
});

/** Does all of this work in one transaction, or nothing of it where it throws. */
export const inTransaction = <T>(database: DatabaseSync, work: () => T): T => {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // A full disk or an I/O error makes SQLite roll back by itself.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
};

/** So many bytes that nobody can guess. */
export const random = (length: number): Uint8Array => randomBytes(length);

/** Marks a report with the key of its day. */
export const markWith = (key: Uint8Array, report: Report): MarkedReport =>
  markReport(
    report,
    hashedTexts(report).map((text) => createHmac('sha256', key).update(text).digest()),
  );

/** Takes the marks of a report of this day, in a transaction; see `Marks`. */
export const takeMarks = (marks: Marks, day: string, report: Report, count: (one: PackageVersion) => void): number =>
  marks.take(markWith(marks.keyFor(day), report), count);
