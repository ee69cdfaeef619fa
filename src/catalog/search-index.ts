import type { CatalogDatabase, WritableDatabase } from './database.ts';
import { documentLevel, documentRanking, documentsPerLevel, firstDocumentId, firstOfLevel } from './search-document.ts';
import type { IndexedRecord, SearchSink } from './search-writer.ts';
import { wordListTables } from './word-list.ts';

/**
 * The tables of the full-text index. Terms are made in search-text.ts, so the tokenizer has only to split at blanks.
 * No text is stored (contentless) and no positions (detail=column): an answer needs neither.
 *
 * The number of a search document is its global rank: ranking of the repository, then length of the name, then how
 * often the package was downloaded (levelOfDownloads), so that a
 * broad prefix yields better repositories and closer names first and can stop at the first hundred. Beginnings of up to
 * eight characters are indexed as such; for longer ones the lists of all terms have to be merged, which are short.
 */
export const searchTables = `
  CREATE VIRTUAL TABLE search USING fts5 (
    key,          -- the whole name written together (wholeTerm)
    identifier,   -- the whole package identifier likewise
    name,         -- terms of the name
    segment,      -- terms of the identifier but its first segment, which thousands share ("com"), and its last whole
    author,       -- or the maintainer, where there is none
    description,
    facet,        -- what a search can be narrowed by (facets.ts); asked for by that alone
    content = '', contentless_delete = 1, detail = column, prefix = '1 2 3 4 5 6 7 8', tokenize = "ascii"
  );
  CREATE TABLE search_document (
    id INTEGER PRIMARY KEY,
    record INTEGER NOT NULL
  );
  CREATE INDEX search_document_record ON search_document (record);
  CREATE TABLE spelling (
    bucket INTEGER PRIMARY KEY,
    terms TEXT NOT NULL           -- terms of which a deletion falls into this bucket (composeBucket)
  );
${wordListTables}`;

/** Removes the search documents of the records in this range of ids. */
export const removeSearchDocuments = (database: WritableDatabase, firstRecord: number, endRecord: number): void => {
  const range = [firstRecord, endRecord] as const;
  const ids = 'SELECT id FROM search_document WHERE record >= ? AND record < ?';
  database.prepareWrite(`DELETE FROM search WHERE rowid IN (${ids})`).run(...range);
  database.prepareWrite('DELETE FROM search_document WHERE record >= ? AND record < ?').run(...range);
};

/** The level of a package by its identifier: how often it was downloaded. */
type LevelOf = (identifier: string) => number;

/** What is indexed into, by whichever repository. */
export interface Indexing {
  readonly database: WritableDatabase;
  readonly levelOf: LevelOf;
  /** To be finished when all is indexed. */
  readonly sink: SearchSink;
  /** Given where nobody waits for it any more. */
  readonly signal?: AbortSignal | undefined;
}

/** A record that is to be indexed, and what its number depends on. */
type Due = [record: number, shown: string, identifier: string];
const dueColumns = 'record.id, coalesce(name, package), package';

/** A document that is to be: of which record, in which place. */
interface Place {
  readonly record: number;
  readonly length: number;
  readonly level: number;
}

/**
 * The places of these records in the order of the numbers that they will get: the full-text index writes out all that it
 * has gathered whenever a number is smaller than the one before.
 */
const sortPlaces = (due: readonly Due[], levelOf: LevelOf): Place[] =>
  due
    .map(([record, shown, identifier]) => ({ record, length: shown.length, level: levelOf(identifier) }))
    .sort((a, b) => a.length - b.length || b.level - a.level || a.record - b.record);

// So many documents are indexed in one go.
const turn = 256;

/**
 * Indexes the latest records of one repository and returns how many there are. Their JSON text is complete but for the
 * value of its last key. Gives way to other work between turns.
 */
export const addSearchDocuments = async (
  indexing: Indexing,
  ranking: number,
  firstRecord: number,
  endRecord: number,
): Promise<number> => {
  const due = indexing.database
    .prepare<Due>(`SELECT ${dueColumns} FROM record WHERE id >= ? AND id < ? AND latest = 1`)
    .all(firstRecord, endRecord);
  return addDocuments(indexing, ranking, due);
};

/**
 * Gives the documents of packages that have another level now the numbers of that; returns how many. What was indexed
 * since has its number already.
 */
export const moveSearchDocuments = async (indexing: Indexing): Promise<number> => {
  const { database, levelOf } = indexing;
  const rows = database.prepare<[document: number, ...Due]>(
    `SELECT search_document.id, ${dueColumns} FROM search_document CROSS JOIN record ON record.id = search_document.record`,
  );
  const moved = rows.all().filter(([document, , , identifier]) => documentLevel(document) !== levelOf(identifier));
  const ids = JSON.stringify(moved.map(([document]) => document));
  for (const [table, key] of [
    ['search', 'rowid'],
    ['search_document', 'id'],
  ]) {
    database.prepareWrite(`DELETE FROM ${table} WHERE ${key} IN (SELECT value FROM json_each(?))`).run(ids);
  }
  const byRanking = Map.groupBy(moved, ([document]) => documentRanking(document));
  for (const [ranking, some] of byRanking) {
    const due = some.map(([, ...one]): Due => one);
    await addDocuments(indexing, ranking, due);
  }
  return moved.length;
};

const addDocuments = async (
  { database, levelOf, sink, signal }: Indexing,
  ranking: number,
  due: readonly Due[],
): Promise<number> => {
  const nextId = documentNumbers(database, ranking);
  sink.beginRepository();
  const addDocument = database.prepareWrite('INSERT INTO search_document (id, record) VALUES (?, ?)');
  const select = database.prepare<[json: string, details: string | null]>(
    `SELECT record.json, record.details
     FROM json_each(?) AS wanted CROSS JOIN record ON record.id = wanted.value ORDER BY wanted.key`,
  );
  const places = sortPlaces(due, levelOf);
  for (let start = 0; start < places.length; start += turn) {
    signal?.throwIfAborted();
    const some = places.slice(start, start + turn);
    const rows = select.all(JSON.stringify(some.map(({ record }) => record)));
    const records = some.map(({ record, length, level }, index): IndexedRecord => {
      const id = nextId(length, level);
      addDocument.run(id, record);
      const [json = '', details = null] = rows[index] ?? [];
      return [id, json, details];
    });
    await sink.take(records);
  }
  return places.length;
};

/** Hands out the numbers of new documents: within a ranking, a name length and a level they count up. */
const documentNumbers = (
  database: CatalogDatabase,
  ranking: number,
): ((nameLength: number, level: number) => number) => {
  const greatest = database.prepare<[number | null]>('SELECT max(id) FROM search_document WHERE id >= ? AND id < ?');
  const next = new Map<number, number>();
  return (nameLength, level) => {
    const first = firstOfLevel(firstDocumentId(ranking, nameLength), level);
    let id = next.get(first);
    if (id === undefined) {
      const [last = null] = greatest.get(first, first + documentsPerLevel) ?? [];
      id = last === null ? first : last + 1;
    }
    next.set(first, id + 1);
    return id;
  };
};
