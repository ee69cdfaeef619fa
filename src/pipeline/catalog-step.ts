import { readPackageChanges } from '../catalog/changes.ts';
import type { CatalogDatabase } from '../catalog/database.ts';
import { type LastBuild, readLastBuild } from '../catalog/last-build.ts';
import { readFindings, readRepositoryFindings, readStatistics } from '../catalog/reading.ts';
import { isCatalogSound, isDamage } from '../catalog/soundness.ts';
import { CatalogBuild, catalogPath } from '../catalog/state-catalog.ts';
import { type CatalogUpdate, updateCatalog } from '../catalog/update.ts';
import type { CrawlOutcome } from '../crawl/crawl.ts';
import { CrawlError, sayFault } from '../crawl/crawl-error.ts';
import { listWaiting, type Waiting } from '../crawl/operator-word.ts';
import { isRefused } from '../snapshots/snapshot-files.ts';
import type { BuildInput, PreparedInput } from './build-input.ts';
import type { BuildResult } from './build-result.ts';
import { compareBuilds, composeLastBuild, renameFormerSlugs, type StillWaiting } from './outcomes.ts';

const rebuilt =
  'The catalog was damaged and was built anew from the snapshots; what was published before is compared with it.';

/**
 * Works with the catalog in force or, if that turns out to be damaged, with one that is built again. The crawl need not
 * be repeated.
 */
export const withSoundCatalog = async (
  { state, verify = false }: BuildInput,
  work: (catalog: CatalogBuild) => Promise<BuildResult>,
): Promise<BuildResult> => {
  const attempt = async (afresh: boolean) => {
    const catalog = new CatalogBuild(state, afresh);
    try {
      return await work(catalog);
    } catch (error) {
      catalog.discard();
      throw error;
    }
  };
  const sound = await isCatalogSound(state, catalogPath(state), verify);
  try {
    if (sound) return await attempt(false);
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  const result = await attempt(true);
  return { ...result, repairs: [rebuilt, ...result.repairs] };
};

/** A catalog that is up to date and not in force yet: what changed in it, and the result of the build so far. */
interface UpdatedCatalog {
  readonly update: CatalogUpdate;
  readonly result: BuildResult;
}

/** The second step: from snapshots to the catalog, which is not in force yet. Publishes nothing. */
export const bringUpToDate = async (
  input: PreparedInput,
  crawled: readonly CrawlOutcome[],
  catalog: CatalogBuild,
): Promise<UpdatedCatalog> => {
  const { entries, state, store, base, staticRefs, now, progress } = input;
  const update = await progress.step('catalog', () =>
    updateCatalog(catalog, entries, store, {
      base,
      staticRefs,
      now: now(),
      onRepository: (done, total) => progress.update(done, total, 'repositories'),
    }),
  );
  const outcomes = withLosses(withDamage(crawled, update.damaged), new Set(update.lost));
  const told = readLastBuild(state);
  const previous = told && renameFormerSlugs(told, entries);
  const slugs = entries.map(({ slug }) => slug);
  const { database, before } = catalog;
  // For visited repositories the outcome says so.
  const visited = new Set(crawled.map(({ slug }) => slug));
  const unreadable = update.damaged.flatMap(({ slug }) => (visited.has(slug) ? [] : slug));
  const failedByStore = new Set(outcomes.flatMap(({ slug, code }) => (code === 'store-failed' ? slug : [])));
  const waiting = await findAllWaiting(store, slugs, failedByStore, previous);
  const lastBuild = composeLastBuild({
    entries,
    visited: outcomes,
    waiting,
    found: readRepositoryFindings(database),
    previous,
    now: now(),
  });
  const ingested = new Set(update.ingested);
  const toldOf = new Set(previous?.repositories.map(({ slug }) => slug));
  const changesFrom = (former: CatalogDatabase) =>
    readPackageChanges(
      former,
      database,
      entries.filter(({ slug }) => ingested.has(slug)),
    );
  const packageChanges = before === undefined ? catalog.readFormer(changesFrom) : changesFrom(before);
  const result: BuildResult = {
    outcomes,
    lastBuild,
    newSlugs: slugs.filter((slug) => !toldOf.has(slug)),
    repositoryChanges: compareBuilds(previous, lastBuild),
    packageChanges: packageChanges ?? [],
    isUncompared: packageChanges === undefined,
    statistics: readStatistics(database, now()),
    stanzas: readFindings(database).stanzas,
    documents: { written: 0, unchanged: 0, removed: 0 },
    repairs: describeHistory(update.rebuilt, store.history.damaged),
    unreadable,
    site: undefined,
  };
  return { update, result };
};

/**
 * What waits for the operator in these repositories. In some it may not be readable, also where this build does not visit
 * them, which is no reason to end the build of all others. There, and where the store failed, it waits as before.
 */
const findAllWaiting = async (
  store: PreparedInput['store'],
  slugs: readonly string[],
  failedByStore: ReadonlySet<string>,
  previous: LastBuild | undefined,
): Promise<StillWaiting[]> => {
  const before = new Map(previous?.repositories.map(({ slug, heldBack }) => [slug, heldBack]));
  const waiting: StillWaiting[] = [];
  for (const slug of slugs) {
    const found = failedByStore.has(slug) ? undefined : await listReadable(store, slug);
    waiting.push(...(found ?? (before.get(slug) ?? []).map((one) => ({ ...one, slug }))));
  }
  return waiting;
};

const listReadable = async (store: PreparedInput['store'], slug: string): Promise<Waiting[] | undefined> => {
  try {
    return await listWaiting(store, [slug]);
  } catch (error) {
    if (isRefused(error)) return undefined;
    throw error;
  }
};

/** If a snapshot cannot be read any more, the repository keeps what the catalog has of it. */
const withDamage = (
  outcomes: readonly CrawlOutcome[],
  damaged: readonly { slug: string; cause: unknown }[],
): CrawlOutcome[] => {
  const bySlug = new Map(damaged.map((one) => [one.slug, one]));
  return outcomes.map((outcome) => {
    const damage = bySlug.get(outcome.slug);
    if (damage === undefined) return outcome;
    const { message: reason, detail } = new CrawlError('store-failed', sayFault(damage.cause));
    return { ...outcome, outcome: 'stale', code: 'store-failed', reason, detail };
  });
};

/** What was published of a repository stays published when its snapshot is lost: it is old, not absent. */
const withLosses = (outcomes: readonly CrawlOutcome[], lost: ReadonlySet<string>): CrawlOutcome[] =>
  outcomes.map((outcome) =>
    outcome.outcome === 'failed' && lost.has(outcome.slug) ? { ...outcome, outcome: 'stale' } : outcome,
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
