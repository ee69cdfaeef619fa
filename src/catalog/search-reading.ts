import type { CatalogDatabase, Statement } from './database.ts';
import { describedBy } from './placeholder.ts';
import { RecentRecords, type RecordRow } from './recent-records.ts';
import { listRecords, parseTexts, type RecordList, type RecordPiece, readyText } from './record-list.ts';
import type { SearchedTexts } from './search-document.ts';
import { foldText } from './search-text.ts';
import { bucketOfKey, type DeletionKey, termsOfKey } from './spelling.ts';
import { prepareWordsWithInside, type WordsWithInside } from './word-list.ts';

/** A search document: its number, which is its global rank (see searchTables), and what it was made from. */
export type SearchedDocument = SearchedTexts & { readonly id: number };

/** What results can be sorted by. */
export interface SortKeys {
  readonly id: number;
  readonly identifier: string;
  /** Without regard to case and diacritics; the identifier if there is no name. */
  readonly name: string;
  /** ISO 8601. */
  readonly firstSeen: string;
}

/** How much text of records is kept in memory, in UTF-16 units. */
const mostRecent = 8 * 2 ** 20;
/**
 * How many records of an answer are kept: those that come first often come first again. Keeping all of a long answer
 * would cost more than it saves for the next one.
 */
const shownFirst = 16;

/** What a search reads from the catalog. Its statements are prepared once. */
export class SearchReading {
  readonly #match: Statement<[id: number]>;
  readonly #records: Statement<[json: RecordPiece, repository: number]>;
  readonly #recent: RecentRecords;
  readonly #names: Statement<[id: number, name: string | null, identifier: string]>;
  readonly #keys: Statement<[id: number, identifier: string, name: string, firstSeen: string]>;
  readonly #texts: Statement<[id: number, json: string]>;
  readonly #spelling: Statement<[bucket: number, terms: string]>;
  readonly #embedded: ReadonlyMap<number, string>;
  /** Finds words of names and identifiers that contain a text. */
  readonly wordsWithInside: WordsWithInside;
  readonly #within: string | undefined;

  /** Reads a catalog, or narrows another reading: `within` is appended to every FTS5 expression (`AND …`, `NOT …`). */
  constructor(source: CatalogDatabase | SearchReading, within?: string) {
    this.#within = within;
    if (source instanceof SearchReading) {
      this.#match = source.#match;
      this.#records = source.#records;
      this.#recent = source.#recent;
      this.#names = source.#names;
      this.#keys = source.#keys;
      this.#texts = source.#texts;
      this.#spelling = source.#spelling;
      this.#embedded = source.#embedded;
      this.wordsWithInside = source.wordsWithInside;
      return;
    }
    const database = source;
    this.#recent = new RecentRecords(mostRecent);
    this.wordsWithInside = prepareWordsWithInside(database);
    // The sum hides the bound number from the planner. SQLite reads a bound LIMIT alone when it prepares the statement,
    // and so would prepare it again for each value.
    this.#match = database.prepare('SELECT rowid FROM search WHERE search MATCH ? ORDER BY rowid LIMIT 0 + ?');
    // One statement for a whole page: a hundred calls would cost ten times as much. CROSS JOIN keeps the given order.
    const documents = (columns: string) =>
      `SELECT ${columns}
       FROM json_each(?) AS wanted
       CROSS JOIN search_document ON search_document.id = wanted.value
       CROSS JOIN record ON record.id = search_document.record
       ORDER BY wanted.key`;
    this.#records = database.prepare(documents(`${readyText}, record.repository`));
    this.#names = database.prepare(documents('search_document.id, name, package'));
    this.#keys = database.prepare(documents('search_document.id, package, coalesce(name, package), first_seen'));
    this.#texts = database.prepare(documents('search_document.id, record.json'));
    this.#spelling = database.prepare(
      'SELECT bucket, terms FROM json_each(?) AS wanted CROSS JOIN spelling ON spelling.bucket = wanted.value',
    );
    this.#embedded = new Map(database.prepare<[number, string]>('SELECT id, embedded FROM repository').all());
  }

  /**
   * The numbers of the documents that match an FTS5 expression, the best first. Every search goes through here, so that
   * a narrowed one finds nothing else.
   */
  match(expression: string, wanted: number): number[] {
    const asked = this.#within === undefined ? expression : `(${expression}) ${this.#within}`;
    return this.#match.all(asked, wanted).map(([id]) => id);
  }

  /** The records of these documents, in the given order. `isBeginning`: an answer begins with them. */
  records(ids: readonly number[], isBeginning = false): RecordList {
    const first = isBeginning ? shownFirst : 0;
    const rows = [...this.#recallRows(ids.slice(0, first)), ...this.#readRows(ids.slice(first))];
    return listRecords(rows, (repository) => this.#embedded.get(repository) ?? 'null');
  }

  #readRows(ids: readonly number[]): RecordRow[] {
    return ids.length === 0 ? [] : this.#records.all(JSON.stringify(ids));
  }

  /** The same, except that recently read records are not read again. */
  #recallRows(ids: readonly number[]): RecordRow[] {
    const kept = ids.map((id) => this.#recent.get(id));
    const missing = ids.filter((_, index) => kept[index] === undefined);
    const read = this.#readRows(missing);
    // A document without a record leaves no row, so the rows cannot be assigned to documents.
    if (read.length < missing.length) return this.#readRows(ids);
    for (const [index, id] of missing.entries()) this.#recent.set(id, read[index] as RecordRow);
    let next = 0;
    return kept.map((row) => row ?? (read[next++] as RecordRow));
  }

  /** Names and identifiers of these documents, in the given order. */
  names(ids: readonly number[]): { readonly id: number; readonly name: string | null; readonly identifier: string }[] {
    return this.#names.all(JSON.stringify(ids)).map(([id, name, identifier]) => ({ id, name, identifier }));
  }

  /** The sort keys of these documents, in the given order. */
  sortKeys(ids: readonly number[]): SortKeys[] {
    return this.#keys
      .all(JSON.stringify(ids))
      .map(([id, identifier, name, firstSeen]) => ({ id, identifier, name: foldText(name), firstSeen }));
  }

  /** All indexed texts of these documents, in the given order. */
  texts(ids: readonly number[]): SearchedDocument[] {
    return this.#texts.all(JSON.stringify(ids)).map(([id, json]) => {
      const { package_id: identifier, name, author, maintainer, description } = parseTexts(json);
      return { id, identifier, name, author, maintainer, description: describedBy(description) };
    });
  }

  /** The known terms that share one of these deletions, or may share one; see spelling.ts. */
  termsOf(deletions: Iterable<DeletionKey>): string[] {
    const keys = [...deletions];
    const buckets = new Map(this.#spelling.all(JSON.stringify([...new Set(keys.map(bucketOfKey))])));
    return keys.flatMap((key) => termsOfKey(key, buckets.get(bucketOfKey(key)) ?? ''));
  }
}
