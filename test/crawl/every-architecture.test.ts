import { writeFile } from 'node:fs/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { computeSource } from '../../src/catalog/ingest.ts';
import { AptClient, hasApt } from '../support/apt-client.ts';
import {
  type Fields,
  generateRepository,
  makePackages,
  type RepositoryFiles,
  type RepositoryPlan,
} from '../support/apt-repository.ts';
import { bench, useCrawlBench } from '../support/crawl-bench.ts';
import { makeCatalogOf } from '../support/crawled-catalog.ts';
import { makeEntry } from '../support/crawling.ts';
import { createSigner, signRepository } from '../support/signer.ts';
import { dated } from './apt-scenarios.ts';

useCrawlBench();
beforeEach(async () => {
  bench.now = new Date();
});

const root = '/dists/stable';
const ofAll = `${root}/main/binary-all/Packages`;
const suite = { name: 'stable', component: 'main', architecture: 'iphoneos-arm64' };
const makeAll = (count: number): Fields[] =>
  makePackages(count, 'every').map((fields) => ({ ...fields, Architecture: 'all' }));
const entryOf = (fields = {}) =>
  makeEntry('repo', bench.origin.uri('repo'), {
    suite: suite.name,
    component: suite.component,
    binary: suite.architecture,
    ...fields,
  });

type Change = (files: RepositoryFiles) => RepositoryFiles;

/** A suite of 3 packages and an index of 2 for every architecture. */
const generate = (plan: RepositoryPlan = {}, days = 1): Promise<RepositoryFiles> =>
  generateRepository({
    suite,
    all: makeAll(2),
    compressions: ['gz', 'plain'],
    ...plan,
    release: { ...dated(days), Architectures: 'iphoneos-arm64 all', ...plan.release },
  });

const editRelease =
  (from: RegExp, to: string): Change =>
  (files) =>
    files.set(
      `${root}/Release`,
      Buffer.from(
        Buffer.from(files.get(`${root}/Release`) ?? '')
          .toString()
          .replace(from, to),
      ),
    );
const drop: Change = (files) => {
  for (const end of ['', '.gz']) files.delete(ofAll + end);
  return files;
};
const spoil: Change = (files) => files.set(ofAll, Buffer.from('x')).set(`${ofAll}.gz`, Buffer.from('x'));

const serve = async (plan: RepositoryPlan = {}, change: Change = (files) => files, days = 1) =>
  bench.origin.serve('repo', change(await generate(plan, days)));

const countPackages = async (): Promise<number | null> => {
  const snapshot = await bench.store.read('repo');
  return snapshot === undefined ? null : snapshot.packages.stanzas + (snapshot.packagesOfAll?.stanzas ?? 0);
};

interface Scenario {
  readonly what: string;
  readonly plan?: RepositoryPlan;
  readonly change?: Change;
  /** Packages in force with apt and here; null for none. */
  readonly packages: number | null;
}

const noSupport = (kinds: string) => ({ release: { 'No-Support-for-Architecture-all': kinds } });
const scenarios: Scenario[] = [
  { what: 'which Architectures lists', packages: 5 },
  { what: 'which Architectures leaves out', plan: { release: { Architectures: 'iphoneos-arm64' } }, packages: 3 },
  { what: 'which alone Architectures lists', plan: { release: { Architectures: 'all' } }, packages: 5 },
  { what: 'without Architectures', plan: { release: { Architectures: null } }, packages: 5 },
  { what: 'whose packages are repeated', plan: noSupport('Packages'), packages: 3 },
  { what: 'whose packages are repeated, among others', plan: noSupport('Contents-deb Packages'), packages: 3 },
  { what: 'of which only the contents are repeated', plan: noSupport('Contents-deb'), packages: 5 },
  { what: 'whose packages are repeated, in small letters', plan: noSupport('packages'), packages: 5 },
  { what: 'that Release has no hashes of', change: editRelease(/ .*binary-all.*\n/g, ''), packages: 3 },
  { what: 'that is not there', change: drop, packages: null },
  { what: 'that does not match', change: spoil, packages: null },
  { what: 'without hashes', plan: { hashes: [] }, packages: 5 },
  { what: 'that is not there, without hashes', plan: { hashes: [] }, change: drop, packages: 3 },
  { what: 'that is empty', plan: { all: [] }, packages: 3 },
];

describe('C8: an index of the packages for every architecture', () => {
  it.each(scenarios)('C8: $what', async ({ plan, change, packages }) => {
    await serve(plan, change);
    const outcome = await bench.crawlOne({ limits: { repetitions: 0 } }, entryOf());
    expect(outcome.outcome, outcome.reason ?? '').toBe(packages === null ? 'failed' : 'fresh');
    expect(await countPackages()).toBe(packages);
  });

  it.skipIf(!hasApt)(`C8: ${scenarios.map(({ what }) => what).join('; ')}, as apt has it`, async () => {
    const sources = [];
    for (const [index, { plan, change = (files: RepositoryFiles) => files }] of scenarios.entries()) {
      bench.origin.serve(`repo${index}`, change(await generate(plan)));
      sources.push({ uri: bench.origin.uri(`repo${index}`), place: 'stable main' });
    }
    const theirs = await new AptClient(bench.directory, sources).update();
    const found = scenarios.map(({ what }, index) => [what, theirs.packages[index]]);
    expect(found, theirs.text).toEqual(scenarios.map(({ what, packages }) => [what, packages]));
  });

  it('C8: is taken where the other one has the same bytes, as where all packages are for every architecture', async () => {
    for (const [days, count] of [
      [2, 1],
      [1, 2],
    ] as const) {
      await serve({ packages: makeAll(count), all: makeAll(count) }, undefined, days);
      const outcome = await bench.crawlOne({}, entryOf());
      expect(outcome.outcome, outcome.reason ?? '').toBe('fresh');
      const { packages, packagesOfAll } = (await bench.store.read('repo')) ?? {};
      expect(packagesOfAll?.sha256).toBe(packages?.sha256);
      expect((await makeCatalogOf(bench, entryOf())).records).toHaveLength(count);
    }
  });

  it('C8: is read with the other one, a package in both counted once, and belongs to no entry that names it itself', async () => {
    const [first = {}] = makePackages(1);
    await serve({ all: [...makeAll(2), first] });
    await bench.crawlOne({}, entryOf());
    const { records, findings } = await makeCatalogOf(bench, entryOf());
    expect(records.map(({ package_id, architecture }) => `${package_id} ${architecture}`).sort()).toEqual([
      'com.example.every1 all',
      'com.example.every2 all',
      ...[1, 2, 3].map((number) => `com.example.p${number} iphoneos-arm64`),
    ]);
    expect(findings).toMatchObject([{ code: 'stanza-duplicate', count: 1 }]);

    await bench.store.remove('repo');
    const entry = entryOf({ binary: 'all' });
    expect((await bench.crawlOne({}, entry)).asked.filter((line) => line.endsWith(' 200'))).toHaveLength(2);
    expect((await makeCatalogOf(bench, entry)).records).toHaveLength(3);
  });

  it('C6: costs no request while Release is unchanged, and one where Release lists no hashes', async () => {
    await serve();
    await bench.crawlOne({}, entryOf());
    const same = await bench.crawlOne({}, entryOf());
    expect(same).toMatchObject({ outcome: 'unchanged', asked: ['/dists/stable/Release 304'] });
    for (const change of [undefined, drop]) {
      await bench.store.remove('repo');
      await serve({ hashes: [] }, change);
      await bench.crawlOne({}, entryOf());
      const status = change ? 404 : 304;
      expect(await bench.crawlOne({}, entryOf())).toMatchObject({
        outcome: 'unchanged',
        asked: [
          '/dists/stable/Release 304',
          '/dists/stable/main/binary-iphoneos-arm64/Packages.gz 304',
          `/dists/stable/main/binary-all/Packages.gz ${status}`,
        ],
      });
    }
  });

  it('C3: that changes alone is taken, and one that disagrees leaves all of the old data', async () => {
    await serve();
    await bench.crawlOne({}, entryOf());
    await serve({ all: makeAll(4) }, undefined, 0.9);
    expect(await bench.crawlOne({}, entryOf())).toMatchObject({ outcome: 'fresh' });
    expect(await countPackages()).toBe(7);
    const before = await bench.store.read('repo');
    await serve({ packages: makePackages(5), all: makeAll(5) }, spoil, 0.8);
    expect(await bench.crawlOne({}, entryOf())).toMatchObject({ outcome: 'stale', code: 'index-mismatch' });
    expect(await bench.store.read('repo')).toEqual(before);
    await serve({ hashes: [], all: makeAll(4) }, undefined, 0.7);
    await bench.crawlOne({}, entryOf());
    await serve({ hashes: [], all: makeAll(6) }, undefined, 0.7);
    expect(await bench.crawlOne({}, entryOf())).toMatchObject({ outcome: 'fresh' });
    expect(await countPackages()).toBe(9);
  });

  it('C4: counts when most of the packages are gone, and says of which files', async () => {
    await serve({ all: makeAll(9) });
    await bench.crawlOne({}, entryOf());
    await serve({ all: [] }, undefined, 0.9);
    const outcome = await bench.crawlOne({}, entryOf());
    expect(outcome).toMatchObject({ outcome: 'stale', code: 'index-shrunken' });
    expect(outcome.reason).toMatch(/binary-iphoneos-arm64\/\S+ and \S+binary-all\/\S+ had 12 stanzas, and now have 3/);
    await serve({ all: makeAll(9) }, editRelease(/iphoneos-arm64 all/, 'iphoneos-arm64'), 0.8);
    expect(await bench.crawlOne({}, entryOf())).toMatchObject({ outcome: 'stale', code: 'index-shrunken' });
    expect(await countPackages()).toBe(12);
  });

  it('C5: has to be reached by the signature too', async () => {
    const signer = await createSigner({ created: new Date(Date.now() - 20 * 86_400_000) });
    const sign = (files: RepositoryFiles) =>
      signRepository(files, signer, ['InRelease'], { date: new Date(Date.now() - 3_600_000) }, root);
    const entry = entryOf({ key: signer.publicKey });
    bench.origin.serve('repo', await sign(await generate()));
    expect(await bench.crawlOne({}, entry)).toMatchObject({ outcome: 'fresh', signing: { state: 'verified' } });
    const weak = (text: string) => text.replace(/ [0-9a-f]{64} (\d+ .*binary-all.*)\n/g, '');
    const files = await generate({ hashes: ['md5', 'sha256'] }, 0.9);
    const text = weak(Buffer.from(files.get(`${root}/Release`) ?? '').toString());
    bench.origin.serve('repo', await sign(files.set(`${root}/Release`, Buffer.from(text))));
    expect(await bench.crawlOne({}, entry)).toMatchObject({ outcome: 'stale', code: 'index-unverified' });
  });

  it('C4: is fetched for a snapshot of a version that knew none, though nothing changed', async () => {
    await serve();
    await bench.crawlOne({}, entryOf());
    const { packagesOfAll: _, ...older } = (await bench.store.read('repo')) ?? {};
    await writeFile(`${bench.directory}/v1/repo/meta.json`, JSON.stringify(older));
    expect(await bench.crawlOne({}, entryOf())).toMatchObject({ outcome: 'fresh' });
    expect(await countPackages()).toBe(5);
  });

  it('C3: is looked for once a day though Release is unchanged, and its absence is a finding until it is back', async () => {
    await serve();
    await bench.crawlOne({}, entryOf());
    for (const end of ['', '.gz']) bench.origin.break(`/repo${ofAll}${end}`, { kind: 'status', status: 404 });
    bench.pass(2 * 86_400);
    const { outcome, findings } = await bench.crawlOne({}, entryOf());
    expect(outcome).toBe('unchanged');
    expect(findings).toMatchObject([{ code: 'index-gone', example: expect.stringContaining('binary-all') }]);
    bench.origin.mend();
    bench.pass(2 * 86_400);
    expect((await bench.crawlOne({}, entryOf())).findings).toEqual([]);
    expect(await countPackages()).toBe(5);
  });

  it('C13: is part of what the rows of a repository are computed from', async () => {
    await serve();
    await bench.crawlOne({}, entryOf());
    const snapshot = await bench.store.read('repo');
    if (!snapshot?.packagesOfAll) throw new Error('the index is not there');
    const source = computeSource(entryOf(), snapshot, { base: 'https://index.test' });
    const packagesOfAll = { ...snapshot.packagesOfAll, sha256: '0'.repeat(64) };
    for (const other of [packagesOfAll, null]) {
      expect(computeSource(entryOf(), { ...snapshot, packagesOfAll: other }, { base: 'https://index.test' })).not.toBe(
        source,
      );
    }
  });

  it('C12: that the disk has lost is fetched anew', async () => {
    await serve();
    await bench.crawlOne({}, entryOf());
    const snapshot = await bench.store.read('repo');
    await writeFile(`${bench.directory}/v1/repo/${snapshot?.packagesOfAll?.sha256}`, 'damaged');
    const { outcome, findings } = await bench.crawlOne({}, entryOf());
    expect({ outcome, codes: findings.map(({ code }) => code) }).toMatchObject({ codes: ['snapshot-damaged'] });
    expect(await countPackages()).toBe(5);
  });
});
