import { cpSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { CatalogFiles } from '../../functions/node/catalog-files.ts';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { readStatistics } from '../../src/catalog/reading.ts';
import { catalogFormat } from '../../src/catalog/schema.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { limits } from '../../src/contract/limits.ts';
import { computeDivergenceView, recentDivergences } from '../../src/site/divergences.ts';
import { feedOfAll, feedOfAuthor } from '../../src/site/feed-subjects.ts';
import { computeFigures, newsByDay, recentNews } from '../../src/site/overview.ts';
import { SiteCatalog } from '../../src/site/site-catalog.ts';
import { adoptFormerSlugs } from '../../src/snapshots/former-slugs.ts';
import { HistoryStore } from '../../src/snapshots/history.ts';
import { type RecordHistory, RecordSights, recordKey, type Sight } from '../../src/snapshots/record-history.ts';
import type { Remembered } from '../../src/snapshots/snapshot.ts';
import { openStore } from '../../src/snapshots/store.ts';
import { buildCatalog, packages, parseRecords, type SourceRepository } from '../support/catalog.ts';
import { makeEntry } from '../support/crawling.ts';
import { openBuiltIndex } from '../support/file-index.ts';
import { temporaryFolder } from '../support/folder.ts';

const january = new Date('2026-01-10T00:00:00.000Z');
const february = new Date('2026-02-10T00:00:00.000Z');
const march = new Date('2026-03-10T00:00:00.000Z');

const one = (...versions: string[]): SourceRepository => ({
  slug: 'one',
  // Before any of these builds.
  changedAt: '2025-12-01T00:00:00.000Z',
  packages: packages(...versions.map((version) => ({ Version: version }))),
});

/** Each record with when it was first seen, "news" where it is, and when its repository was added. */
const known = (state: string): string[] => {
  const database = new DatabaseSync(catalogPath(state), { readOnly: true });
  try {
    return database
      .prepare(
        `SELECT slug, version, first_seen, news, added_at FROM record
         JOIN repository ON record.repository = repository.id ORDER BY slug, version`,
      )
      .all()
      .map(({ slug, version, first_seen: seen, news, added_at: added }) =>
        [
          slug,
          version,
          String(seen).slice(0, 10),
          ...(Number(news) > 0 ? ['news'] : []),
          String(added).slice(0, 10),
        ].join(' '),
      );
  } finally {
    database.close();
  }
};

/** A state of two builds: a version that came with the first crawl, and one that came later. */
const makeState = async (): Promise<string> => {
  const state = temporaryFolder();
  await buildCatalog(state, [one('1.0')], january);
  await buildCatalog(state, [one('1.0', '2.0')], february);
  return state;
};

const expected = ['one 1.0 2025-12-01 2026-01-10', 'one 2.0 2026-02-10 news 2026-01-10'];
const records = (state: string) => path.join(state, 'history', 'v1', 'one', 'records.json');

describe('when something was first seen', () => {
  it('C4: is known, and what came with the first crawl is no news', async () => {
    expect(known(await makeState())).toEqual(expected);
  });

  it('C4: survives a lost catalog', async () => {
    const state = await makeState();
    rmSync(catalogPath(state));
    await buildCatalog(state, [one('1.0', '2.0')], march);
    expect(known(state)).toEqual(expected);
  });

  it('C4: survives a catalog of another format, also where its own file is lost', async () => {
    for (const isLost of [false, true]) {
      const state = await makeState();
      const database = new DatabaseSync(catalogPath(state));
      // As the format before had it.
      database.exec(`PRAGMA user_version = ${catalogFormat - 1}; ALTER TABLE record DROP COLUMN news`);
      database.close();
      if (isLost) rmSync(path.join(state, 'history'), { recursive: true });
      const { rebuilt } = await buildCatalog(state, [one('1.0', '2.0')], march);
      expect(rebuilt).toEqual(isLost ? ['one'] : []);
      expect(known(state).map((line) => line.replace(' news', ''))).toEqual(
        expected.map((line) => line.replace(' news', '')),
      );
      expect(known(state)[1]).toBe(expected[1]);
    }
  });

  it.each([
    ['lost', (file: string) => rmSync(file)],
    ['cut short', (file: string) => writeFileSync(file, '{"address":"https://one.ex')],
    ['something else', (file: string) => writeFileSync(file, '[]')],
  ])('C4: is rebuilt from the catalog where its file is %s', async (_, damage) => {
    const state = await makeState();
    damage(records(state));
    const { rebuilt } = await buildCatalog(state, [one('1.0', '2.0', '3.0')], march);
    expect(rebuilt).toEqual(['one']);
    expect(known(state)).toEqual([...expected, 'one 3.0 2026-03-10 news 2026-01-10']);
    rmSync(catalogPath(state));
    await buildCatalog(state, [one('1.0', '2.0', '3.0')], new Date('2026-04-10T00:00:00.000Z'));
    expect(known(state)).toEqual([...expected, 'one 3.0 2026-03-10 news 2026-01-10']);
  });

  it('C4: is rebuilt though the repository did not change', async () => {
    const state = await makeState();
    rmSync(path.join(state, 'history'), { recursive: true });
    expect(await buildCatalog(state, [one('1.0', '2.0')], march)).toMatchObject({ rebuilt: ['one'], ingested: [] });
    rmSync(catalogPath(state));
    await buildCatalog(state, [one('1.0', '2.0')], march);
    expect(known(state)).toEqual(expected);
  });

  it('C4: is no news again for what was gone for a while', async () => {
    const state = await makeState();
    await buildCatalog(state, [one('2.0')], march);
    await buildCatalog(state, [one('1.0', '2.0')], new Date('2026-04-10T00:00:00.000Z'));
    expect(known(state)).toEqual(expected);
  });

  it('C4: says nothing of another address, whose first crawl is no news either', async () => {
    const state = await makeState();
    const history = new HistoryStore(path.join(state, 'history'));
    const kept = await history.readRecords('one');
    if (kept === undefined) throw new Error('nothing is kept');
    await history.writeRecords('one', { ...kept, address: 'https://elsewhere.example ./  ' });
    await buildCatalog(state, [one('1.0', '2.0', '9.0')], march);
    expect(known(state)).toEqual([...expected, 'one 9.0 2025-12-01 2026-01-10']);
  });

  it('C2: costs no more for an origin that names other packages every day', () => {
    let history: ReturnType<RecordSights['finish']>;
    for (let round = 0; round < 20; round++) {
      const now = new Date(Date.UTC(2026, 0, 1 + round));
      const sights = new RecordSights(history, 'a', now.toISOString(), now.toISOString());
      for (let index = 0; index < 2000; index++) sights.sight(recordKey(`p${round}-${index}`, '1', 'all'));
      history = sights.finish(now);
    }
    expect(history?.records.size).toBe(4000);
    // Those that went last are kept.
    expect(history?.records.has(recordKey('p18-0', '1', 'all'))).toBe(true);
    const readLate = (at: string, more: string) => {
      const late = new RecordSights(history, 'a', at, at);
      for (let index = 0; index < 2000; index++) late.sight(recordKey(`p19-${index}`, '1', 'all'));
      late.sight(recordKey(more, '1', 'all'));
      history = late.finish(new Date(at)) ?? history;
      return history?.records.size;
    };
    // By the time of what is known, which the first reading after all these years tells anew.
    expect(readLate('2027-12-01T00:00:00.000Z', 'x')).toBe(4001);
    expect(readLate('2027-12-02T00:00:00.000Z', 'y')).toBe(2002);
  });

  it('C12: loses nothing by a reading under a clock that is years ahead, or behind', () => {
    let history: ReturnType<RecordSights['finish']>;
    const read = (at: string, ...names: string[]) => {
      const sights = new RecordSights(history, 'a', at, at);
      for (const name of names) sights.sight(recordKey(name, '1', 'all'));
      history = sights.finish(new Date(at)) ?? history;
      return [...(history?.records ?? [])].map(([key]) => key.split('\n')[0]).sort();
    };
    read('2026-01-01T00:00:00.000Z', 'stays', 'goes');
    read('2026-02-01T00:00:00.000Z', 'stays');
    expect(read('2031-01-01T00:00:00.000Z', 'stays', 'new')).toEqual(['goes', 'new', 'stays']);
    expect(read('2026-02-02T00:00:00.000Z', 'stays', 'new')).toEqual(['goes', 'new', 'stays']);
    expect(read('1970-01-01T00:00:00.000Z', 'stays')).toEqual(['goes', 'new', 'stays']);
    expect(read('2026-02-03T00:00:00.000Z', 'stays', 'late')).toEqual(['goes', 'late', 'new', 'stays']);
    // It came with the first reading, and is no news when it comes back.
    expect(history?.records.get(recordKey('goes', '1', 'all'))?.news).toBe(false);
  });
});

describe('a renamed repository', () => {
  it('C4: keeps its history by its alias, though the alias came late, and its former slug though that was dropped', async () => {
    const state = await makeState();
    const store = openStore(state);
    const uri = 'https://one.example/';
    // Built once under the new slug, before anybody thought of the alias.
    await buildCatalog(state, [{ ...one('1.0', '2.0', '3.0'), slug: 'two', uri }], march);
    const [entry] = await adoptFormerSlugs(store, [makeEntry('two', uri, { aliases: ['one'] })]);
    expect(entry?.aliases).toEqual(['one']);
    await buildCatalog(state, [{ ...one('1.0', '2.0', '3.0'), slug: 'two', uri, aliases: ['one'] }], march);
    expect(known(state)).toEqual([
      'two 1.0 2025-12-01 2026-01-10',
      'two 2.0 2025-12-01 2026-01-10',
      'two 3.0 2025-12-01 2026-01-10',
    ]);
    const dropped = [makeEntry('two', uri)];
    expect((await adoptFormerSlugs(store, dropped))[0]?.aliases).toEqual(['one']);
    expect((await adoptFormerSlugs(store, dropped))[0]?.aliases).toEqual(['one']);
    const taken = [...dropped, makeEntry('one', 'https://stranger.example/')];
    expect((await adoptFormerSlugs(store, taken)).map(({ aliases }) => aliases)).toEqual([[], []]);
    // Two that had it at different times, in whatever letter case: it leads to one of them.
    await store.history.addFormerSlug('three', 'ONE');
    const both = [...dropped, makeEntry('three', 'https://three.example/')];
    expect((await adoptFormerSlugs(store, both)).map(({ aliases }) => aliases)).toEqual([['one'], []]);
  });
});

describe('lists of what is new', () => {
  it('C4: are silent about the first crawl of a repository, and tell of what comes after it', async () => {
    const state = temporaryFolder();
    const two: SourceRepository = { ...one('5.0'), slug: 'two' };
    const news = (slug?: string) => {
      const catalog = new SiteCatalog(catalogPath(state));
      try {
        return recentNews(catalog.packages.values(), 10, { slug }).map(
          ({ summary, version, at }) => `${summary.id} ${version} ${at}`,
        );
      } finally {
        catalog.close();
      }
    };
    await buildCatalog(state, [one('1.0')], january);
    expect(news()).toEqual([]);
    await buildCatalog(state, [one('1.0', '2.0')], february);
    const entry = `com.example.one 2.0 ${february.toISOString()}`;
    expect(news()).toEqual([entry]);
    // Another repository brings a newer version with its first crawl.
    await buildCatalog(state, [one('1.0', '2.0'), two], march);
    expect(news()).toEqual([entry]);
    expect(news('one')).toEqual([entry]);
    expect(news('two')).toEqual([]);
  });

  it('C12: are not hidden by what was seen under a clock that was ahead', async () => {
    const state = temporaryFolder();
    await buildCatalog(state, [one('1.0')], january);
    await buildCatalog(state, [one('1.0', '2.0')], new Date('2099-01-01T00:00:00.000Z'));
    const two = { ...one(), slug: 'two', packages: packages({ Package: 'com.example.two' }) };
    await buildCatalog(state, [one('1.0', '2.0'), two], february);
    const added = packages({ Package: 'com.example.two' }, { Package: 'com.example.three' });
    await buildCatalog(state, [one('1.0', '2.0'), { ...two, packages: added }], march);
    const build = { builtAt: march.toISOString(), repositories: [] };
    const catalog = new SiteCatalog(catalogPath(state), build);
    const source = { catalog, base: '', service: { name: 'Index' }, inRepository: new Map(), byKind: new Map() };
    const author = { key: 'ada', name: 'Ada', packages: [...catalog.packages.values()], people: [] };
    const told = feedOfAll(source).entries.map(({ summary }) => summary.id);
    const ofAuthor = feedOfAuthor(source, author).entries.map(({ summary }) => summary.id);
    const listed = newsByDay(catalog).flatMap(({ added, updated }) => [...added.cards, ...updated.cards]);
    const index = await openBuiltIndex(catalog);
    catalog.close();
    const sorted = await index.rows(await index.sort(await index.find(''), 'newest'));
    expect(told).toEqual(['com.example.three']);
    expect(ofAuthor).toEqual(told);
    expect(listed.map(({ id }) => id)).toEqual(['com.example.three']);
    const newest = ['com.example.three', 'com.example.two', 'com.example.one'];
    expect(sorted.map(({ id }) => id)).toEqual(newest);
    const search = new CatalogFiles(state);
    const found = await search.searchPackages('com.example', 10, 1, {}, 'newest');
    search.close();
    expect(parseRecords(found.records).map(({ package_id }) => package_id)).toEqual(newest);
  });

  it('C12: nor are changes of bytes, nor when an origin last changed', async () => {
    const state = temporaryFolder();
    const ahead = new Date('2099-01-01T00:00:00.000Z');
    const of = (slug: string, changed: Date, digit: string): SourceRepository => ({
      slug,
      changedAt: changed.toISOString(),
      packages: packages({ Package: `com.example.${slug}`, SHA256: digit.repeat(64) }),
    });
    await buildCatalog(state, [of('one', january, 'a'), of('two', january, 'a')], january);
    await buildCatalog(state, [of('one', ahead, 'b'), of('two', january, 'a')], ahead);
    await buildCatalog(state, [of('one', ahead, 'b'), of('two', february, 'b')], february);
    const catalog = new SiteCatalog(catalogPath(state), { builtAt: march.toISOString(), repositories: [] });
    const inFeed = recentDivergences(catalog, 1).map(({ at }) => at);
    const { changed } = computeDivergenceView(catalog);
    const figures = computeFigures(catalog);
    catalog.close();
    expect(inFeed).toEqual([february.toISOString()]);
    expect(changed.map(({ at }) => at)).toEqual([february, ahead].map((at) => at.toISOString()));
    expect(figures.changedAt).toBe(february.toISOString());
    const database = CatalogFile.openReadOnly(catalogPath(state));
    const told = [march, january, new Date(0)].map((now) => readStatistics(database, now)?.updated);
    database.close();
    // If nothing is known of an earlier change, the later one is told.
    expect(told).toEqual([february, ahead, ahead].map((at) => at.toISOString()));

    // As many as are kept, each of its own moment: they displace none that is past, and the first of them stay.
    const many = new DatabaseSync(catalogPath(state));
    many.exec(`INSERT INTO divergence (package, version, architecture, repository, other, since)
      WITH RECURSIVE moment (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM moment WHERE at < 1000)
      SELECT 'p' || at, '1', 'all', (SELECT min(id) FROM repository), (SELECT max(id) FROM repository),
        printf('2098-01-01T00:00:00.%03dZ', at % 1000) FROM moment`);
    many.close();
    const later = new SiteCatalog(catalogPath(state), { builtAt: march.toISOString(), repositories: [] });
    const kept = later.readDivergences().events.map(({ at }) => at);
    const stillInFeed = recentDivergences(later, 1).map(({ at }) => at);
    later.close();
    expect(stillInFeed).toEqual([february.toISOString()]);
    expect([kept.length, kept[0], kept[1]]).toEqual([1000, february.toISOString(), ahead.toISOString()]);
  });

  it('C4: tell a new package from an update, though the version before is gone and another repository has it', async () => {
    const state = temporaryFolder();
    const of = (...stanzas: Record<string, string>[]): SourceRepository => ({
      ...one(),
      packages: packages(...stanzas),
    });
    const news = () => {
      const catalog = new SiteCatalog(catalogPath(state));
      try {
        return recentNews(catalog.packages.values(), 10).map(
          ({ summary, version, isUpdate }) => `${summary.id} ${version} ${isUpdate ? 'updated' : 'new'}`,
        );
      } finally {
        catalog.close();
      }
    };
    const two: SourceRepository = { ...of({ Package: 'com.example.two', Version: '7' }), slug: 'two' };
    await buildCatalog(state, [of({ Version: '1.0' }), two], january);
    await buildCatalog(state, [of({ Version: '2.0' }, { Package: 'com.example.two', Version: '1' }), two], february);
    const both = ['com.example.one 2.0 updated', 'com.example.two 1 new'];
    expect(news().sort()).toEqual(both);
    // Read again, what was new is no update of itself.
    rmSync(catalogPath(state));
    await buildCatalog(state, [of({ Version: '2.0' }, { Package: 'com.example.two', Version: '1' }), two], march);
    expect(news().sort()).toEqual(both);
    // What became of them stays so, and the next version of the new one is an update.
    rmSync(catalogPath(state));
    const next = [of({ Version: '2.0' }, { Package: 'com.example.two', Version: '2' }), two];
    await buildCatalog(state, next, march);
    expect(news().sort()).toEqual([both[0], 'com.example.two 2 updated']);
    // Another build of the same version is one too.
    const built = { Version: '2.0', Architecture: 'iphoneos-arm64' };
    await buildCatalog(state, [of({ Version: '2.0' }, built), two], new Date('2026-04-10T00:00:00.000Z'));
    expect(news()).toEqual(['com.example.one 2.0 updated']);
  });
});

describe('a history that is taken over under a new slug', () => {
  const sight = (seen: string): Sight => ({ seen, news: true, goneAt: null, changedAt: null });
  const of = (...records: [string, Sight][]): RecordHistory => ({ address: 'a', records: new Map(records) });
  const first = '2026-01-01T00:00:00.000Z';
  const second = '2026-02-01T00:00:00.000Z';

  const remembered = (stanzas: number): Remembered => ({
    ...{ stanzas, date: null, signers: [], content: null },
    origin: { uri: 'https://repo.example/', suite: './', component: null, binary: null },
  });

  const prepare = async () => {
    const folder = temporaryFolder();
    const store = new HistoryStore(folder);
    await store.update('old', { addedAt: first, formerSlugs: ['older'], remembered: remembered(1) });
    await store.writeRecords(
      'old',
      of([recordKey('a', '1', 'x'), sight(first)], [recordKey('b', '1', 'x'), sight(first)]),
    );
    await store.update('new', { addedAt: second, remembered: remembered(2) });
    await store.writeRecords('new', of([recordKey('a', '1', 'x'), sight(second)]));
    return folder;
  };
  const holds = async (folder: string) => {
    const store = new HistoryStore(folder);
    const isLeft = existsSync(path.join(folder, 'v1', 'old'));
    return [await store.read('new'), await store.readRecords('new'), isLeft] as const;
  };

  // Each step is one rename, but for the removal, which may be stopped between two files.
  it.each(['records.json written', 'before the removal', 'repository.json removed', 'records.json removed'] as const)(
    'C12: is the same where the build was killed in between (%s)',
    async (moment) => {
      const whole = await prepare();
      expect(await new HistoryStore(whole).adopt('new', 'old')).toBe(true);
      const folder = await prepare();
      const dying = new HistoryStore(folder);
      const old = path.join(folder, 'v1', 'old');
      if (moment === 'records.json written') {
        vi.spyOn(dying, 'update').mockRejectedValue(new Error('killed'));
        await expect(dying.adopt('new', 'old')).rejects.toThrow('killed');
      } else {
        cpSync(old, `${old}.before`, { recursive: true });
        await dying.adopt('new', 'old');
        renameSync(`${old}.before`, old);
        if (moment !== 'before the removal') rmSync(path.join(old, moment.split(' ')[0] ?? ''));
      }
      await new HistoryStore(folder).adopt('new', 'old');
      expect(await holds(folder)).toEqual(await holds(whole));
      const [repository, records, isLeft] = await holds(whole);
      expect(repository).toEqual({ addedAt: first, formerSlugs: ['older', 'old'], remembered: remembered(2) });
      expect(records?.records.get(recordKey('a', '1', 'x'))?.seen).toBe(first);
      expect(isLeft).toBe(false);
      expect(await new HistoryStore(folder).adopt('new', 'old'), 'nothing is left to adopt').toBe(false);
    },
  );
});

it('C7: what a package has too many newer versions for is neither remembered nor the latest of its architecture', async () => {
  const { recordsPerPackage } = limits;
  Object.assign(limits, { recordsPerPackage: 3 });
  onTestFinished(() => void Object.assign(limits, { recordsPerPackage }));
  const of = (Version: string, Architecture = 'iphoneos-arm') => ({ Version, Architecture });
  const state = temporaryFolder();
  const nightly = [of('1.0', 'iphoneos-arm64'), of('2.0'), of('2.1', 'iphoneos-arm64')];
  const read = async (...later: Record<string, string>[]) => {
    await buildCatalog(state, [{ ...one(), packages: packages(...nightly, ...later) }], january);
    const database = new DatabaseSync(catalogPath(state), { readOnly: true });
    const rows = database.prepare('SELECT version, architecture, latest, json FROM record ORDER BY version').all();
    database.close();
    for (const { json, latest } of rows) expect(String(json).includes('"latest_version":true')).toBe(latest === 1);
    const history = await new HistoryStore(path.join(state, 'history')).readRecords('one');
    const now = [...(history?.records ?? [])].filter(([, { goneAt }]) => goneAt === null);
    expect(now.map(([key]) => key.split('\n')[1]).sort()).toEqual(rows.map(({ version }) => version));
    return rows.map(({ version, architecture, latest }) => `${version} ${architecture} ${latest}`);
  };
  expect(await read(of('3.0'))).toEqual(['2.0 iphoneos-arm 0', '2.1 iphoneos-arm64 1', '3.0 iphoneos-arm 1']);
  expect(await read(of('3.0'), of('4.0'), of('5.0'))).toEqual([
    '3.0 iphoneos-arm 0',
    '4.0 iphoneos-arm 0',
    '5.0 iphoneos-arm 1',
  ]);
  expect(await read(of('3.0'), of('4.0'), of('5.0'), of('3.5', 'iphoneos-arm64'))).toEqual([
    '3.5 iphoneos-arm64 1',
    '4.0 iphoneos-arm 0',
    '5.0 iphoneos-arm 1',
  ]);
  // 2.0 is gone though 6.0 is too long itself: with 2.0.5 gone too, it would be the only one of its architecture, unmarked.
  const long = { ...of('6.0', 'iphoneos-arm64'), Description: '漢'.repeat(30_000) };
  expect(await read(of('2.0.5'), long, of('6.1', 'iphoneos-arm64'))).toEqual([
    '2.1 iphoneos-arm64 0',
    '6.1 iphoneos-arm64 1',
  ]);
});
