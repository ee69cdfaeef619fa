import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDivergences } from '../../src/catalog/divergence-reading.ts';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { areOtherBytes } from '../../src/catalog/package-bytes.ts';
import { readRepositoryFindings } from '../../src/catalog/reading.ts';
import { CatalogBuild, catalogPath } from '../../src/catalog/state-catalog.ts';
import { updateCatalog } from '../../src/catalog/update.ts';
import { divergencesSchema, repositoryFindingsSchema } from '../../src/contract/envelope.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { CatalogDocuments } from '../../src/documents/catalog-documents.ts';
import { documentText } from '../../src/documents/document.ts';
import { HistoryStore } from '../../src/snapshots/history.ts';
import { mergeRecords, parseRecords, recordsText } from '../../src/snapshots/record-history.ts';
import {
  base,
  buildCatalog,
  entryOf,
  memorySnapshots,
  openBuild,
  packages,
  type SourceRepository,
} from '../support/catalog.ts';
import { emissionOf } from '../support/emission.ts';
import { temporaryFolder } from '../support/folder.ts';

const [a, b, c] = ['a', 'b', 'c'].map((digit) => digit.repeat(64));
const day = (number: number) => new Date(Date.UTC(2026, 4, number));

/** A repository that has these builds; a text is the SHA-256 of com.example.one 1.0. */
const repository = (slug: string, ...builds: (Record<string, string | undefined> | string | undefined)[]) => ({
  slug,
  packages: packages(...builds.map((one) => (typeof one === 'object' ? one : { SHA256: one }))),
});

const read = <T>(state: string, ask: (database: CatalogFile) => T): T => {
  const database = CatalogFile.openReadOnly(catalogPath(state));
  try {
    return ask(database);
  } finally {
    database.close();
  }
};

/** What comparing found, by slug: `code count: example`. */
const found = (state: string): Record<string, string[]> =>
  read(state, (database) =>
    Object.fromEntries(
      readRepositoryFindings(database).map(({ slug, findings }) => [
        slug,
        findings
          .filter(({ code }) => code === 'package-diverges' || code === 'package-bytes-changed')
          .map(({ code, count, example }) => `${code} ${count}: ${example}`),
      ]),
    ),
  );

const pairsIn = (state: string) =>
  read(state, readDivergences).pairs.map(({ repositories, count }) => [...repositories, count]);

/** Builds a catalog of these repositories; returns what comparing finds. */
const findIn = async (...repositories: SourceRepository[]) => {
  const state = temporaryFolder();
  await buildCatalog(state, repositories);
  return found(state);
};

describe('the same version with other bytes in two repositories', () => {
  it('C8: is a finding of both, which goes from both when one of them is mended', async () => {
    const state = temporaryFolder();
    const build = (...repositories: SourceRepository[]) => buildCatalog(state, repositories);
    const [one, two] = [repository('one', a), repository('two', b)];
    await build(one, two);
    expect(found(state)).toEqual({
      one: ['package-diverges 1: com.example.one 1.0 (iphoneos-arm) in two'],
      two: ['package-diverges 1: com.example.one 1.0 (iphoneos-arm) in one'],
    });
    const mended = repository('two', { SHA256: b, Version: '1.1' });
    expect((await build(one, mended)).ingested).toEqual(['two']);
    expect(found(state)).toEqual({ one: [], two: [] });
    expect(pairsIn(state)).toEqual([]);
    await build(one, two);
    expect(found(state)).toMatchObject({ one: [expect.stringContaining('in two')] });
    await build(one);
    expect(found(state)).toEqual({ one: [] });
  });

  it('C8: is none if version, architecture or package differ, or if nothing says what the bytes are', async () => {
    const arm64 = { SHA256: b, Architecture: 'iphoneos-arm64' };
    expect(await findIn(repository('one', a), repository('two', arm64))).toEqual({ one: [], two: [] });
    const all = { SHA256: b, Architecture: 'all' };
    expect(await findIn(repository('one', a), repository('two', all))).toEqual({ one: [], two: [] });
    expect(await findIn(repository('one', { SHA256: a, Architecture: 'all' }), repository('two', all))).toMatchObject({
      one: ['package-diverges 1: com.example.one 1.0 (all) in two'],
    });
    expect(await findIn(repository('one', a), repository('two', undefined))).toEqual({ one: [], two: [] });
    const md5 = (digit: string, Size?: string) => ({ MD5sum: digit.repeat(32), Size });
    expect(await findIn(repository('one', md5('a', '9')), repository('two', md5('b', '9')))).toEqual({
      one: [],
      two: [],
    });
    expect(await findIn(repository('one', md5('a', '9')), repository('two', md5('b')))).toEqual({ one: [], two: [] });
    expect(Object.values(await findIn(repository('one', md5('a', '9')), repository('two', md5('a', '8'))))).toEqual([
      [expect.stringContaining('in two')],
      [expect.stringContaining('in one')],
    ]);
  });

  it('C10: is told of a description that looks like a field by the field alone', async () => {
    const trap = { SHA256: a, Description: `"sha256_hash":"${b}","package_size":7,` };
    expect(await findIn(repository('one', trap), repository('two', a))).toEqual({ one: [], two: [] });
  });

  it('C8: is told of each repository once, and of as many pairs as there are repositories, however many agree', async () => {
    const state = temporaryFolder();
    const slugs = Array.from({ length: 60 }, (_, number) => `r${String(number).padStart(2, '0')}`);
    await buildCatalog(
      state,
      slugs.map((slug, number) => repository(slug, number === 7 ? b : number === 8 ? c : a)),
    );
    const all = found(state);
    expect(Object.keys(all)).toEqual(slugs);
    expect(new Set(Object.values(all).map((list) => list.length))).toEqual(new Set([1]));
    expect(all.r00?.[0]).toContain('in r07');
    expect(all.r08?.[0]).toContain('in r00');
    // Of those that agree each names the first that does not.
    expect(pairsIn(state)).toHaveLength(59);
    expect(pairsIn(state)).toContainEqual(['r07', 'r59', 1]);
  });

  it('C8: names the best of the repositories that differ, and of hundreds of packages how many from whom', async () => {
    const state = temporaryFolder();
    const many = (slug: string, sha256: string | undefined, ranking: number, count: number) => ({
      ...repository(
        slug,
        ...Array.from({ length: count }, (_, number) => ({ Package: `p${1000 + number}`, SHA256: sha256 })),
      ),
      ranking,
    });
    await buildCatalog(state, [many('mirror', b, 3, 300), many('origin', a, 1, 300), many('third', c, 2, 10)]);
    const all = found(state);
    expect(all.mirror).toEqual(['package-diverges 300: p1000 1.0 (iphoneos-arm) in origin; 300 unlike origin']);
    expect(all.origin).toEqual([
      'package-diverges 300: p1000 1.0 (iphoneos-arm) in third; 290 unlike mirror, 10 unlike third',
    ]);
    const { pairs, events } = read(state, readDivergences);
    expect(pairs.map(({ repositories, count, builds }) => [...repositories, count, builds.length])).toEqual([
      ['mirror', 'origin', 300, 20],
      ['origin', 'third', 10, 10],
    ]);
    expect(events).toHaveLength(2);
  });

  it('C4: dates from when the later of both came to be, which is no news of a repository that is new', async () => {
    const state = temporaryFolder();
    const one = repository('one', a);
    const old = { ...repository('two', b), changedAt: '2019-05-01T12:00:00.000Z' };
    await buildCatalog(state, [one, old], day(2));
    expect(read(state, readDivergences).events[0]?.at).toBe('2026-05-01T12:00:00.000Z');
    const more = repository('one', a, { SHA256: a, Version: '2' });
    const newer = { ...repository('two', b, { SHA256: b, Version: '2' }), changedAt: '2026-05-04T00:00:00.000Z' };
    await buildCatalog(state, [more, old], day(3));
    await buildCatalog(state, [more, newer], day(4));
    expect(read(state, readDivergences).pairs).toMatchObject([{ count: 2, at: '2026-05-04T00:00:00.000Z' }]);
    expect(read(state, readDivergences).events.map(({ at, count }) => [at.slice(0, 10), count])).toEqual([
      ['2026-05-04', 1],
      ['2026-05-01', 1],
    ]);
  });

  it('P2: changes the document of the other repository too, and is a document that a replica answers alike', async () => {
    const [state, out] = [temporaryFolder(), temporaryFolder()];
    const publish = async (...repositories: SourceRepository[]) => {
      const build = await openBuild(state, repositories);
      const emission = emissionOf(build, out, { now: day(9) });
      await emission.write();
      await build.catalog.publish();
      const text = (file: string) => readFileSync(path.join(out, file), 'utf8');
      const { data } = divergencesSchema.parse(JSON.parse(text(documentPath.divergences)));
      const file = documentPath.repositoryFindings('one');
      const { findings } = repositoryFindingsSchema.parse(JSON.parse(text(file))).data;
      read(state, (database) => {
        const documents = new CatalogDocuments(database);
        const path = documentPath.divergences;
        const date = documents.reading.entry(path)?.date ?? '';
        expect(documentText(documents.compose(path), date)).toBe(text(path));
        const { head, tail } = documents.composeParts(path);
        expect(head + date + [...tail].join('')).toBe(text(path));
        // Its words are those of the version that built the catalog.
        expect(documents.reading.entry(file)?.text).toBe(text(file));
      });
      return { ...data, codes: findings.map(({ code }) => code) };
    };
    const one = repository('one', a);
    expect(await publish(one, repository('two', a))).toEqual({ pairs: [], changed: [], codes: [] });
    const { pairs, changed, codes } = await publish(one, repository('two', b));
    const build = { package_id: 'com.example.one', version: '1.0', architecture: 'iphoneos-arm' };
    expect(codes).toEqual(['package-diverges']);
    expect(pairs).toMatchObject([{ repositories: ['one', 'two'], count: 1, builds: [build] }]);
    expect(changed).toMatchObject([{ repository_id: 'two', count: 1, builds: [build] }]);
    expect(await publish(one)).toEqual({ pairs: [], changed: [], codes: [] });
  });
});

/** Builds a catalog of this repository, which was read at this address. */
const buildAt = async (state: string, one: SourceRepository, uri: string, number: number): Promise<void> => {
  const store = memorySnapshots([one], state);
  const read = async (slug: string) => {
    const snapshot = await store.read(slug);
    return snapshot && { ...snapshot, origin: { ...snapshot.origin, uri } };
  };
  const catalog = new CatalogBuild(state);
  await updateCatalog(catalog, [entryOf({ ...one, uri })], { ...store, read }, { base, now: day(number) });
  await catalog.publish();
};

describe('a version that changed its bytes', () => {
  const changedOn = (number: number) =>
    `package-bytes-changed 1: com.example.one 1.0 (iphoneos-arm) on 2026-05-${String(number).padStart(2, '0')}`;

  it('C8: is a finding for thirty days from the crawl that saw it, and none where it was first seen so', async () => {
    const state = temporaryFolder();
    await buildCatalog(state, [repository('one', a)], day(2));
    expect(found(state)).toEqual({ one: [] });
    await buildCatalog(state, [repository('one', b)], day(3));
    expect(found(state)).toEqual({ one: [changedOn(3)] });
    const same = await buildCatalog(state, [repository('one', b)], day(31));
    expect(same.ingested).toEqual([]);
    expect(found(state)).toEqual({ one: [changedOn(3)] });
    await buildCatalog(state, [repository('one', b)], day(33));
    expect(found(state)).toEqual({ one: [changedOn(3)] });
    await buildCatalog(state, [repository('one', b)], day(34));
    expect(found(state)).toEqual({ one: [] });
    // That it happened stays known while the version is there.
    expect(read(state, readDivergences).events.map(({ repositories, at }) => [...repositories, at])).toEqual([
      ['one', day(3).toISOString()],
    ]);
    await buildCatalog(state, [repository('one', { SHA256: b, Version: '2' })], day(35));
    expect(read(state, readDivergences).events).toEqual([]);
  });

  it('C8: is told of by the last that changed, and how many did', async () => {
    const state = temporaryFolder();
    const at = (...digits: (string | undefined)[]) => {
      const builds = digits.map((SHA256, number) => ({ Package: `com.example.p${number}`, SHA256 }));
      return [repository('one', ...builds)];
    };
    await buildCatalog(state, at(a, a, a), day(2));
    await buildCatalog(state, at(b, a, a), day(3));
    await buildCatalog(state, at(b, b, a), day(4));
    const last = 'com.example.p1 1.0 (iphoneos-arm) on 2026-05-04';
    expect(found(state)).toEqual({ one: [`package-bytes-changed 2: ${last}`] });
  });

  it('C8: is none at another address, of a version that is new, or where a hash came to what had none', async () => {
    const state = temporaryFolder();
    const build = (number: number, one: SourceRepository) => buildCatalog(state, [one], day(number));
    await build(2, repository('one', { Size: '9' }));
    await build(3, repository('one', { Size: '9', SHA256: a }, { Version: '2', SHA256: b }));
    expect(found(state)).toEqual({ one: [] });
    // One stanza of two counts, and it is the one from before.
    await build(4, repository('one', { Size: '9', SHA256: c }, { Size: '9', SHA256: a }, { Version: '2', SHA256: b }));
    expect(found(state)).toEqual({ one: [] });
    await build(5, repository('one', { Size: '8', SHA256: a }, { Version: '2', SHA256: b }));
    expect(found(state)).toEqual({ one: [changedOn(5)] });
    // Who is at another address may have files of his own.
    await buildAt(state, repository('one', { Size: '7', SHA256: b }), 'https://moved.example/', 6);
    expect(found(state)).toEqual({ one: [changedOn(5)] });
    await buildAt(state, repository('one', { Size: '6', SHA256: b }), 'https://moved.example/', 7);
    expect(found(state)).toEqual({ one: [changedOn(7)] });
    // And the same address under another slug is the same repository.
    const renamed = { ...repository('uno', { Size: '5', SHA256: b }), aliases: ['one'] };
    await buildAt(state, renamed, 'https://moved.example/', 8);
    expect(found(state)).toEqual({ uno: [changedOn(8)] });
  });

  it('C12: stays known after the catalog is lost, after a build that ends before it publishes, and under another slug', async () => {
    const state = temporaryFolder();
    await buildCatalog(state, [repository('one', a)], day(2));
    const { catalog } = await openBuild(state, [repository('one', b)], day(3));
    catalog.discard();
    await buildCatalog(state, [repository('one', b)], day(4));
    expect(found(state)).toEqual({ one: [changedOn(4)] });
    rmSync(catalogPath(state));
    await buildCatalog(state, [repository('one', b)], day(5));
    expect(found(state)).toEqual({ one: [changedOn(4)] });
    const history = new HistoryStore(path.join(state, 'history'));
    const records = await history.readRecords('one');
    if (records === undefined) throw new Error('no history');
    expect(parseRecords(recordsText(records))).toEqual(records);
    // Of the same record both histories may tell that it changed: the later counts.
    const key = [...records.records.keys()][0] ?? '';
    const other = {
      ...records,
      records: new Map([[key, { seen: day(1).toISOString(), news: true, goneAt: null, changedAt: null }]]),
    };
    expect(mergeRecords(records, other).records.get(key)).toMatchObject({ changedAt: day(4).toISOString() });
    expect(mergeRecords(other, records).records.get(key)).toMatchObject({ changedAt: day(4).toISOString() });
    // A history that is lost is what the catalog knew of it.
    rmSync(path.join(state, 'history'), { recursive: true });
    await buildCatalog(state, [repository('one', b, { Version: '2' })], day(6));
    expect(found(state)).toEqual({ one: [changedOn(4)] });
  });
});

it('C8: a hash or size that an index leaves out is no evidence for or against another file', () => {
  const bytes = (sha256: string | undefined, size: number) => ({ sha256: sha256 ?? null, size });
  expect(areOtherBytes(bytes(a, 1), bytes(b, 1))).toBe(true);
  expect(areOtherBytes(bytes(a, 1), bytes(a, 2))).toBe(true);
  expect(areOtherBytes(bytes(undefined, 1), bytes(a, 2))).toBe(true);
  expect(areOtherBytes(bytes(undefined, 0), bytes(a, 2))).toBe(false);
  expect(areOtherBytes(bytes(undefined, 2), bytes(a, 2))).toBe(false);
});
