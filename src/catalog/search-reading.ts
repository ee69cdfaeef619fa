import type { CatalogDatabase, Statement } from './database.ts';
import { describedBy } from './placeholder.ts';
import { RecentRecords, type RecordRow } from './recent-records.ts';
import { listRecords, parseRecord, type RecordList, type RecordPiece, readyText } from './record-list.ts';
import type { SearchedTexts } from './search-document.ts';
import { bucketOfKey, type DeletionKey, termsOfKey } from './spelling.ts';
import { prepareWordsWithInside, type WordsWithInside } from './word-list.ts';

/** A search document: its number, which is its global rank (see searchTables), and what it was made from. */
export type SearchedDocument = SearchedTexts & { readonly id: number };

/** What results may be put in order by. */
export interface SortKeys {
  readonly id: number;
  readonly identifier: string;
  /** In small letters; the identifier where it has none. */
  readonly name: string;
  /** ISO 8601. */
  readonly firstSeen: string;
}

/** How much text of records is kept in memory, in UTF-16 units. */
const mostRecent = 8 * 2 ** 20;
/**
 * How many records of an answer are kept: those that came first often come first again. To keep all of a long answer
 * would cost it more than it saves the next.
 */
const shownFirst = 16;

/** What a search reads of the catalog. Its statements are prepared once. */
export class SearchReading {
  readonly #match: Statement<[id: number]>;
  readonly #records: Statement<[json: RecordPiece, repository: number]>;
  readonly #recent: RecentRecords;
  readonly #names: Statement<[id: number, name: string | null, identifier: string]>;
  readonly #keys: Statement<[id: number, identifier: string, name: string, firstSeen: string]>;
  readonly #texts: Statement<
    [id: number, identifier: string, name: string | null, author: string | null, json: string]
  >;
  readonly #spelling: Statement<[bucket: number, terms: string]>;
  readonly #embedded: ReadonlyMap<number, string>;
  /** Words of names and identifiers that have a text inside. */
  readonly wordsWithInside: WordsWithInside;
  readonly #within: string | undefined;

  /** Reads a catalog; or the same as another reading, but no document that `within` leaves out, which goes on where an FTS5 expression ends: `AND …`, `NOT …`. */
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
    // A sum, since a bound number alone is looked at when the statement is prepared: it would be prepared anew each time.
    this.#match = database.prepare('SELECT rowid FROM search WHERE search MATCH ? ORDER BY rowid LIMIT 0 + ?');
    // One statement for all of a page: a hundred calls cost ten times as much. CROSS JOIN keeps the order asked.
    const documents = (columns: string) =>
      `SELECT ${columns}
       FROM json_each(?) AS wanted
       CROSS JOIN search_document ON search_document.id = wanted.value
       CROSS JOIN record ON record.id = search_document.record
       ORDER BY wanted.key`;
    this.#records = database.prepare(documents(`${readyText}, record.repository`));
    this.#names = database.prepare(documents('search_document.id, name, package'));
    this.#keys = database.prepare(documents('search_document.id, package, coalesce(name, package), first_seen'));
    this.#texts = database.prepare(documents('search_document.id, package, name, author, record.json'));
    this.#spelling = database.prepare(
      'SELECT bucket, terms FROM json_each(?) AS wanted CROSS JOIN spelling ON spelling.bucket = wanted.value',
    );
    this.#embedded = new Map(database.prepare<[number, string]>('SELECT id, embedded FROM repository').all());
  }

  /**
   * The numbers of the documents that an FTS5 expression finds, the best first. Whatever finds documents goes through
   * here, so that a search that was narrowed finds no others.
   */
  match(expression: string, wanted: number): number[] {
    const asked = this.#within === undefined ? expression : `(${expression}) ${this.#within}`;
    return this.#match.all(asked, wanted).map(([id]) => id);
  }

  /** The records of these documents, in the order asked. `isBeginning`: they are those that an answer begins with. */
  records(ids: readonly number[], isBeginning = false): RecordList {
    const first = isBeginning ? shownFirst : 0;
    const rows = [...this.#recallRows(ids.slice(0, first)), ...this.#readRows(ids.slice(first))];
    return listRecords(rows, (repository) => this.#embedded.get(repository) ?? 'null');
  }

  #readRows(ids: readonly number[]): RecordRow[] {
    return ids.length === 0 ? [] : this.#records.all(JSON.stringify(ids));
  }

  /** The same; what was read of them lately is not read again. */
  #recallRows(ids: readonly number[]): RecordRow[] {
    const kept = ids.map((id) => this.#recent.get(id));
    const missing = ids.filter((_, index) => kept[index] === undefined);
    const read = this.#readRows(missing);
    // Of a document without its record nothing is known that could be kept.
    if (read.length < missing.length) return this.#readRows(ids);
    for (const [index, id] of missing.entries()) this.#recent.set(id, read[index] as RecordRow);
    let next = 0;
    return kept.map((row) => row ?? (read[next++] as RecordRow));
  }

  /** Names and identifiers of these documents, in the order asked. */
  names(ids: readonly number[]): { readonly id: number; readonly name: string | null; readonly identifier: string }[] {
    return this.#names.all(JSON.stringify(ids)).map(([id, name, identifier]) => ({ id, name, identifier }));
  }

  /** What these documents may be put in order by, in the order asked. */
  sortKeys(ids: readonly number[]): SortKeys[] {
    return this.#keys
      .all(JSON.stringify(ids))
      .map(([id, identifier, name, firstSeen]) => ({ id, identifier, name: name.toLowerCase(), firstSeen }));
  }

  /** All texts of these documents, in the order asked. */
  texts(ids: readonly number[]): SearchedDocument[] {
    return this.#texts.all(JSON.stringify(ids)).map(([id, identifier, name, author, json]) => ({
      id,
      identifier,
      name,
      author,
      ...textsOf(json),
    }));
  }

  /** The known terms that share one of these deletions, or seem to; see spelling.ts. */
  termsOf(deletions: Iterable<DeletionKey>): string[] {
    const keys = [...deletions];
    const buckets = new Map(this.#spelling.all(JSON.stringify([...new Set(keys.map(bucketOfKey))])));
    return keys.flatMap((key) => termsOfKey(key, buckets.get(bucketOfKey(key)) ?? ''));
  }
}

const textsOf = (json: string): { readonly description: string | null; readonly maintainer: string | null } => {
  const { description, maintainer } = parseRecord(json);
  return { description: describedBy(description), maintainer };
};
