import { hash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { portionTables } from '../../src/catalog/portions.ts';
import { catalogFormat } from '../../src/catalog/schema.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { temporaryFolder } from '../support/folder.ts';
import { buildWholeCatalog } from '../support/whole-catalog.ts';

// How the full-text index keeps its words is SQLite's own; which words those are, of which column, is not.
const isOurs = (name: string): boolean => !/^search(?:_(?:data|idx|content|docsize|config))?$/.test(name);

type Row = Readonly<Record<string, unknown>>;
interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

/** The definitions of all that a catalog holds, and what stands in it. */
const readCatalog = (state: string): { definitions: string[]; tables: Table[] } => {
  const database = new DatabaseSync(catalogPath(state), { readOnly: true });
  try {
    const read = (sql: string): Row[] => database.prepare(sql).all();
    const namesOf = (sql: string): string[] => read(sql).map(({ name }) => String(name));
    const definitions = read('SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name')
      .filter(({ name }) => name === 'search' || isOurs(String(name)))
      .map(({ sql }) => String(sql).replace(/--.*$/gm, '').replace(/\s+/g, ' '));
    // Columns that are computed are listed, and the hidden ones of a virtual table are not.
    const columnsOf = (name: string) => namesOf(`SELECT name FROM pragma_table_xinfo('${name}') WHERE hidden != 1`);
    const tables = namesOf("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
      .filter(isOurs)
      .map((name): Table => ({ name, columns: columnsOf(name), rows: read(`SELECT * FROM "${name}"`) }));
    return {
      definitions,
      tables: [...tables, { name: 'search', columns: columnsOf('search'), rows: readWords(database) }],
    };
  } finally {
    database.close();
  }
};

// No text is stored in the full-text index, so what it says of a document are the words of each column.
const readWords = (database: DatabaseSync): Row[] => {
  database.exec("CREATE VIRTUAL TABLE temp.word USING fts5vocab('main', 'search', 'instance')");
  const documents = new Map<unknown, Record<string, string>>();
  for (const { doc, col, term } of database.prepare('SELECT doc, col, term FROM temp.word ORDER BY term').all()) {
    const document = documents.get(doc) ?? { document: String(doc) };
    documents.set(doc, document);
    document[String(col)] = `${document[String(col)] ?? ''} ${term}`;
  }
  return [...documents.values()];
};

const build = async () => {
  const state = temporaryFolder();
  await buildWholeCatalog(state);
  return readCatalog(state);
};

// A column of which no row says anything could be computed otherwise, and the digest below would be the same.
it('every column of every table has a row in which it says something', async () => {
  const { tables } = await build();
  const nothing = new Set<unknown>([undefined, null, 0, '', '[]', '{}', 'null']);
  const silent = tables.flatMap(({ name, columns, rows }) =>
    columns.filter((column) => rows.every((row) => nothing.has(row[column]))).map((column) => `${name}.${column}`),
  );
  expect(tables.map(({ name }) => name)).toEqual(expect.arrayContaining(['document', 'inner_word', 'search']));
  expect(silent).toEqual([]);
});

// Where this fails, what is computed into the catalog has changed: a field of a record, a table, an order; or which
// tables are published as rows. Raise `catalogFormat` in src/catalog/schema.ts, or the catalogs that exist keep what was
// computed before for every repository that does not change; then write the new format and digest here.
it('C13: what is computed into the catalog is that of its format', async () => {
  const { definitions, tables } = await build();
  // `source` holds the format itself.
  const content = tables.map(({ name, rows }) => [
    name,
    rows.map(({ source: _, ...row }) => JSON.stringify(row)).sort(),
  ]);
  const digest = hash('sha256', JSON.stringify([definitions, content, portionTables])).slice(0, 16);
  expect({ catalogFormat, digest }).toEqual({ catalogFormat: 25, digest: 'd0100abcf46ca03a' });
});
