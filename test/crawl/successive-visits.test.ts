import { rm } from 'node:fs/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { readRepositoryFindings, readRepositoryRows } from '../../src/catalog/reading.ts';
import { CatalogBuild } from '../../src/catalog/state-catalog.ts';
import { updateCatalog } from '../../src/catalog/update.ts';
import type { ManifestEntry } from '../../src/contract/manifest.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { bench, useCrawlBench } from '../support/crawl-bench.ts';
import { makeEntry } from '../support/crawling.ts';
import { temporaryFolder } from '../support/folder.ts';

useCrawlBench();
beforeEach(async () => {
  bench.origin.serve('repo', await generateRepository({ packages: makePackages(8) }));
});

/** Brings a catalog up to date with one entry and publishes it; tells what it holds of it then. */
const publish = async (state: string, entry: ManifestEntry) => {
  const catalog = new CatalogBuild(state);
  const update = await updateCatalog(catalog, [entry], bench.store, { base: 'https://index.test', now: bench.now });
  const [row] = readRepositoryRows(catalog.database);
  const [found] = readRepositoryFindings(catalog.database);
  await catalog.publish();
  const codes = found?.findings.map(({ code }) => code) ?? [];
  return { update, codes, record: row === undefined ? undefined : JSON.parse(row.record) };
};

describe('an address that changes in the manifest', () => {
  it.each(['/', '//'])('C4: is the same with %j at its end', async (end) => {
    await bench.crawlOne();
    const same = makeEntry('repo', bench.origin.uri('repo') + end);
    expect(await bench.crawlOne({}, same)).toMatchObject({ outcome: 'unchanged', requests: 1 });
  });

  it.each([
    ['uri', (uri: string) => makeEntry('repo', `${uri}/moved`)],
    ['suite', (uri: string) => makeEntry('repo', uri, { suite: 'next', component: 'main', binary: 'iphoneos-arm64' })],
  ])('C3: a new %s has nothing of the old one published as its own', async (_, change) => {
    const state = temporaryFolder();
    const uri = bench.origin.uri('repo');
    const before = makeEntry('repo', uri);
    await bench.crawlOne({}, before);
    await publish(state, before);
    const after = change(uri);
    const outcome = await bench.crawlOne({}, after);
    expect(outcome).toMatchObject({ outcome: 'stale', code: 'release-missing' });
    expect(outcome.findings.map(({ code }) => code)).toEqual(['address-former']);
    const { record, codes } = await publish(state, after);
    expect(record).toMatchObject({ uri, suite: './', package_count: 8 });
    expect(codes).toEqual(['address-former']);
    const place = after.suite === './' ? 'repo/moved' : 'repo';
    const plan =
      after.suite === './' ? {} : { suite: { name: 'next', component: 'main', architecture: 'iphoneos-arm64' } };
    bench.origin.serve(place, await generateRepository({ ...plan, packages: makePackages(2) }));
    expect(await bench.crawlOne({}, after)).toMatchObject({ outcome: 'fresh', findings: [] });
    expect(await publish(state, after)).toMatchObject({
      record: { uri: after.uri, suite: after.suite, package_count: 2 },
      codes: [],
    });
  });
});

describe('a finding that comes and goes', () => {
  it('C13: changes the findings of its repository, and nothing else of it', async () => {
    const state = temporaryFolder();
    const entry = makeEntry('repo', bench.origin.uri('repo'));
    await bench.crawlOne({}, entry);
    expect((await publish(state, entry)).update.ingested).toEqual(['repo']);
    bench.origin.serve('other', await generateRepository({ packages: makePackages(8) }));
    bench.origin.break('/repo/Release', { kind: 'redirect', location: '/other/Release' });
    await bench.crawlOne({}, entry);
    const there = await publish(state, entry);
    expect(there).toMatchObject({ update: { ingested: [], touched: new Set() }, codes: ['redirected'] });
    bench.origin.mend();
    await bench.crawlOne({}, entry);
    expect(await publish(state, entry)).toMatchObject({ update: { ingested: [] }, codes: [] });
  });
});

describe('a snapshot that is lost', () => {
  const lose = () => rm(`${bench.directory}/v1`, { recursive: true });

  it('C4: is remembered well enough to hold back what shrank, and to know what did not change', async () => {
    await bench.crawlOne();
    const { changedAt } = (await bench.store.read('repo')) ?? {};
    await lose();
    bench.origin.serve('repo', await generateRepository({ packages: makePackages(3) }));
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'failed', code: 'index-shrunken' });
    bench.origin.serve('repo', await generateRepository({ packages: makePackages(8) }));
    bench.pass(60);
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh' });
    expect((await bench.store.read('repo'))?.changedAt).toBe(changedAt);
  });

  it('C4: while the origin is down leaves published what was', async () => {
    const state = temporaryFolder();
    const entry = makeEntry('repo', bench.origin.uri('repo'));
    await bench.crawlOne({}, entry);
    await publish(state, entry);
    await rm(`${bench.directory}/v1/repo/meta.json`);
    bench.origin.break('/repo/Release', { kind: 'status', status: 500 });
    bench.origin.break('/repo/InRelease', { kind: 'status', status: 500 });
    await bench.crawlOne({ limits: { repetitions: 0 } }, entry);
    const { update, record } = await publish(state, entry);
    expect(update).toMatchObject({ lost: ['repo'], removed: [], touched: new Set() });
    expect(record).toMatchObject({ package_count: 8 });
  });

  it.each([
    ['renamed', ['repo']],
    ['Repo', []],
  ])(
    'C4: and that is called %s from the same build on, stays under its former slug until its origin has answered',
    async (slug, aliases) => {
      const state = temporaryFolder();
      const entry = makeEntry('repo', bench.origin.uri('repo'));
      await bench.crawlOne({}, entry);
      await publish(state, entry);
      await lose();
      const renamed = { ...entry, slug, aliases };
      for (const path of ['/repo/Release', '/repo/InRelease'])
        bench.origin.break(path, { kind: 'status', status: 500 });
      for (const _ of [1, 2]) {
        await bench.crawlOne({ limits: { repetitions: 0 } }, renamed);
        const { update, record } = await publish(state, renamed);
        expect(update).toMatchObject({ removed: [], touched: new Set() });
        expect(record).toMatchObject({ slug: 'repo', package_count: 8 });
      }
      bench.origin.mend();
      bench.pass(86_400);
      await bench.crawlOne({}, renamed);
      const { update, record } = await publish(state, renamed);
      expect(update).toMatchObject({ removed: ['repo'], ingested: [slug] });
      expect(record).toMatchObject({ slug, package_count: 8 });
    },
  );
});

describe('what is seen for the first time', () => {
  const changedAt = async (date: string | null, modified = true) => {
    bench.origin.validators = { etag: true, lastModified: modified };
    await bench.store.remove('repo');
    await rm(`${bench.directory}/history`, { recursive: true, force: true });
    bench.origin.serve('repo', await generateRepository({ packages: makePackages(8), release: { Date: date } }));
    await bench.crawlOne();
    return (await bench.store.read('repo'))?.changedAt;
  };

  it('C4: dates from what the origin says of it, and never from the future', async () => {
    // Packages is served with a Last-Modified of 1 January.
    expect(await changedAt(null)).toBe('2026-01-01T00:00:00.000Z');
    expect(await changedAt('Sun, 01 Mar 2026 10:00:00 UTC')).toBe('2026-03-01T10:00:00.000Z');
    expect(await changedAt('Wed, 01 Jan 2025 10:00:00 UTC')).toBe('2026-01-01T00:00:00.000Z');
    expect(await changedAt('Thu, 01 Jan 2099 00:00:00 UTC')).toBe('2026-01-01T00:00:00.000Z');
    expect(await changedAt('Thu, 01 Jan 2099 00:00:00 UTC', false)).toBe(bench.now.toISOString());
    expect(await changedAt(null, false)).toBe(bench.now.toISOString());
  });

  it('C4: and what changes later dates from the day on which that was seen', async () => {
    await bench.crawlOne();
    bench.pass(60);
    bench.origin.serve('repo', await generateRepository({ packages: makePackages(9) }));
    await bench.crawlOne();
    expect((await bench.store.read('repo'))?.changedAt).toBe(bench.now.toISOString());
  });
});
