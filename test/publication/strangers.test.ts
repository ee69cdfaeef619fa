import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CatalogBuild } from '../../src/catalog/state-catalog.ts';
import { updateCatalog } from '../../src/catalog/update.ts';
import { limits } from '../../src/contract/limits.ts';
import type { ManifestEntry } from '../../src/contract/manifest.ts';
import { createFetcher } from '../../src/net/fetcher.ts';
import { createResolver } from '../../src/net/resolver.ts';
import { openStore } from '../../src/snapshots/store.ts';
import { generateRepository, makePackages, type RepositoryPlan } from '../support/apt-repository.ts';
import { bench, useCrawlBench } from '../support/crawl-bench.ts';
import { makeEntry } from '../support/crawling.ts';
import { emissionOf } from '../support/emission.ts';
import { temporaryFolder } from '../support/folder.ts';
import { timesFrom } from '../support/longer-runs.ts';
import { NameServer } from '../support/name-server.ts';

// More than there are places. DEBDEX_TEST_REPOSITORIES=400 is the size of the real thing.
const total = timesFrom('DEBDEX_TEST_REPOSITORIES', 36);
// Of those that have others wait as many as would be noticed if each were waited for alone; of those that send much two,
// which is enough to be at once.
const ofEach: Readonly<Record<string, number>> = { versions: 2, sections: 2, signatures: 2 };
const others = 5;
const budgetMs = 20_000;
const usual = { ...limits };
/** How many repositories a crawl works on at once. */
const places = 32;

let names: NameServer;

useCrawlBench();
beforeEach(async () => {
  // So that a little is too much.
  Object.assign(limits, { recordsPerPackage: 200, sections: 50 });
  names = await NameServer.start((name) => (name.startsWith('slow') ? 'silence' : ['127.0.0.1']));
});

afterEach(async () => {
  Object.assign(limits, usual);
  await names.stop();
});

const brief = (name: string, version: string, rest = '') =>
  `Package: ${name}\nVersion: ${version}\nArchitecture: all\nFilename: a\nSize: 1\n${rest}\n`;
const many = (count: number, compose: (number: number) => string): RepositoryPlan => ({
  packages: Array.from({ length: count }, (_, number) => compose(number)).join(''),
  compressions: ['gz'],
});

/** The ways to misbehave: what is served below the slug, and what is broken of it. */
const ways: Record<string, (slug: string) => Promise<unknown>> = {
  slow: async () => {},
  versions: async (slug) =>
    bench.origin.serve(
      slug,
      await generateRepository(many(limits.recordsPerPackage + 100, (n) => brief(slug, `${n}`))),
    ),
  sections: async (slug) =>
    bench.origin.serve(
      slug,
      await generateRepository(
        many(limits.sections + 10, (n) => brief(`${slug}${n}`, '1', `Section: ${'s'.repeat(800)}${n}\n`)),
      ),
    ),
  signatures: async (slug) => {
    const files = await generateRepository();
    const release = Buffer.from(files.get('/Release') ?? '').toString();
    const signature = `-----BEGIN PGP SIGNATURE-----\n\n${'wsA=\n'.repeat(limits.signatureBytes)}-----END PGP SIGNATURE-----\n`;
    const signed = `-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n${release}${signature}`;
    bench.origin.serve(slug, files.set('/InRelease', Buffer.from(signed)));
  },
  busy: async (slug) =>
    bench.origin.break(`/${slug}/InRelease`, { kind: 'status', status: 429, headers: { 'retry-after': '600' } }),
  silent: async (slug) => bench.origin.break(`/${slug}/InRelease`, { kind: 'silent' }),
};

const entryOf = (slug: string) => makeEntry(slug, `http://${slug}.example:${bench.origin.port}/${slug}`);

/** Builds into folders of its own, twice; returns outcomes, requests by path and files of the first, and of the second the requests. */
const build = async (entries: readonly ManifestEntry[]) => {
  const folder = temporaryFolder();
  const store = openStore(folder);
  const crawl = async () => {
    const resolve = createResolver({ servers: [names.address] });
    // So much that those who behave are in time on a busy machine too.
    const patient = { lookupMs: 3000, headersMs: 9000 };
    const fetcher = createFetcher({ allowPrivateNetworks: ['127.0.0.0/8'], resolve, limits: patient });
    bench.origin.reset();
    const since = performance.now();
    const outcomes = await bench.crawl(entries, { store, fetcher, limits: { repositoryMs: budgetMs, repetitions: 0 } });
    await fetcher.close();
    const paths = bench.origin.requests.map((request) => request.path).filter((one) => one.startsWith('/good'));
    return { outcomes, requests: paths.sort(), seconds: (performance.now() - since) / 1000 };
  };
  const first = await crawl();
  const catalog = new CatalogBuild(folder);
  const update = await updateCatalog(catalog, [...entries], store, { base: 'https://index.test', now: bench.now });
  const emission = emissionOf({ catalog, update }, path.join(folder, 'dist'), { now: bench.now });
  await emission.write();
  catalog.discard();
  const root = path.join(folder, 'dist');
  const found = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = found.map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));
  const good = files.filter((file) => /good\d/.test(file)).sort();
  const bytes = new Map(good.map((file) => [file, readFileSync(path.join(root, file), 'utf8')]));
  return { ...first, bytes, again: (await crawl()).requests };
};

it('C6, C7, C13: several strangers in each way at once change no byte and no request of the others, and delay them by a budget', {
  timeout: 600_000,
}, async () => {
  const bad = Object.keys(ways).flatMap((way) =>
    Array.from({ length: ofEach[way] ?? others }, (_, number) => `${way}${number}`),
  );
  const good = Array.from({ length: total - bad.length }, (_, number) => `good${number}`);
  for (const [number, slug] of good.entries()) {
    const plan = { packages: makePackages(1 + (number % 9), `${slug}.`), compressions: ['gz'] as const };
    bench.origin.serve(slug, await generateRepository(plan));
  }
  for (const slug of bad) await ways[slug.replace(/\d+$/, '')]?.(slug);

  const alone = await build(good.map(entryOf));
  const together = await build([...bad, ...good].map(entryOf));

  for (const { slug, outcome, seconds } of together.outcomes) {
    if (slug.startsWith('good')) expect({ slug, outcome }).toEqual({ slug, outcome: 'fresh' });
    else expect(seconds, slug).toBeLessThan((2 * budgetMs) / 1000);
  }
  const codeOf = (slug: string) => together.outcomes.find((one) => one.slug === slug)?.code;
  expect(['slow0', 'versions0', 'sections0', 'signatures0', 'busy0', 'silent0'].map(codeOf)).toEqual([
    ...['dns', null, null, null, 'origin-busy', 'timeout'],
  ]);
  expect(together.bytes).toEqual(alone.bytes);
  expect(alone.bytes.size).toBeGreaterThan(3 * good.length);
  expect(together.requests).toEqual(alone.requests);
  expect(together.again).toEqual(good.map((slug) => `/${slug}/Release`).sort());
  // Strangers are waited for side by side, as many at once as there are places.
  const rounds = Math.ceil(bad.length / places);
  expect(together.seconds).toBeLessThan(3 * alone.seconds + (2 * rounds * budgetMs) / 1000);
});

it('C7: as many repositories as there are places are visited at once, and wait for no other', async () => {
  const all = Array.from({ length: places }, (_, number) => `good${number}.example`);
  const begun = new Set<string>();
  const everyone = Promise.withResolvers<void>();
  everyone.promise.catch(() => {});
  // No name is told before all are asked for, which a visit that waits for another never does.
  const resolve = async (name: string) => {
    begun.add(name);
    if (begun.size === places) everyone.resolve();
    await everyone.promise;
    return [{ address: '127.0.0.1', family: 4 }];
  };
  const fetcher = createFetcher({ allowPrivateNetworks: ['127.0.0.0/8'], resolve, limits: { lookupMs: budgetMs } });
  await bench.crawl(
    all.map((name) => entryOf(name.replace('.example', ''))),
    {
      fetcher,
      limits: { placeMs: 10 * budgetMs, repositoryMs: budgetMs, repetitions: 0 },
      onOutcome: ({ slug }) => everyone.reject(new Error(`${slug} was over before all had begun`)),
    },
  );
  await fetcher.close();
  await everyone.promise;
  expect([...begun].sort()).toEqual(all.sort());
});
