import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { readBuildDigest } from '../src/catalog/build-digest.ts';
import { type PackageChange, readPackageChanges } from '../src/catalog/changes.ts';
import { CatalogBuild, catalogPath } from '../src/catalog/generation.ts';
import { type LastBuild, readLastBuild, writeLastBuild } from '../src/catalog/last-build.ts';
import { lockState } from '../src/catalog/lock.ts';
import { readFindings, readRepositoryFindings, readStatistics } from '../src/catalog/reading.ts';
import { isCatalogSound, isDamage } from '../src/catalog/soundness.ts';
import { indexForSearch, updateCatalog } from '../src/catalog/update.ts';
import type { ManifestEntry } from '../src/contract/manifest.ts';
import { createOpenApi, type Examples } from '../src/contract/openapi.ts';
import { documentPath } from '../src/contract/paths.ts';
import { composePolicyText } from '../src/contract/privacy-policy.ts';
import type { LandingRecord } from '../src/contract/records.ts';
import type { Service } from '../src/contract/service-file.ts';
import { forgetBackOff } from '../src/crawl/back-off.ts';
import { type CrawlOutcome, crawlAll } from '../src/crawl/crawl.ts';
import { CrawlError } from '../src/crawl/crawl-error.ts';
import { listWaiting } from '../src/crawl/operator-word.ts';
import type { Fetcher } from '../src/net/fetcher.ts';
import { compareBuilds, composeFailures, composeLastBuild, type RepositoryChanges } from '../src/pipeline/outcomes.ts';
import { assertNotDepleted } from '../src/pipeline/planned-removals.ts';
import type { Progress } from '../src/pipeline/progress.ts';
import { prepareRehearsal, removeRehearsal } from '../src/pipeline/rehearsal.ts';
import { publishAssets } from '../src/publication/assets.ts';
import { Emission, type EmissionCount } from '../src/publication/emission.ts';
import { type Owner, readPublishedSource, takeOutput } from '../src/publication/owner.ts';
import { beginPublishing, endPublishing, writeStamp } from '../src/publication/stamp.ts';
import { buildSite, type SiteSummary } from '../src/site/build-site.ts';
import { adoptFormerSlugs } from '../src/snapshots/former-slugs.ts';
import { forgetRemovals } from '../src/snapshots/removals.ts';
import { openStore, type SnapshotStore } from '../src/snapshots/store.ts';
import { collectExamples } from './examples/collect.ts';

/** What a build needs. */
export interface BuildInput {
  readonly entries: readonly ManifestEntry[];
  readonly fetcher: Fetcher;
  /** What the entries come from. */
  readonly source: Owner['source'];
  /** Folders of state and output. */
  readonly state: string;
  readonly out: string;
  /** Public address without trailing slash. */
  readonly base: string;
  readonly service: Service;
  readonly version: string;
  readonly now: () => Date;
  readonly progress: Progress;
  /** Whether to build the pages too. */
  readonly site: boolean;
  /** The repositories to visit; all of them unless told otherwise. */
  readonly only?: ReadonlySet<string> | undefined;
  /** Repositories that are visited though they are to be left alone for a while. */
  readonly retryNow?: readonly string[];
  /** Repositories at once. */
  readonly concurrency?: number;
  /** Ends the crawl early; what was crawled by then is published. */
  readonly stop?: AbortSignal;
  /** Whether to keep and publish nothing. */
  readonly dryRun?: boolean;
  /** Whether to read all that was published and kept, and write again what is not as it was written. */
  readonly verify?: boolean;
}

/** What a build did; see `describeBuild` for how it is told. */
export interface BuildResult {
  /** Of the repositories that were visited. */
  readonly outcomes: readonly CrawlOutcome[];
  /** Of every repository of the manifest. */
  readonly lastBuild: LastBuild;
  readonly repositoryChanges: RepositoryChanges;
  readonly packageChanges: readonly PackageChange[];
  /** What was found damaged or lost and made good, as sentences. */
  readonly repairs: readonly string[];
  readonly statistics: LandingRecord['statistics'] | undefined;
  readonly stanzas: number;
  readonly documents: EmissionCount;
  /** What became of the pages; undefined where they were left out. */
  readonly site: SiteSummary | undefined;
}

const noDocuments: EmissionCount = { written: 0, unchanged: 0, removed: 0 };
// Twice as long as a server takes to notice a new stamp (functions/node/server.ts).
const readersMs = 500;

// How long the snapshots of a repository outlive its entry in the manifest.
const unusedMs = 30 * 86_400_000;

const changesFile = path.join(import.meta.dirname, '..', 'CHANGELOG.md');
const assetsFolder = path.join(import.meta.dirname, '..', 'src', 'public');

/**
 * Builds: crawls what the manifest names, brings the catalog up to date, and publishes what changed. Where not one
 * repository has ever been crawled nothing is published and `statistics` is undefined: what stood before still stands.
 *
 * @throws LockedError where another build uses the state or the output folder, OutputError where the output folder
 * cannot be used or belongs to another state folder, RemovalsHeld where the manifest has lost too much
 */
export const runBuild = async (input: BuildInput): Promise<BuildResult> => {
  const unlock = lockState(input.state);
  try {
    if (input.dryRun === true) return await rehearse(input);
    const output = takeOutput(input.out, input.state, input.source);
    try {
      const { claim } = output;
      const prepared = await prepare(input);
      return await withSoundCatalog(prepared, await crawl(prepared), (crawled, catalog) =>
        publish(prepared, crawled, catalog, claim),
      );
    } finally {
      output.release();
    }
  } finally {
    unlock();
  }
};

/** A build that knows which repositories it is of, whatever they were called before. */
interface PreparedInput extends BuildInput {
  readonly store: SnapshotStore;
}

const prepare = async (input: BuildInput): Promise<PreparedInput> => {
  const { state, out, entries } = input;
  // A manifest takes the place of the sample as a whole.
  if (readPublishedSource(out) !== 'sample') assertNotDepleted(state, entries);
  const store = openStore(state);
  return { ...input, store, entries: await adoptFormerSlugs(store, entries) };
};

const rehearse = async (input: BuildInput): Promise<BuildResult> => {
  const state = prepareRehearsal(input.state);
  try {
    const rehearsed = await prepare({ ...input, state });
    return await withSoundCatalog(rehearsed, await crawl(rehearsed), async (crawled, catalog) => {
      const { result } = await bringUpToDate(rehearsed, crawled, catalog);
      catalog.discard();
      return result;
    });
  } finally {
    removeRehearsal(input.state);
  }
};

const rebuilt =
  'The catalog was damaged and was built anew from the snapshots; what was published before is compared with it.';

/**
 * Works with the catalog in force or, where that turns out to be damaged, with one that is built anew: the crawl does
 * not have to be repeated for it.
 */
const withSoundCatalog = async (
  { state, verify = false }: BuildInput,
  crawled: readonly CrawlOutcome[],
  work: (crawled: readonly CrawlOutcome[], catalog: CatalogBuild) => Promise<BuildResult>,
): Promise<BuildResult> => {
  const attempt = async (afresh: boolean) => {
    const catalog = new CatalogBuild(state, afresh);
    try {
      return await work(crawled, catalog);
    } catch (error) {
      catalog.discard();
      throw error;
    }
  };
  const sound = isCatalogSound(state, catalogPath(state), verify);
  try {
    if (sound) return await attempt(false);
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  const result = await attempt(true);
  return { ...result, repairs: [rebuilt, ...result.repairs] };
};

const describeRepairs = (count: number): string =>
  `${count} documents that did not stand there as they were written were written again.`;

const crawl = async (input: PreparedInput): Promise<CrawlOutcome[]> => {
  const { entries, fetcher, store, now, progress, only } = input;
  await forgetBackOff(store, input.retryNow ?? []);
  return progress.step('crawl', () =>
    crawlAll(only === undefined ? entries : entries.filter(({ slug }) => only.has(slug)), {
      store,
      fetcher,
      now,
      stop: input.stop,
      ...(input.concurrency === undefined ? {} : { concurrency: input.concurrency }),
      onOutcome: (_, done, total) => progress.update(done, total, 'repositories'),
    }),
  );
};

/** Brings the catalog up to date with what was crawled; publishes nothing. */
const bringUpToDate = async (input: PreparedInput, crawled: readonly CrawlOutcome[], catalog: CatalogBuild) => {
  const { entries, state, store, base, now, progress } = input;
  const update = await progress.step('catalog', () =>
    updateCatalog(catalog, entries, store, {
      base,
      now: now(),
      onRepository: (done, total) => progress.update(done, total, 'repositories'),
    }),
  );
  const outcomes = withLosses(withDamage(crawled, update.damaged), update.lost);
  const previous = readLastBuild(state);
  const slugs = entries.map(({ slug }) => slug);
  const { database, before } = catalog;
  const lastBuild = composeLastBuild({
    entries,
    visited: outcomes,
    waiting: await listWaiting(store, slugs),
    found: readRepositoryFindings(database),
    previous,
    now: now(),
  });
  const result: BuildResult = {
    outcomes,
    lastBuild,
    repositoryChanges: compareBuilds(previous, lastBuild),
    packageChanges: before === undefined ? [] : readPackageChanges(before, database, update.ingested),
    statistics: readStatistics(database),
    stanzas: readFindings(database).stanzas,
    documents: noDocuments,
    repairs: describeHistory(update.rebuilt, store.history.damaged),
    site: undefined,
  };
  return { update, result };
};

const publish = async (
  input: PreparedInput,
  crawled: readonly CrawlOutcome[],
  catalog: CatalogBuild,
  claimOutput: () => void,
): Promise<BuildResult> => {
  const { entries, state, store, out, base, now, progress } = input;
  const { update, result } = await bringUpToDate(input, crawled, catalog);
  const { statistics, lastBuild } = result;
  if (statistics === undefined) {
    catalog.discard();
    return result;
  }
  const interrupted = beginPublishing(state);
  claimOutput();
  const failures = composeFailures(lastBuild);
  const landing = composeLanding(input, statistics, readBuildDigest(catalog.database));
  // The descriptions show what is found, so they wait for what finds it.
  let indexed: Promise<void> | undefined;
  const index = () => (indexed ??= indexForSearch(catalog, update.ingested));
  const describe = async () => {
    await index();
    const examples = await collectExamples({ database: catalog.database, base, landing, failures });
    return composeDescriptions(input, examples);
  };
  const emission = new Emission(catalog, {
    out,
    now: now(),
    touched: update.touched,
    ingested: update.ingested,
    failures,
    landing,
    texts: describe,
    verify: input.verify === true,
    onDocument: (done, total) => progress.update(done, total, 'documents'),
  });
  const assets = await progress.step('documents', async () => {
    // Before the documents, which name them.
    const count = publishAssets(out, assetsFolder);
    await Promise.all([emission.write(), index()]);
    return count;
  });
  await progress.step('publish', async () => {
    await emission.flush();
    emission.forgetVanished();
    catalog.publish();
    writeLastBuild(state, lastBuild);
    forgetRemovals(state);
    await store.removeUnused(new Set(entries.map(({ slug }) => slug)), new Date(now().getTime() - unusedMs));
  });
  if (catalog.changed || emission.count.written + assets > 0 || interrupted) writeStamp(state, now());
  // Servers answer from the catalog and the pages before until they notice the new ones; those name what goes now.
  let settled: Promise<void> | undefined;
  const settle = () => {
    if (settled === undefined) {
      writeStamp(state, now());
      settled = sleep(readersMs);
    }
    return settled;
  };
  let site: SiteSummary | undefined;
  try {
    if (input.site) site = await progress.step('site', () => publishSite(input, lastBuild, settle));
  } finally {
    // After the pages, which name documents; and though they fail, because what is gone is not to be answered.
    if (emission.hasVanished) await progress.step('removal', () => settle().then(() => emission.removeVanished()));
  }
  if (emission.count.removed > 0 || (site !== undefined && site.written + site.removed > 0)) writeStamp(state, now());
  endPublishing(state);
  const repairs = [...result.repairs, ...(emission.repaired === 0 ? [] : [describeRepairs(emission.repaired)])];
  return { ...result, repairs, documents: emission.count, site };
};

/** A snapshot that cannot be read any more leaves the repository with what the catalog holds of it. */
const withDamage = (
  outcomes: readonly CrawlOutcome[],
  damaged: readonly { slug: string; cause: unknown }[],
): CrawlOutcome[] =>
  outcomes.map((outcome) => {
    const damage = damaged.find(({ slug }) => slug === outcome.slug);
    if (damage === undefined) return outcome;
    const { message: reason, detail } = new CrawlError('store-failed', String(damage.cause));
    return { ...outcome, outcome: 'stale', code: 'store-failed', reason, detail };
  });

/** What was published of a repository stays published though its snapshot is lost: it is old, not absent. */
const withLosses = (outcomes: readonly CrawlOutcome[], lost: readonly string[]): CrawlOutcome[] =>
  outcomes.map((outcome) =>
    outcome.outcome === 'failed' && lost.includes(outcome.slug) ? { ...outcome, outcome: 'stale' } : outcome,
  );

const mostNames = 5;

const describeHistory = (rebuilt: readonly string[], damaged: readonly string[]): string[] => {
  const names = rebuilt.slice(0, mostNames).join(', ') + (rebuilt.length > mostNames ? ', …' : '');
  return [
    ...damaged.map((file) => `${file} could not be read and was written anew: check the disk.`),
    ...(rebuilt.length === 0
      ? []
      : [`What was known of the time before (history) was missing for ${names}; it is now what the catalog knew.`]),
  ];
};

const publishSite = (
  { state, out, base, service, progress, verify = false }: BuildInput,
  lastBuild: LastBuild,
  beforeRemoval: () => Promise<void>,
): Promise<SiteSummary> =>
  buildSite({
    catalogPath: path.resolve(catalogPath(state)),
    lastBuild,
    outDir: path.resolve(out),
    cacheDir: path.resolve(state, 'site'),
    baseUrl: base,
    verify,
    policyUpdated: service.privacy_updated,
    onProgress: (step, done, total) => progress.update(done, total, step === 'pages' ? 'pages' : 'search records'),
    beforeRemoval,
  });

const composeLanding = (
  { base, service, version, site }: BuildInput,
  statistics: LandingRecord['statistics'],
  build: string,
): LandingRecord => ({
  info: { name: service.name, version, build, platform: 'static', runtime: 'Node.js' },
  reference: {
    docs: site ? `${base}/api/` : `${base}/v2/openapi.json`,
    changes: site ? `${base}/changes/` : `${base}/changes.txt`,
    privacy_policy: site ? `${base}/privacy/` : `${base}/privacy.txt`,
    privacy_updated: service.privacy_updated,
    contact_email: service.contact_email,
    copyright: service.copyright,
  },
  statistics,
});

const composeDescriptions = (
  { base, version, site, service }: BuildInput,
  examples: Examples | undefined,
): Map<string, string> => {
  const description = createOpenApi({ publicAddress: base, version, examples, site });
  return new Map([
    [documentPath.openapiJson, JSON.stringify(description)],
    [documentPath.openapiYaml, composeYaml(description)],
    ['changes.txt', readFileSync(changesFile, 'utf8')],
    ['privacy.txt', composePolicyText(service.privacy_updated)],
  ]);
};

// Many readers still read YAML 1.1, where a bare date, "yes" or 12:30 is no text: such texts are quoted for them.
const composeYaml = (description: unknown): string =>
  stringify(description, { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
