import type { CatalogDatabase, WritableDatabase } from './database.ts';
import { documentLevel, documentRanking, documentsPerLevel, firstDocumentId, firstOfLevel } from './search-document.ts';
import { composeSearchRow, insertSearchRow } from './search-row.ts';
import type { Vocabulary } from './vocabulary.ts';
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

// The index is put in order when this part of its documents is new.
const greatChange = 0.1;

/**
 * To be called when all changed repositories are indexed; `added` is the number of documents that were new. After a
 * great change the index is written as one piece, which halves the time of a question; after a small one that would take
 * longer than all the rest of the build.
 */
export const finishSearchIndex = (database: WritableDatabase, added: number): void => {
  const [total = 0] = database.prepare<[number]>('SELECT count(*) FROM search_document').get() ?? [];
  if (added > total * greatChange) database.exec(`INSERT INTO search (search) VALUES ('optimize')`);
};

type Row = [record: number, json: string, details: string | null];

const rowsAtOnce = 500;

/** The level of a package by its identifier: how often it was downloaded. */
type LevelOf = (identifier: string) => number;

/** What is indexed into, by whichever repository. */
export interface Indexing {
  readonly database: WritableDatabase;
  readonly levelOf: LevelOf;
  /** To be written when all is indexed. */
  readonly vocabulary: Vocabulary;
}

/** A record that is to be indexed, and what its number depends on. */
type Due = [record: number, nameLength: number, identifier: string];
const dueColumns = 'record.id, length(coalesce(name, package)), package';

/**
 * These records in the order of the numbers that they will get: the full-text index writes out all that it has gathered
 * whenever a number is smaller than the one before.
 */
function* readInOrder(database: CatalogDatabase, due: readonly Due[], levelOf: LevelOf): Generator<Row> {
  const ids = due
    .map(([id, length, identifier]) => ({ id, length, level: levelOf(identifier) }))
    .sort((a, b) => a.length - b.length || b.level - a.level || a.id - b.id)
    .map(({ id }) => id);
  const select = database.prepare<Row>(
    `SELECT record.id, record.json, record.details
     FROM json_each(?) AS wanted CROSS JOIN record ON record.id = wanted.value ORDER BY wanted.key`,
  );
  for (let start = 0; start < ids.length; start += rowsAtOnce) {
    yield* select.all(JSON.stringify(ids.slice(start, start + rowsAtOnce)));
  }
}

// So many documents are indexed before other work, such as writing files, gets its turn.
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
  { database, levelOf, vocabulary }: Indexing,
  ranking: number,
  due: readonly Due[],
): Promise<number> => {
  const nextId = documentNumbers(database, ranking);
  vocabulary.beginRepository();
  const addDocument = database.prepareWrite('INSERT INTO search_document (id, record) VALUES (?, ?)');
  const addTerms = database.prepareWrite(insertSearchRow);
  let done = 0;
  for (const row of readInOrder(database, due, levelOf)) {
    const [record, json, details] = row;
    const composed = composeSearchRow(json, details);
    const id = nextId(composed.shown.length, levelOf(composed.identifier));
    addDocument.run(id, record);
    addTerms.run(id, ...composed.texts);
    vocabulary.add(composed);
    if (++done % turn === 0) await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return done;
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
