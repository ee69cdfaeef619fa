import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { createTables } from '../../src/catalog/schema.ts';
import { SearchAside } from '../../src/catalog/search-aside.ts';
import { type IndexedRecord, SearchWriter } from '../../src/catalog/search-writer.ts';
import { CatalogBuild, catalogPath } from '../../src/catalog/state-catalog.ts';
import { indexForSearch, updateCatalog } from '../../src/catalog/update.ts';
import { base, entryOf, memorySnapshots, packages, type SourceRepository } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';
import { generatedRepositories } from '../support/generated.ts';

const downloads = [
  { package_id: 'com.example.more', total: 40, last_30_days: 0 },
  { package_id: 'com.example.most', total: 4000, last_30_days: 0 },
];

/** Six hundred packages, which are more than are sent at once, of which two were downloaded. */
const many: SourceRepository = {
  slug: 'many',
  ranking: 2,
  packages: packages(
    ...Array.from({ length: 600 }, (_, index) => ({ Package: `com.example.many${index}`, Name: `Many ${index}` })),
    { Package: 'com.example.more', Name: 'Many Too' },
    { Package: 'com.example.most', Name: 'Many Two' },
  ),
};

const build = async (
  state: string,
  repositories: readonly SourceRepository[],
  fewest: number,
): Promise<CatalogBuild> => {
  const catalog = new CatalogBuild(state);
  const store = memorySnapshots(repositories, state);
  const now = new Date('2026-05-02T00:00:00Z');
  const { ingested } = await updateCatalog(catalog, repositories.map(entryOf), store, { base, now });
  await indexForSearch(catalog, ingested, downloads, { fewest });
  return catalog;
};

/** Every term of every document, by the full-text index's own reading, and what else is searched with. */
const readIndex = (state: string) => {
  const database = CatalogFile.open(catalogPath(state));
  try {
    database.exec("INSERT INTO search (search) VALUES ('integrity-check')");
    database.exec('CREATE VIRTUAL TABLE temp.term USING fts5vocab (main, search, instance)');
    const read = (sql: string) => database.prepare(sql).all();
    return {
      terms: read('SELECT term, doc, col FROM temp.term ORDER BY 1, 2, 3'),
      documents: read('SELECT id, record FROM search_document ORDER BY 1'),
      pieces: read('SELECT DISTINCT segid FROM search_idx').length,
      types: read('SELECT DISTINCT typeof(segid), typeof(term), typeof(pgno) FROM search_idx'),
      others: ['spelling', 'word_list', 'inner_word'].map((table) => read(`SELECT * FROM ${table} ORDER BY 1`)),
      leftBehind: [
        'SELECT doc FROM temp.term WHERE doc NOT IN (SELECT id FROM search_document)',
        'SELECT record FROM search_document WHERE record NOT IN (SELECT id FROM record WHERE latest = 1)',
        'SELECT record FROM search_document GROUP BY record HAVING count(*) > 1',
      ].map(read),
      missing: [
        'SELECT id FROM record WHERE latest = 1 AND id NOT IN (SELECT record FROM search_document)',
        'SELECT id FROM search_document WHERE id NOT IN (SELECT doc FROM temp.term)',
      ].map(read),
    };
  } finally {
    database.close();
  }
};

const emptyCatalog = (): CatalogFile => {
  const database = CatalogFile.openDraft(path.join(temporaryFolder(), 'catalog.sqlite'));
  // As in a build, where no row is a transaction of its own.
  database.exec('BEGIN');
  createTables(database);
  return database;
};

describe('an index for search that a thread makes', () => {
  // The numbers of its records begin where those of the one before end.
  const next: SourceRepository = { slug: 'next', ranking: 2, packages: packages({ Package: 'com.example.next' }) };
  const repositories = [many, next, ...generatedRepositories()];
  const finished = vi.spyOn(SearchAside.prototype, 'finish');
  afterEach(() => finished.mockClear());

  it('is the one that would be made in the catalog, and is changed like that', async () => {
    const [aside, inPlace] = [temporaryFolder(), temporaryFolder()];
    const catalog = await build(aside, repositories, 1);
    expect(existsSync(catalog.searchDraft)).toBe(false);
    await catalog.publish();
    await (await build(inPlace, repositories, Number.POSITIVE_INFINITY)).publish();
    expect(finished).toHaveBeenCalledTimes(1);
    const made = readIndex(aside);
    expect(made.documents.length).toBeGreaterThan(600);
    expect(made).toEqual(readIndex(inPlace));
    // Of one piece, which is read in half the time.
    expect(made.pieces).toBe(1);

    const [, ...others] = repositories;
    const changed = {
      ...many,
      changedAt: '2026-06-01T12:00:00.000Z',
      packages: packages({ Package: 'com.example.other' }),
    };
    for (const [state, fewest] of [
      [aside, 1],
      [inPlace, Number.POSITIVE_INFINITY],
    ] as const) {
      await (await build(state, [changed, ...others], fewest)).publish();
    }
    const then = readIndex(aside);
    expect(JSON.stringify(then.terms)).toContain('other');
    expect(then).toEqual(readIndex(inPlace));
    // Of the repository as it was before.
    expect(then.leftBehind).toEqual([[], [], []]);
    expect(then.missing).toEqual([[], []]);
    // To make one of them again would take longer than such a change.
    expect(then.pieces).toBeGreaterThan(1);
    // What stands in the catalog already is in no file of its own.
    expect(finished).toHaveBeenCalledTimes(1);
  });

  it('is searched before the catalog is written', async () => {
    const catalog = await build(temporaryFolder(), repositories, 1);
    const found = catalog.database.prepare(`SELECT count(*) FROM search WHERE search MATCH 'name : many'`).get();
    expect(found).toEqual([602]);
    catalog.discard();
  });
});

describe.each([
  ['in a thread', 1],
  ['in its place', Number.POSITIVE_INFINITY],
])('an index that is made %s', (_, fewest) => {
  it('is given up when nobody waits for it any more, and leaves nothing', async () => {
    const catalog = new CatalogBuild(temporaryFolder());
    const store = memorySnapshots([many], temporaryFolder());
    const { ingested } = await updateCatalog(catalog, [entryOf(many)], store, { base, now: new Date() });
    const stopping = new AbortController();
    const indexed = indexForSearch(catalog, ingested, downloads, { signal: stopping.signal, fewest });
    const reason = new Error('the disk is full');
    stopping.abort(reason);
    await expect(indexed).rejects.toThrow(/disk is full|ended before its work/);
    expect(existsSync(catalog.searchDraft)).toBe(false);
    catalog.discard();
  });
});

describe('the words of a repository', () => {
  /** A record whose name is these words. */
  const called = (id: number, words: readonly string[]): IndexedRecord => [
    id,
    `{"package_id":"com.example","name":"${words.join(' ')}","author":null,"maintainer":null,"description":null,` +
      `"version":"1","architecture":"all","section":null,"price":"Free","repository_id":"one","repository":`,
    null,
  ];
  const inLetters = (number: number): string =>
    [3, 2, 1, 0].reduce((word, place) => word + String.fromCharCode(97 + (Math.floor(number / 26 ** place) % 26)), 'w');
  /** So many words, sixteen in each name. */
  const named = (count: number): IndexedRecord[] =>
    Array.from({ length: count / 16 }, (_, id) =>
      called(
        id + 1,
        Array.from({ length: 16 }, (__, at) => inLetters(id * 16 + at)),
      ),
    );

  // In a thread, whose writer is the one that writes in the catalog's place too; that this is told of each is seen below.
  it('are bounded by themselves, whatever another has', async () => {
    const database = emptyCatalog();
    const sink = new SearchAside(database, path.join(temporaryFolder(), 'search.sqlite'));
    sink.beginRepository();
    await sink.take(named(65_536));
    await sink.take([called(90_000, ['zebra'])]);
    sink.beginRepository();
    await sink.take([called(100_000, ['zepplin'])]);
    await sink.finish();
    await sink.close();
    expect(database.prepare("SELECT words FROM word_list WHERE beginning = 'ze'").all()).toEqual([['zepplin']]);
    database.close();
  });

  it('begin with each repository', async () => {
    const begun = vi.spyOn(SearchWriter.prototype, 'beginRepository');
    const some = generatedRepositories();
    (await build(temporaryFolder(), some, Number.POSITIVE_INFINITY)).discard();
    expect(begun).toHaveBeenCalledTimes(some.length);
    begun.mockRestore();
  });
});

describe('a thread that cannot index', () => {
  let opened: CatalogFile | undefined;
  afterEach(() => opened?.close());

  it('fails with the cause if its file cannot be created', async () => {
    opened = emptyCatalog();
    const sink = new SearchAside(opened, path.join(temporaryFolder(), 'none', 'search.sqlite'));
    const cantOpen = { message: 'unable to open database file', code: 'ERR_SQLITE_ERROR', errcode: 14 };
    await expect(sink.finish()).rejects.toMatchObject(cantOpen);
    await sink.close();
  });

  it('is told of where it ends by itself, and where it is told to, however it is waited for', async () => {
    opened = emptyCatalog();
    const stopping = new AbortController();
    const sink = new SearchAside(opened, path.join(temporaryFolder(), 'search.sqlite'), stopping.signal);
    const finished = sink.finish();
    stopping.abort();
    await expect(finished).rejects.toThrow('ended before its work');
    await sink.close();
  });

  it('makes a sender wait when too much is queued, and reports why it failed', async () => {
    opened = emptyCatalog();
    const file = path.join(temporaryFolder(), 'search.sqlite');
    const sink = new SearchAside(opened, file);
    const short: IndexedRecord = [1, 'no record', null];
    const long: IndexedRecord = [2, ' '.repeat(2 ** 25), null];
    expect(sink.take([short])).toBeUndefined();
    await expect(sink.take([long])).rejects.toThrow(SyntaxError);
    await sink.close();
    expect(existsSync(file)).toBe(false);
  });
});
