import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { completeRecord } from '../catalog/record.ts';
import { beginning, everyWord, parseQuestion, type Question, whole } from './question.ts';
import { prepareCorrections } from './spelling.ts';

export interface ResultPage {
  /** Ready JSON texts of the records. */
  readonly records: string[];
  /** Whether there is a page after this one. */
  readonly more: boolean;
}

/** Results beyond this many are not reached by paging: nobody reads them, and finding them all costs everybody. */
const furthestResult = 10_000;

/**
 * Searches package records. Results come in classes, the best first, and each class is one query that yields documents
 * by their number, which is their rank; so the first page of the broadest question reads little more than what it
 * answers. See searchTables for the number, and `classes` for the order.
 */
export class PackageSearch {
  readonly #match: StatementSync;
  readonly #records: StatementSync;
  readonly #corrections: (word: string) => string[];
  readonly #embedded: ReadonlyMap<number, string>;

  constructor(database: DatabaseSync) {
    this.#match = database.prepare('SELECT rowid FROM search WHERE search MATCH ? ORDER BY rowid LIMIT ?');
    this.#match.setReturnArrays(true);
    // One statement for all of a page: a hundred calls cost ten times as much. CROSS JOIN keeps the order asked.
    this.#records = database.prepare(
      `SELECT record.json, record.repository
       FROM json_each(?) AS wanted
       CROSS JOIN search_document ON search_document.id = wanted.value
       CROSS JOIN record ON record.id = search_document.record
       ORDER BY wanted.key`,
    );
    this.#records.setReturnArrays(true);
    this.#corrections = prepareCorrections(database);
    const repositories = database.prepare('SELECT id, embedded FROM repository').all();
    this.#embedded = new Map(repositories.map((row) => [row.id as number, row.embedded as string]));
  }

  /** One page of results; `page` counts from 1. A page past the end is empty. */
  find(text: string, limit: number, page: number): ResultPage {
    const question = parseQuestion(text);
    const start = (page - 1) * limit;
    if (question === undefined || start >= furthestResult) return { records: [], more: false };
    const end = Math.min(start + limit, furthestResult);
    const found = this.#collect(question, end + 1);
    return { records: this.#read(found.slice(start, end)), more: found.length > end && end < furthestResult };
  }

  /** The numbers of the first `wanted` results. */
  #collect(question: Question, wanted: number): number[] {
    const found = new Set<number>();
    for (const expression of this.#classes(question, () => found.size)) {
      // What earlier classes found may come again, so that many more rows than are missing are asked for.
      const rows = this.#match.all(expression, wanted) as unknown as [number][];
      for (const [id] of rows) {
        found.add(id);
        if (found.size === wanted) return [...found];
      }
    }
    return [...found];
  }

  /** The FTS5 expression of each class of results, the best first. */
  *#classes({ words, joined, dotted }: Question, found: () => number): Generator<string> {
    const spelled = words.map((word) => [word]);
    yield whole('key identifier', joined);
    yield beginning('key', joined);
    if (dotted) yield beginning('identifier', joined);
    yield everyWord('name segment', spelled);
    yield everyWord('name segment author', spelled);
    if (!dotted) yield beginning('identifier', joined);
    yield everyWord('name segment author description', spelled);
    if (found() === 0 || words.length === 1) yield* this.#corrected(words, joined);
  }

  *#corrected(words: readonly string[], joined: string): Generator<string> {
    for (const key of this.#corrections(joined)) yield whole('key', key);
    const spellings = words.map((word) => [word, ...this.#corrections(word)]);
    if (spellings.some((list) => list.length > 1)) yield everyWord('name segment author', spellings);
  }

  #read(ids: readonly number[]): string[] {
    if (ids.length === 0) return [];
    const rows = this.#records.all(JSON.stringify(ids)) as unknown as [string, number][];
    return rows.map(([json, repository]) => completeRecord(json, this.#embedded.get(repository) ?? 'null'));
  }
}
