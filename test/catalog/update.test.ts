import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { CatalogDatabase } from '../../src/catalog/database.ts';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import {
  readFindings,
  readPackages,
  readRepositoryRecords,
  readRepositoryRows,
  readStatistics,
} from '../../src/catalog/reading.ts';
import { catalogFormat } from '../../src/catalog/schema.ts';
import { CatalogBuild, catalogPath } from '../../src/catalog/state-catalog.ts';
import { limits } from '../../src/contract/limits.ts';
import { packageRecordSchema, repositoryRecordSchema } from '../../src/contract/records.ts';
import { base, buildCatalog, openBuild, packages, type SourceRepository } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';

const open = (state: string) => CatalogFile.openReadOnly(catalogPath(state));

const recordsOf = (database: CatalogDatabase, ...names: string[]) =>
  [...readPackages(database, new Set(names))].flatMap(([, records]) =>
    records.map((record) => packageRecordSchema.parse(JSON.parse(record))),
  );

describe('catalog', () => {
  it('gives every field of a package record its documented source', async () => {
    const state = temporaryFolder();
    const text = packages({
      Package: 'com.example.Tweak',
      Version: '1:2.0~beta1-3',
      Name: 'Tweak',
      Section: 'Tweaks',
      Author: 'A. Author <a@author.example>',
      Maintainer: 'M. Maintainer',
      Description: 'Short.\n Longer text.\n .\n End.',
      Tag: 'cydia::commercial, purpose::extension',
      SHA256: 'AB'.repeat(32),
      Size: '2048',
      'Installed-Size': '12',
      Icon: 'file:///Applications/icon.png',
      Header: 'https://images.example/header.png',
      SileoDepiction: 'https://depictions.example/tweak.json',
    });
    await buildCatalog(state, [{ slug: 'one', ranking: 2, packages: text, release: 'Label: The One\nVersion: 3\n' }]);
    const [record] = recordsOf(open(state), 'com.example.Tweak');
    expect(record).toMatchObject({
      package_id: 'com.example.Tweak',
      package: 'com.example.Tweak',
      name: 'Tweak',
      description: 'Short.\nLonger text.\n\nEnd.',
      version: '1:2.0~beta1-3',
      latest_version: true,
      price: 'Paid',
      tags: ['cydia::commercial', 'purpose::extension'],
      sha256_hash: 'ab'.repeat(32),
      package_size: 2048,
      installed_size: 12_288,
      icon_url: `${base}/icons/sections/tweaks.png`,
      header_url: 'https://images.example/header.png',
      native_depiction: 'https://depictions.example/tweak.json',
      repository_id: 'one',
      quality: 2,
      repositoryTier: 2,
      refs: {
        meta: `${base}/v2/jailbreak/package/com.example.Tweak`,
        repo: `${base}/v2/jailbreak/repository/one`,
      },
      repository: { slug: 'one', name: 'The One', version: '3', package_count: 1, date: '2026-05-01T12:00:00.000Z' },
    });
  });

  it('marks exactly one latest version per architecture, whatever the order of the index', async () => {
    const state = temporaryFolder();
    const text = packages(
      { Version: '1.10' },
      { Version: '1.9' },
      { Version: '1.10', Architecture: 'iphoneos-arm64' },
      { Version: '1.10.1' },
      { Version: '0:1.10.1' },
      { Version: '1.10.1~rc1' },
    );
    await buildCatalog(state, [{ slug: 'one', packages: text }]);
    const latest = recordsOf(open(state), 'com.example.one').filter((record) => record.latest_version);
    expect(latest.map(({ version, architecture }) => `${version} ${architecture}`)).toEqual([
      '1.10.1 iphoneos-arm',
      '1.10 iphoneos-arm64',
    ]);
  });

  it('orders a package by latest, ranking, version, slug and architecture', async () => {
    const state = temporaryFolder();
    await buildCatalog(state, [
      { slug: 'good', ranking: 1, packages: packages({ Version: '1.0' }, { Version: '2.0' }) },
      { slug: 'b', ranking: 3, packages: packages({ Version: '3.0' }, { Version: '3.0', Architecture: 'all' }) },
      { slug: 'a', ranking: 3, packages: packages({ Version: '3.0' }) },
    ]);
    const order = recordsOf(open(state), 'com.example.one').map(
      (record) => `${record.repository_id} ${record.version} ${record.architecture}`,
    );
    expect(order).toEqual([
      'good 2.0 iphoneos-arm',
      'a 3.0 iphoneos-arm',
      'b 3.0 all',
      'b 3.0 iphoneos-arm',
      'good 1.0 iphoneos-arm',
    ]);
  });

  it('keeps the last of two equal stanzas and counts every stanza once', async () => {
    const state = temporaryFolder();
    const text = packages(
      { Description: 'first' },
      { Description: 'second' },
      { Package: 'com.example.two', Filename: undefined },
      { Package: 'com.example.three', Version: undefined },
      { Package: 'com.example.four', Size: 'large' },
    );
    await buildCatalog(state, [{ slug: 'one', packages: text }]);
    const database = open(state);
    expect(
      recordsOf(database, 'com.example.one').map((record) => [record.description, record.latest_version]),
      'the one that replaces the latest is the latest',
    ).toEqual([['second', true]]);
    expect(readStatistics(database, new Date())).toMatchObject({ packages: 2, versions: 2 });
    const { findings, stanzas } = readFindings(database);
    expect(stanzas).toBe(5);
    expect(Object.fromEntries(findings.map(({ code, count }) => [code, count]))).toEqual({
      'filename-missing': 1,
      'size-malformed': 1,
      'stanza-duplicate': 1,
      'version-missing': 1,
    });
  });

  it('tells of the sections of records that were kept, and of none that was replaced', async () => {
    const state = temporaryFolder();
    const text = packages(
      { Section: 'Replaced' },
      { Package: 'com.example.two', Section: 'Shared' },
      { Package: 'com.example.three', Section: 'Shared' },
      { Section: 'Kept' },
      { Package: 'com.example.two', Section: 'Kept' },
    );
    await buildCatalog(state, [{ slug: 'one', packages: text }]);
    const [row] = readRepositoryRows(open(state));
    expect(JSON.parse(row?.record ?? '')).toMatchObject({ package_count: 3, sections: ['Kept', 'Shared'] });
  });

  it('C7: keeps nothing of a record in whose place a newer one of its package is: no section, no name, no bytes', async () => {
    const { recordsPerPackage, packageBytes, publishedBytes } = limits;
    // Room for a few of these records, and not for all of them.
    Object.assign(limits, { recordsPerPackage: 2, packageBytes: 8000, publishedBytes: 20_000 });
    onTestFinished(() => void Object.assign(limits, { recordsPerPackage, packageBytes, publishedBytes }));
    const state = temporaryFolder();
    const rising = Array.from({ length: 20 }, (_, at) => ({ Version: `${at + 2}`, Description: 'x'.repeat(1000) }));
    const first = { Version: '1', Architecture: 'iphoneos-arm64', Section: 'Former', Provides: 'former' };
    // Here the newer one is not the latest.
    const others = [first, { Version: '3' }, { Version: '2' }].map((one) => ({ ...one, Package: 'com.example.two' }));
    await buildCatalog(state, [{ slug: 'one', packages: packages(first, ...rising, ...others) }]);
    const database = open(state);
    expect(recordsOf(database, 'com.example.one').map(({ version }) => version)).toEqual(['21', '20']);
    const [row] = readRepositoryRows(database);
    expect(JSON.parse(row?.record ?? '')).toMatchObject({ package_count: 4, sections: [] });
    expect(database.prepare('SELECT name FROM provision').all()).toEqual([]);
    database.close();
  });

  it.each(['rising', 'falling', 'mixed'])(
    'C7: keeps the newest versions of a package whose records are too large together (%s)',
    async (order) => {
      const { packageBytes } = limits;
      Object.assign(limits, { packageBytes: 8000 });
      onTestFinished(() => void Object.assign(limits, { packageBytes }));
      const state = temporaryFolder();
      const many = Array.from({ length: 20 }, (_, at) => ({ Version: `${at + 1}`, Description: 'x'.repeat(1000) }));
      if (order === 'falling') many.reverse();
      if (order === 'mixed') many.sort((a, b) => (Number(a.Version) % 7) - (Number(b.Version) % 7));
      await buildCatalog(state, [{ slug: 'one', packages: packages(...many, { Package: 'com.example.two' }) }]);
      const database = open(state);
      const kept = recordsOf(database, 'com.example.one').map(({ version }) => Number(version));
      expect(kept.length).toBeGreaterThan(2);
      expect(kept).toEqual(Array.from(kept, (_, at) => 20 - at));
      const [row] = readRepositoryRows(database);
      expect(JSON.parse(row?.record ?? '')).toMatchObject({ package_count: kept.length + 1 });
      expect(readFindings(database).findings).toMatchObject([
        { code: 'publication-too-large', count: 20 - kept.length },
      ]);
      database.close();
    },
  );

  it('leaves the mark of the latest version where it is when an older stanza is repeated', async () => {
    const state = temporaryFolder();
    const [old, current] = [{ Version: '1.0' }, { Version: '2.0' }];
    await buildCatalog(state, [{ slug: 'one', packages: packages(current, old, current, old) }]);
    expect(
      recordsOf(open(state), 'com.example.one').map(({ version, latest_version }) => [version, latest_version]),
    ).toEqual([
      ['2.0', true],
      ['1.0', false],
    ]);
  });

  it('C10: publishes names that mean something to JavaScript like any other', async () => {
    const state = temporaryFolder();
    const names = ['__proto__', 'constructor', 'toString', 'hasownproperty'];
    const text = packages(...names.map((name) => ({ Package: name, Name: name, Section: name, [name]: name })));
    await buildCatalog(state, [{ slug: 'one', packages: text }]);
    const database = open(state);
    expect(
      recordsOf(database, ...names)
        .map((record) => record.package_id)
        .sort(),
    ).toEqual([...names].sort());
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('reads again only what changed, and tells which packages it touched', async () => {
    const state = temporaryFolder();
    const one: SourceRepository = { slug: 'one', packages: packages({ Package: 'a' }, { Package: 'b' }) };
    const two: SourceRepository = { slug: 'two', packages: packages({ Package: 'b' }, { Package: 'c' }) };
    expect((await buildCatalog(state, [one, two])).ingested).toEqual(['one', 'two']);

    const { catalog, update } = await openBuild(state, [one, two]);
    expect(update).toEqual({ touched: new Set(), ingested: [], removed: [], rebuilt: [], lost: [], damaged: [] });
    expect(catalog.changed).toBe(false);
    catalog.discard();

    const changed = { ...two, packages: packages({ Package: 'c' }, { Package: 'd' }) };
    expect(await buildCatalog(state, [one, changed])).toMatchObject({
      ingested: ['two'],
      touched: new Set(['b', 'c', 'd']),
    });
    expect(await buildCatalog(state, [changed])).toMatchObject({ removed: ['one'], touched: new Set(['a', 'b']) });
    const database = open(state);
    expect(readRepositoryRows(database).map(({ slug }) => slug)).toEqual(['two']);
    expect([...readRepositoryRecords(database, 'two')]).toHaveLength(2);
  });

  it('rebuilds a catalog of another version, and takes from it only what no snapshot contains', async () => {
    const state = temporaryFolder();
    const repository = { slug: 'one', packages: packages({ Package: 'a' }) };
    await buildCatalog(state, [repository]);
    const earlier = new DatabaseSync(catalogPath(state));
    earlier.exec(`PRAGMA user_version = 1; UPDATE record SET json = '{}'`);
    earlier.close();
    expect(await buildCatalog(state, [repository])).toMatchObject({ ingested: ['one'] });
    expect(recordsOf(open(state), 'a')).toHaveLength(1);
  });

  it('C12: starts again if an interrupted build left its catalog', async () => {
    const state = temporaryFolder();
    const next = 'catalog.next.0f0f.sqlite';
    for (const name of [next, `${next}-journal`, `${next}.search`, `${next}.compact`]) {
      writeFileSync(path.join(state, name), 'cut off');
    }
    await buildCatalog(state, [{ slug: 'one', packages: packages({ Package: 'a' }) }]);
    expect(recordsOf(open(state), 'a')).toHaveLength(1);
    expect(readdirSync(state).filter((name) => name.includes('next'))).toEqual([]);
  });

  it('C12: is held by nothing that a killed build left running, which may open its own catalog later', async () => {
    const state = temporaryFolder();
    const killed = new CatalogBuild(state);
    killed.writable();
    const next = new CatalogBuild(state);
    next.writable().exec('PRAGMA user_version = 7');
    // A reader of what is written would lock it.
    expect(() => CatalogFile.openReadOnly(killed.file)).toThrow('unable to open database file');
    await next.seal();
    killed.discard();
    await next.publish();
    expect(readdirSync(state).filter((name) => name.includes('next'))).toEqual([]);
  });

  it('shrinks when most of it is gone, and keeps no text of what was removed', async () => {
    const state = temporaryFolder();
    const texts = (count: number, word: string) =>
      packages(
        ...Array.from({ length: count }, (_, index) => ({ Package: `p${index}`, Description: word.repeat(400) })),
      );
    const large: SourceRepository = { slug: 'large', packages: texts(2000, 'forgotten ') };
    const small: SourceRepository = { slug: 'small', packages: texts(10, 'kept ') };
    await buildCatalog(state, [small, large]);
    const before = statSync(catalogPath(state)).size;
    await buildCatalog(state, [small]);
    expect(statSync(catalogPath(state)).size).toBeLessThan(before / 10);
    expect(readdirSync(state).filter((name) => name.includes('next'))).toEqual([]);
    const database = open(state);
    expect(recordsOf(database, 'p1')).toHaveLength(1);
    expect([
      database.prepare('PRAGMA user_version').get(),
      database.prepare('PRAGMA page_size').get(),
      database.prepare('PRAGMA integrity_check').get(),
    ]).toEqual([[catalogFormat], [4096], ['ok']]);
    const search = database.prepare('SELECT rowid FROM search WHERE search MATCH ?');
    expect([search.all('kept').length, search.all('forgotten').length]).toEqual([10, 0]);
    expect(readFileSync(catalogPath(state)).includes('forgotten forgotten')).toBe(false);
    // Of less too, whose room the next rows take.
    await buildCatalog(state, [small, { slug: 'other', packages: texts(20, 'forgotten ') }]);
    await buildCatalog(state, [small]);
    expect(readFileSync(catalogPath(state)).includes('forgotten forgotten')).toBe(false);
  });

  it('stays as large as it is where the disk has no room to write it again', async () => {
    const state = temporaryFolder();
    const large = packages(
      ...Array.from({ length: 2000 }, (_, index) => ({ Package: `p${index}`, Description: 'x'.repeat(4000) })),
    );
    const small: SourceRepository = { slug: 'small', packages: packages({ Package: 'a' }) };
    await buildCatalog(state, [small, { slug: 'large', packages: large }]);
    const before = statSync(catalogPath(state)).size;
    const full = (code: number) => {
      const { prepareWrite } = CatalogFile.prototype;
      return vi.spyOn(CatalogFile.prototype, 'prepareWrite').mockImplementation(function (this: CatalogFile, sql) {
        if (!sql.startsWith('VACUUM')) return prepareWrite.call(this, sql);
        const run = (file: string): never => {
          writeFileSync(file, 'cut off');
          throw Object.assign(new Error('of the test'), { code: 'ERR_SQLITE_ERROR', errcode: code });
        };
        return { run } as ReturnType<typeof prepareWrite>;
      });
    };
    onTestFinished(() => void vi.restoreAllMocks());
    full(11);
    await expect(buildCatalog(state, [small])).rejects.toThrow('of the test');
    vi.restoreAllMocks();
    full(778);
    await buildCatalog(state, [small]);
    expect(statSync(catalogPath(state)).size).toBeGreaterThan(before / 2);
    expect(recordsOf(open(state), 'a')).toHaveLength(1);
    expect(readdirSync(state).filter((name) => name.includes('next'))).toEqual([]);
  });

  it('remembers when a record was first seen', async () => {
    const state = temporaryFolder();
    await buildCatalog(
      state,
      [{ slug: 'one', packages: packages({ Version: '1.0' }) }],
      new Date('2026-01-01T00:00:00Z'),
    );
    const text = packages({ Version: '1.0' }, { Version: '2.0' });
    await buildCatalog(state, [{ slug: 'one', packages: text }], new Date('2026-02-01T00:00:00Z'));
    expect(open(state).prepare('SELECT version, first_seen FROM record ORDER BY version').all()).toEqual([
      ['1.0', '2026-01-01T00:00:00.000Z'],
      ['2.0', '2026-02-01T00:00:00.000Z'],
    ]);
  });

  it('C3: keeps the rows of a repository whose stored snapshot is damaged', async () => {
    const state = temporaryFolder();
    await buildCatalog(state, [{ slug: 'one', packages: packages({ Package: 'a' }) }]);
    const { CatalogBuild } = await import('../../src/catalog/state-catalog.ts');
    const { updateCatalog } = await import('../../src/catalog/update.ts');
    const { entryOf, memorySnapshots } = await import('../support/catalog.ts');
    const changed: SourceRepository = { slug: 'one', packages: packages({ Package: 'b' }) };
    const store = memorySnapshots([changed]);
    const fail = () => Promise.reject(new Error('hash differs'));
    for (const broken of [
      { ...store, readFile: fail },
      { ...store, checkFile: fail },
      { ...store, read: fail },
    ]) {
      const catalog = new CatalogBuild(state);
      const update = await updateCatalog(catalog, [entryOf(changed)], broken, { base, now: new Date() });
      expect(update).toMatchObject({ removed: [], damaged: [{ slug: 'one' }] });
      expect(recordsOf(catalog.database, 'a')).toHaveLength(1);
      catalog.discard();
    }
    // A new one, which never had any, has lost none.
    const catalog = new CatalogBuild(state);
    const entries = [entryOf(changed), entryOf({ ...changed, slug: 'new' })];
    const empty = { ...store, read: async () => undefined };
    expect((await updateCatalog(catalog, entries, empty, { base, now: new Date() })).lost).toEqual(['one']);
    catalog.discard();
    // Of one that was renamed as well, the rows stay under its former slug.
    const renamed = new CatalogBuild(state);
    const entry = entryOf({ ...changed, slug: 'new', aliases: ['one'] });
    expect((await updateCatalog(renamed, [entry], empty, { base, now: new Date() })).removed).toEqual([]);
    expect(recordsOf(renamed.database, 'a')).toHaveLength(1);
    renamed.discard();
  });

  it('writes repository records as documented, with the embedded form free of nulls', async () => {
    const state = temporaryFolder();
    const release =
      'Origin: Example\nDescription: All of it\nDate: Fri, 14 Mar 2025 15:17:43 +0000\nPayment-Gateway: https://pay.example/\n';
    await buildCatalog(state, [
      { slug: 'one', release, packages: packages({ Section: 'Tweaks' }, { Package: 'z', Section: 'Apps' }) },
    ]);
    const [row] = readRepositoryRows(open(state));
    expect(repositoryRecordSchema.parse(JSON.parse(row?.record ?? ''))).toMatchObject({
      id: 'one',
      name: 'Example',
      version: null,
      date: '2025-03-14T15:17:43.000Z',
      sections: ['Apps', 'Tweaks'],
      package_count: 2,
      origin_supports_payment_v2: true,
      origin_uses_https: true,
      refs: { packages: `${base}/v2/jailbreak/repository/one/packages`, meta: `${base}/v2/jailbreak/repository/one` },
    });
  });
});
