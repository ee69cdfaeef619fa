import { hash } from 'node:crypto';
import path from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { readDivergences } from '../../src/catalog/divergence-reading.ts';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { createPortionTables, dropPortionTables, PortionWriter } from '../../src/catalog/portion-writer.ts';
import { type Portion, portionTables, RowTooLarge, readPortions } from '../../src/catalog/portions.ts';
import { createTables } from '../../src/catalog/schema.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { CatalogSearch } from '../../src/search/catalog-search.ts';
import { buildCatalog, packages, type SourceRepository } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';

const openEmpty = (): CatalogFile => {
  const database = CatalogFile.open(path.join(temporaryFolder(), 'x.sqlite'));
  onTestFinished(() => database.close());
  // Nothing of it outlives the test, and nothing waits for a disk.
  database.exec('PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; BEGIN');
  return database;
};

const readBuilt = <T>(state: string, read: (database: CatalogFile) => T): T => {
  const database = CatalogFile.openReadOnly(catalogPath(state));
  try {
    return read(database);
  } finally {
    database.close();
  }
};

const place = (portions: readonly Portion[]) =>
  portions.map((portion, index) => {
    const next = portions[index + 1];
    const end = next?.table === portion.table ? next.first : null;
    return { ...portion, end, sha256: hash('sha256', portion.text) };
  });

/** Brings what is written in portions to what these say; returns how many rows were written, and how many portions. */
const bring = (database: CatalogFile, portions: readonly Portion[]) => {
  const writer = new PortionWriter(database);
  let [rows, taken] = [0, 0];
  for (const portion of writer.findMissing(place(portions))) {
    const { added, removed } = writer.write(portion, portion.text);
    rows += added + removed;
    taken++;
  }
  while (writer.indexSome() > 0);
  return { rows, taken };
};

const questions = ['a', 'ab', 'alpha', 'alpah', 'beta gamma', 'lpha', 'com.', 'person', 'words of'];

const askAll = async (database: CatalogFile): Promise<string[]> => {
  const search = new CatalogSearch(database);
  const answers = [JSON.stringify(readDivergences(database))];
  for (const question of questions) {
    const { records } = await search.searchPackages(question, 100, 1);
    const texts = records.pieces.map((piece) => (typeof piece === 'string' ? piece : Buffer.from(piece).toString()));
    answers.push(texts.join(''));
  }
  return answers;
};

const stanza = fc.record({
  Package: fc.constantFrom('com.a', 'com.b', 'com.c', 'com.d', 'com.e'),
  Version: fc.constantFrom('1', '2', '3'),
  Name: fc.constantFrom('Alpha', 'Alpha Beta', 'Beta Gamma', 'Gamma'),
  Author: fc.constantFrom('A Person <a@b.example>', undefined),
  Description: fc.constantFrom('Some words of it', 'Other words'),
  Provides: fc.constantFrom(undefined, 'v', 'v (= 2), w'),
  Size: fc.constantFrom('1', '2'),
});
const repositories = fc
  .uniqueArray(fc.constantFrom('one', 'two', 'three'), { minLength: 1 })
  .chain((slugs) =>
    fc.tuple(
      ...slugs.map((slug) =>
        fc
          .tuple(fc.array(stanza, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 5 }))
          .map(([stanzas, ranking]): SourceRepository => ({ slug, ranking, packages: packages(...stanzas) })),
      ),
    ),
  );

// The full-text index with its own tables, and a list of words that only builds read.
const computedTables = /^(?:search(?!_document$)|word_list$)/;

it('E1: every table of the catalog is published as rows, except what is computed from others', () => {
  const database = openEmpty();
  createTables(database);
  const names = database.prepare<[string]>("SELECT name FROM sqlite_master WHERE type = 'table'").all().flat();
  expect(names.filter((name) => !computedTables.test(name)).sort()).toEqual(Object.keys(portionTables).sort());
});

it('E2: portions turn a copy of any earlier generation into exactly the next one, including its full-text index', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(repositories, { minLength: 2, maxLength: 4 }), async (generations) => {
      const state = temporaryFolder();
      const database = openEmpty();
      createPortionTables(database);
      for (const generation of generations) {
        await buildCatalog(state, generation);
        const portions = readBuilt(state, (built) => [...readPortions(built)]);
        bring(database, portions);
        expect([...readPortions(database)]).toEqual(portions);
        const built = CatalogFile.openReadOnly(catalogPath(state));
        const expected = await askAll(built);
        built.close();
        expect(await askAll(database)).toEqual(expected);
        expect(bring(database, portions)).toEqual({ rows: 0, taken: 0 });
      }
    }),
    { numRuns: 10 },
  );
});

it('E2: a copy that was left at any point while it took one generation can still become another', async () => {
  const state = temporaryFolder();
  const repository = (text: string, ranking: number): SourceRepository => ({
    slug: 'one',
    ranking,
    packages: packages({ Name: 'Alpha', Description: text }, { Package: 'com.b', Name: 'Beta gamma' }),
  });
  const read = () => readBuilt(state, (built) => [...readPortions(built)]);
  await buildCatalog(state, [repository('words of it', 2)]);
  const before = read();
  await buildCatalog(state, [repository('other', 4)]);
  const between = read();
  for (let left = 0; left <= between.length; left++) {
    const database = openEmpty();
    createPortionTables(database);
    bring(database, before);
    const writer = new PortionWriter(database);
    for (const portion of place(between).slice(0, left)) writer.write(portion, portion.text);
    bring(database, before);
    expect([...readPortions(database)], `left after ${left}`).toEqual(before);
    const fresh = openEmpty();
    createPortionTables(fresh);
    bring(fresh, before);
    expect(await askAll(database)).toEqual(await askAll(fresh));
  }
});

// One of four bytes is after the others for SQL, and before U+FF01 for a script.
const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', '\u{ff01}', '\u{1f600}'];
const cuts = fc.subarray(keys.slice(1));

/** The documents of these keys, in portions that begin at some of them. */
const cutDocuments = (beginnings: readonly string[], text: string) =>
  [null, ...beginnings].map((first, index) => {
    const end = beginnings[index] ?? null;
    const held = keys.filter((_, at) => {
      const [from, to] = [first === null ? 0 : keys.indexOf(first), end === null ? keys.length : keys.indexOf(end)];
      return at >= from && at < to;
    });
    const lines = held.map((key) => JSON.stringify([key, { hex: '00' }, '2026', 1, text]));
    return { table: 'document' as const, first, end, held, sha256: `${text} ${held}`, text: lines.join('\n') };
  });

it('E2: portions that were partly overwritten count as missing, wherever their boundaries were', () => {
  fc.assert(
    fc.property(cuts, cuts, fc.infiniteStream(fc.boolean()), (before, after, choices) => {
      const database = openEmpty();
      createPortionTables(database);
      const writer = new PortionWriter(database);
      const [old, next] = [cutDocuments(before, 'old'), cutDocuments(after, 'next')];
      for (const portion of old) writer.write(portion, portion.text);
      expect([writer.findMissing(old), writer.count('document')]).toEqual([[], keys.length]);
      const written = next.filter(() => choices.next().value);
      for (const portion of written) writer.write(portion, portion.text);
      const over = new Set(written.flatMap(({ held }) => held));
      expect(writer.findMissing(old)).toEqual(old.filter(({ held }) => held.some((key) => over.has(key))));
      expect(writer.findMissing(next)).toEqual(next.filter((one) => !written.includes(one)));
      for (const portion of writer.findMissing(next)) writer.write(portion, portion.text);
      expect([writer.findMissing(next), writer.count('document')]).toEqual([[], keys.length]);
      // A row that lies outside its portion is not among those that were counted there.
      const [one] = next;
      if (one === undefined || one.end === null) return;
      const row = JSON.stringify([one.end, { hex: '01' }, '2026', 1, null]);
      writer.write(one, `${one.text}\n${row}`);
      expect(writer.count('document')).toBe(keys.length);
    }),
    { numRuns: 60 },
  );
});

const documentRows = (database: CatalogFile, count: number): void => {
  const insert = database.prepareWrite('INSERT INTO document VALUES (?, ?, ?, ?, ?)');
  for (let index = 0; index < count; index++) {
    insert.run(`v2/${hash('sha256', String(index))}.json`, new Uint8Array(16).fill(index), '2026-01-01', 1, null);
  }
};

it('E2: a row more makes another portion of few, and all of them have their bounds', () => {
  const database = openEmpty();
  createTables(database);
  documentRows(database, 12_000);
  const digestsOf = (all: readonly Portion[]) => all.map(({ text }) => hash('sha256', text));
  const portions = [...readPortions(database)];
  const before = new Set(digestsOf(portions));
  expect(before.size).toBeGreaterThan(5);
  for (const { rows, text, table, first } of portions) {
    expect(rows).toBeLessThanOrEqual(4000);
    expect(text.length).toBeLessThan(2 ** 20 + 1000);
    if (first !== null) expect(JSON.parse(text.split('\n', 1)[0] ?? '')[0], table).toBe(first);
  }
  expect(new Set(portions.map(({ table }) => table))).toEqual(new Set(Object.keys(portionTables)));
  database
    .prepareWrite('INSERT INTO document VALUES (?, ?, ?, ?, ?)')
    .run('v2/5a', new Uint8Array(16), '2026', 1, null);
  expect(digestsOf([...readPortions(database)]).filter((digest) => !before.has(digest)).length).toBeLessThanOrEqual(4);
});

it('E2: rows that are short make a portion of no more than one event of a Durable Object writes', () => {
  const database = openEmpty();
  createTables(database);
  const insert = database.prepareWrite('INSERT INTO spelling VALUES (?, ?)');
  for (let bucket = 0; bucket < 4001; bucket++) insert.run(bucket, '');
  const portions = [...readPortions(database)].filter(({ table }) => table === 'spelling');
  expect(portions.map(({ rows }) => rows)).toEqual([4000, 1]);
});

it('E2: a row that no edge host holds is refused before anything names it', () => {
  const database = openEmpty();
  createTables(database);
  const insert = database.prepareWrite('INSERT INTO document VALUES (?, ?, ?, ?, ?)');
  insert.run('v2/a.json', new Uint8Array(16), '2026', 1, 'x'.repeat(1_900_000));
  expect([...readPortions(database)].length).toBeGreaterThan(0);
  insert.run('v2/downloads.json', new Uint8Array(16), '2026', 1, 'é'.repeat(1_000_001));
  expect(() => [...readPortions(database)]).toThrow(RowTooLarge);
  expect(() => [...readPortions(database)]).toThrow('a row of document (path v2/downloads.json) has more than 2 MB');
});

it("E2: removes the tables of a catalog, also of another version, but neither kept data nor the platform's tables", () => {
  const database = openEmpty();
  createPortionTables(database);
  database.exec('CREATE TABLE _cf_KV (key TEXT); CREATE TABLE kept (name TEXT); CREATE TABLE of_another_version (x)');
  const names = () =>
    database.prepare<[string]>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all().flat();
  expect(names()).toEqual(expect.arrayContaining(['of_another_version', 'record', 'search']));
  dropPortionTables(database, 'kept');
  expect(names()).toEqual(['_cf_KV', 'kept']);
  createPortionTables(database);
});
