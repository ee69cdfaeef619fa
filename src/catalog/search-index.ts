import type { CatalogDatabase, WritableDatabase } from './database.ts';
import { documentLevel, documentRanking, documentsPerLevel, firstDocumentId, firstOfLevel } from './search-document.ts';
import type { IndexedRecord, SearchSink } from './search-writer.ts';
import { wordListTables } from './word-list.ts';

/**
 * The tables of the full-text index. search-text.ts makes the terms, so the tokenizer only has to split at blanks.
 * Neither text (contentless) nor positions (detail=column) are stored, because answers need neither.
 *
 * The number of a search document is its global rank: ranking of the repository, then length of the name, then how
 * often the package was downloaded (levelOfDownloads). So a broad prefix gives better repositories and closer names
 * first and can stop after the first hundred. Prefixes of up to eight characters are indexed; for longer ones the lists
 * of all matching terms have to be merged, and these are short.
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

/** The download level of the package with this identifier. */
type LevelOf = (identifier: string) => number;

/** What indexing a repository works with. */
export interface Indexing {
  readonly database: WritableDatabase;
  readonly levelOf: LevelOf;
  /** To be finished when all repositories are indexed. */
  readonly sink: SearchSink;
  /** The catalog in force, whose documents keep their numbers; undefined if a new one begins. */
  readonly before?: CatalogDatabase | undefined;
  /** Aborted when nobody waits for the result any more. */
  readonly signal?: AbortSignal | undefined;
}

/** A record to be indexed, and what its number depends on. */
type Due = [record: number, shown: string, identifier: string, architecture: string];
const dueColumns = 'record.id, coalesce(name, package), package, architecture';

/** A search document to be written: its record and its number. */
interface NumberedRecord {
  readonly id: number;
  readonly record: number;
}

// How many documents are indexed at a time.
const turn = 256;

/**
 * Indexes the latest records of one repository and returns how many there are. `known` are the previous numbers of its
 * documents. The JSON text of a record is complete except for the value of its last key. Other work gets its turn in
 * between.
 */
export const addSearchDocuments = async (
  indexing: Indexing,
  ranking: number,
  firstRecord: number,
  endRecord: number,
  known: DocumentNumbers,
): Promise<number> => {
  const due = indexing.database
    .prepare<Due>(`SELECT ${dueColumns} FROM record WHERE id >= ? AND id < ? AND latest = 1`)
    .all(firstRecord, endRecord);
  return addDocuments(indexing, ranking, due, known);
};

const keyOf = (identifier: string, architecture: string): string => `${identifier}\n${architecture}`;

/** The numbers of the documents of a repository, by package and architecture. */
export type DocumentNumbers = ReadonlyMap<string, number>;

/** Reads the numbers for the records in this range of ids. */
export const readDocumentNumbers = (
  database: CatalogDatabase,
  firstRecord: number,
  endRecord: number,
): DocumentNumbers => {
  const rows = database.prepare<[id: number, identifier: string, architecture: string]>(
    `SELECT search_document.id, package, architecture
     FROM record CROSS JOIN search_document ON search_document.record = record.id
     WHERE record.id >= ? AND record.id < ?`,
  );
  return new Map(rows.all(firstRecord, endRecord).map(([id, ...of]) => [keyOf(...of), id]));
};

/**
 * Gives new numbers to the documents of packages whose download level has changed. Returns how many. Documents that
 * were indexed in this build have the right number already.
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
  { database, before, levelOf, sink, signal }: Indexing,
  ranking: number,
  due: readonly Due[],
  known: DocumentNumbers = new Map(),
): Promise<number> => {
  const numbered = numberDocuments(
    [database, ...(before === undefined ? [] : [before])],
    { ranking, levelOf, known },
    due,
  );
  sink.beginRepository();
  const addDocument = database.prepareWrite('INSERT INTO search_document (id, record) VALUES (?, ?)');
  const select = database.prepare<[json: string, details: string | null]>(
    `SELECT record.json, record.details
     FROM json_each(?) AS wanted CROSS JOIN record ON record.id = wanted.value ORDER BY wanted.key`,
  );
  for (let start = 0; start < numbered.length; start += turn) {
    signal?.throwIfAborted();
    const some = numbered.slice(start, start + turn);
    const rows = select.all(JSON.stringify(some.map(({ record }) => record)));
    const records = some.map(({ id, record }, index): IndexedRecord => {
      addDocument.run(id, record);
      const [json = '', details = null] = rows[index] ?? [];
      return [id, json, details];
    });
    await sink.take(records);
  }
  return numbered.length;
};

interface Numbering {
  readonly ranking: number;
  readonly levelOf: LevelOf;
  /** The previous numbers of documents. */
  readonly known: DocumentNumbers;
}

/**
 * Numbers these documents and returns them in the order of their numbers, because the full-text index flushes
 * everything that it has gathered whenever a number is smaller than the one before. A document keeps its number while
 * its ranking, length of name and level stay the same; otherwise the order of equal results would change whenever a
 * repository is read again. New numbers count up, in the order of the records, from the greatest in these catalogs, so
 * that no number is reused.
 */
const numberDocuments = (
  catalogs: readonly CatalogDatabase[],
  { ranking, levelOf, known }: Numbering,
  due: readonly Due[],
): NumberedRecord[] => {
  const greatest = catalogs.map((database) =>
    database.prepare<[number | null]>('SELECT max(id) FROM search_document WHERE id >= ? AND id < ?'),
  );
  const next = new Map<number, number>();
  const nextOf = (first: number): number => {
    const lastOf = (select: (typeof greatest)[number]) =>
      select.get(first, first + documentsPerLevel)?.[0] ?? first - 1;
    const id = next.get(first) ?? Math.max(...greatest.map(lastOf)) + 1;
    next.set(first, id + 1);
    return id;
  };
  const inOrder = due.toSorted(([a], [b]) => a - b);
  const numbered = inOrder.map(([record, shown, identifier, architecture]): NumberedRecord => {
    const first = firstOfLevel(firstDocumentId(ranking, shown.length), levelOf(identifier));
    const before = known.get(keyOf(identifier, architecture)) ?? -1;
    return { id: before >= first && before < first + documentsPerLevel ? before : nextOf(first), record };
  });
  return numbered.sort((a, b) => a.id - b.id);
};
