import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CatalogBuild } from '../../src/catalog/state-catalog.ts';
import { updateCatalog } from '../../src/catalog/update.ts';
import type { ManifestEntry } from '../../src/contract/manifest.ts';
import type { CrawlOutcome } from '../../src/crawl/crawl.ts';
import { openStore } from '../../src/snapshots/store.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { CrawlBench, makeEntry } from '../support/crawling.ts';
import { emissionOf } from '../support/emission.ts';
import { hostile } from '../support/hostile.ts';
import { timesFrom } from '../support/longer-runs.ts';
import { OriginServer } from '../support/origin-server.ts';

// With 180, twenty of two hundred are hostile: DEBDEX_TEST_REPOSITORIES=180.
const whole = timesFrom('DEBDEX_TEST_REPOSITORIES', 10);
// So much that those that are whole are in time on a busy machine too.
const budgetMs = 8000;
const network = { headersMs: 2000, graceMs: 2000, totalMs: 6000 };

let bench: CrawlBench;
const origins: OriginServer[] = [];
const folders: string[] = [];

beforeAll(async () => {
  bench = await CrawlBench.start();
});

afterAll(async () => {
  for (const origin of origins) await origin.stop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  await bench.stop();
});

const serveWhole = async (): Promise<ManifestEntry[]> => {
  const entries: ManifestEntry[] = [];
  for (let number = 0; number < whole; number++) {
    const slug = `whole${number}`;
    const packages = makePackages(1 + (number % 20), `${slug}.`);
    bench.origin.serve(slug, await generateRepository({ packages, compressions: ['gz'] }));
    entries.push(makeEntry(slug, bench.origin.uri(slug)));
  }
  return entries;
};

const serveHostile = async (): Promise<ManifestEntry[]> => {
  const entries: ManifestEntry[] = [];
  for (const [index, [, put]] of hostile.entries()) {
    const origin = await OriginServer.start(`127.0.1.${index + 1}`);
    origins.push(origin);
    await put(origin, 'repo');
    entries.push(makeEntry(`hostile${index}`, origin.uri('repo')));
  }
  return entries;
};

/** Crawls and publishes; returns outcomes and files. */
const publish = async (entries: ManifestEntry[]): Promise<{ outcomes: CrawlOutcome[]; files: Map<string, string> }> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'debdex-test-'));
  folders.push(folder);
  const store = openStore(folder);
  const limits = { repositoryMs: budgetMs, indexBytes: 8_000_000 };
  const outcomes = await bench.crawl(entries, { store, limits, network });
  const catalog = new CatalogBuild(folder);
  const update = await updateCatalog(catalog, entries, store, { base: 'https://index.test', now: bench.now });
  const emission = emissionOf({ catalog, update }, path.join(folder, 'dist'), { now: bench.now });
  await emission.write();
  catalog.discard();
  const root = path.join(folder, 'dist');
  const found = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = found.map((entry) => path.relative(root, path.join(entry.parentPath, entry.name))).sort();
  return { outcomes, files: new Map(paths.map((file) => [file, readFileSync(path.join(root, file), 'utf8')])) };
};

describe(`${whole} repositories, and twenty hostile ones among them`, () => {
  let good: ManifestEntry[];
  let alone: Awaited<ReturnType<typeof publish>>;
  let together: Awaited<ReturnType<typeof publish>>;
  beforeAll(async () => {
    good = await serveWhole();
    alone = await publish(good);
    const bad = await serveHostile();
    const mixed = [...good];
    for (const [index, entry] of bad.entries())
      mixed.splice(index * Math.ceil((whole + bad.length) / bad.length), 0, entry);
    together = await publish(mixed);
  });

  it('C7, C9, C13: the output of the others is the same byte for byte, and none takes longer than it may', () => {
    expect(together.outcomes).toHaveLength(whole + hostile.length);
    for (const { slug, outcome, seconds, reason } of together.outcomes) {
      if (slug.startsWith('whole')) expect(outcome, slug).toBe('fresh');
      else expect(seconds, `${slug}: ${reason}`).toBeLessThan((2 * budgetMs) / 1000);
    }
    let compared = 0;
    for (const [file, text] of alone.files) {
      if (!/whole\d/.test(file)) continue;
      expect(together.files.get(file), file).toBe(text);
      compared++;
    }
    expect(compared).toBe(3 * whole + good.reduce((sum, _, number) => sum + 1 + (number % 20), 0));
    for (const file of together.files.keys()) {
      expect(file).toMatch(
        /^v2\/((?:index|downloads|divergences)\.json|jailbreak\/(package|repository)\/[a-z0-9._=+/-]+\.json)$/,
      );
    }
  });

  it.each(hostile.map(([what], index) => [what, index] as const))(
    'C2, C8: one that %s ends with a word for it',
    (_what, index) => {
      const outcome = together.outcomes.find(({ slug }) => slug === `hostile${index}`);
      expect(outcome?.code).not.toBe('internal');
      if (outcome?.outcome === 'failed') expect(outcome.reason).toMatch(/\.$/);
      else expect(outcome?.outcome).toBe('fresh');
    },
  );
});
