import { type LastBuild, readLastBuild, writeLastBuild } from '../catalog/last-build.ts';
import { readFolderSize } from '../catalog/ledger.ts';
import { LockedError, lockState } from '../catalog/lock.ts';
import { CatalogFile } from '../catalog/node-sqlite.ts';
import { isDamage } from '../catalog/soundness.ts';
import { type CatalogBuild, catalogPath } from '../catalog/state-catalog.ts';
import { packagesFolder } from '../contract/paths.ts';
import type { CrawlOutcome } from '../crawl/crawl.ts';
import { inWords } from '../log/error-chain.ts';
import { removeCopies } from '../publication/compressed-copies.ts';
import { readGeneration, readLastNumber } from '../publication/generation-in-force.ts';
import { mendSignature } from '../publication/generation-signature.ts';
import type { OutputFolder } from '../publication/output-folder.ts';
import { type TakenOutput, takeOutput } from '../publication/owner.ts';
import { keepPendingChanges } from '../publication/package-changes.ts';
import { readPackageNote } from '../publication/package-documents.ts';
import { type KnownFolder, readPublishedSize } from '../publication/size.ts';
import { Announcement } from '../publication/stamp.ts';
import { forgetRemovals, RemovalsHeld } from '../snapshots/removals.ts';
import type { BuildInput, PreparedInput } from './build-input.ts';
import type { BuildResult } from './build-result.ts';
import { bringUpToDate, withSoundCatalog } from './catalog-step.ts';
import { crawl, prepareCrawl } from './crawl-step.ts';
import { assertRoom } from './disk-room.ts';
import { writeDocuments } from './documents-step.ts';
import { type PublishedGeneration, tellOfGeneration } from './generation-step.ts';
import { composeLine, rememberBuild, rememberFailure, rememberRefusal } from './memory-step.ts';
import { tellOfBuild, tellOfFailure } from './notify-step.ts';
import { prepareRehearsal, removeRehearsal } from './rehearsal.ts';
import { PageBuilder, publishPages, type SiteSummary } from './site-step.ts';
import { composeShown, publishStatus, statusOf } from './status-step.ts';

// How long the snapshots of a repository are kept after its entry left the manifest.
const unusedMs = 30 * 86_400_000;

/**
 * Snapshots that were last used before this time are removed. It is measured from the previous build, because a clock
 * may be far ahead once.
 */
const unusedSince = (previous: LastBuild | undefined, now: Date): Date =>
  new Date(Math.min(now.getTime(), previous === undefined ? now.getTime() : Date.parse(previous.builtAt)) - unusedMs);

/**
 * A build failed after some of its files had been given their names: documents and catalog belong to it, or some of
 * them, while pages and the files about the generation may belong to the last one. `cause` is the failure.
 */
export class PartlyPublished extends Error {
  override name = 'PartlyPublished';
}

/**
 * Builds: crawls what the manifest names, updates the catalog, and publishes what changed. If not one repository has
 * ever been crawled, nothing is published and `statistics` is undefined; what was published stays.
 *
 * `assertUsableState` comes before it.
 *
 * @throws NoRoom and NoBundle before anything is requested, LockedError if another build uses the state or the output
 * folder, OutputTaken if the output folder belongs to another state folder, RemovalsHeld if the manifest has lost too
 * much, PartlyPublished
 */
export const runBuild = async (input: BuildInput): Promise<BuildResult> => {
  let unlock: () => void;
  try {
    assertRoom(input.dryRun === true ? [input.state] : [input.state, input.out], input.state);
    unlock = lockState(input.state);
  } catch (error) {
    if (input.dryRun !== true && !(error instanceof LockedError)) await rememberRefusal(input, error);
    throw error;
  }
  try {
    if (input.dryRun === true) return await rehearse(input);
    // A killed rehearsal leaves as much as everything that is kept.
    removeRehearsal(input.state);
    const taken = takeOutput(input.out, input.state, input.source);
    let builder: PageBuilder | undefined;
    try {
      if (input.site) builder = new PageBuilder(input.state);
      await mendSignature(taken.output, input.signer);
      const prepared = await prepareCrawl(input);
      const crawled = await crawl(prepared);
      const result = await withSoundCatalog(prepared, (catalog) =>
        publish(prepared, crawled, catalog, { ...taken, builder }),
      );
      rememberBuild(input, composeLine(result));
      await tellOfBuild(input, result);
      return result;
    } finally {
      builder?.end();
      taken.release();
    }
  } catch (error) {
    if (input.dryRun !== true && !(error instanceof LockedError)) {
      rememberFailure(input, error);
      await tellOfFailure(input, error);
    }
    throw error;
  } finally {
    unlock();
  }
};

const rehearse = async (input: BuildInput): Promise<BuildResult> => {
  const state = prepareRehearsal(input.state);
  try {
    const rehearsed = await prepareCrawl({ ...input, state });
    const crawled = await crawl(rehearsed);
    return await withSoundCatalog(rehearsed, async (catalog) => {
      const { result } = await bringUpToDate(rehearsed, crawled, catalog);
      catalog.discard();
      return result;
    });
  } catch (error) {
    throw error instanceof RemovalsHeld ? new RemovalsHeld(error.slugs) : error;
  } finally {
    removeRehearsal(input.state);
  }
};

/**
 * From what was crawled to what is published. First everything is prepared without names: the catalog, the documents
 * and the pages. Then each gets its name after everything that it names: new documents and pages, the catalog, changed
 * pages, the generation. Last, vanished files are removed.
 */
const publish = async (
  input: PreparedInput,
  crawled: readonly CrawlOutcome[],
  catalog: CatalogBuild,
  { output, claim, builder }: Pick<TakenOutput, 'output' | 'claim'> & { readonly builder: PageBuilder | undefined },
): Promise<BuildResult> => {
  const { entries, state, store, now, progress } = input;
  const { update, result } = await bringUpToDate(input, crawled, catalog);
  const { statistics, lastBuild } = result;
  if (statistics === undefined) {
    catalog.discard();
    return result;
  }
  const servers = new Announcement(state, now);
  claim();
  if (input.precompress === true) output.keepCopies();
  else removeCopies(output);
  // An interrupted build may have placed files that are as long as those that should be there.
  const verify = input.verify === true || servers.resumes;
  const folder = readPackageNote(output, { state, catalog, verify });
  // A first build has no readers to keep apart, and writing most of its files in place is faster.
  if (readGeneration(output) !== undefined) output.hold();
  let begun = false;
  let site: SiteSummary | undefined;
  let generation: PublishedGeneration | undefined;
  try {
    const sources = { catalog, update, statistics, lastBuild, folder };
    const { emission, assets } = await writeDocuments({ ...input, verify }, sources, output);
    await progress.step('publish', async () => {
      emission.forgetVanished();
      await catalog.seal();
    });
    const status = statusOf(input, result);
    const hasNews = catalog.changed || emission.count.written + assets.written > 0;
    const putInForce = (place: () => void) =>
      progress.step('publish', async () => {
        begun = true;
        const present = { last: readLastNumber(output, state), repositories: entries };
        keepPendingChanges(state, result.isUncompared === true ? undefined : result.packageChanges, present);
        place();
        await output.flush();
        await catalog.publish();
        const unused = unusedSince(readLastBuild(state), now());
        writeLastBuild(state, lastBuild);
        forgetRemovals(state);
        await store.removeUnused(new Set(entries.map(({ slug }) => slug)), unused);
        if (hasNews || servers.resumes) servers.tell();
      });
    const tell = async (pages?: ReadonlySet<string>) => {
      // Pages show when origins were last asked, so with them every build publishes something.
      publishStatus(input, output, { status, changed: hasNews || emission.hasVanished || pages !== undefined });
      const documents = [...emission.files(), ...assets.files];
      const { standing } = emission;
      generation = await tellOfGeneration(input, output, { documents, standing, pages, resumes: servers.resumes });
    };
    if (builder !== undefined) {
      site = await publishPages(input, composeShown(input, result, status), {
        builder,
        output,
        catalog: catalog.file,
        // Built pages are not flushed before they are published either.
        verify,
        putInForce,
        // While running servers notice the new files, vanished ones are searched for and the generation is written.
        whenStanding: () => servers.stand(),
        beforeRemoval: async (pages) => {
          await tell(pages);
          await servers.settle();
        },
      });
    } else await putInForce(() => output.release());
    // After this only the files about the generation are written; meanwhile running servers notice the rest.
    if (emission.hasVanished) servers.stand();
    if (generation === undefined) await tell(site?.files);
    // After the pages, which name documents.
    if (emission.hasVanished) {
      await progress.step('removal', async () => {
        await servers.settle();
        emission.removeVanished();
      });
    }
    const hasPages = site !== undefined && site.written + site.removed > 0;
    if (generation?.isNew === true || emission.count.removed > 0 || hasPages) servers.tell();
    emission.noteFolder();
    servers.end();
    return describePublished(
      input,
      output,
      { ...result, documents: emission.count, site, generation },
      emission.repaired,
    );
  } catch (cause) {
    if (output.isHolding) output.drop();
    // A damaged catalog is built again, and all of this is repeated.
    if (!begun || isDamage(cause)) throw cause;
    throw new PartlyPublished(inWords(cause), { cause });
  }
};

/** Adds what was repaired, and how much is published. */
const describePublished = (
  { state }: PreparedInput,
  output: OutputFolder,
  result: BuildResult,
  repaired: number,
): BuildResult => {
  const repairs = [...result.repairs, ...describeRepairs(repaired)];
  const told = result.generation?.generation;
  // Nobody else counts compressed copies, which are beside documents and pages.
  const known = () => (output.keepsCopies ? [] : [readPackagesSize(state), ...(result.site?.folders ?? [])]);
  const size = told && readPublishedSize(output, state, `${told.number} ${told.date}`, known);
  return { ...result, repairs, size };
};

/** The size of all packages' documents, which are most of all files. */
const readPackagesSize = (state: string): KnownFolder => {
  using database = CatalogFile.openReadOnly(catalogPath(state));
  return { folder: packagesFolder, ...readFolderSize(database, packagesFolder) };
};

const describeRepairs = (count: number): string[] =>
  count === 0
    ? []
    : count === 1
      ? ['1 document that did not stand there as it was written was written again.']
      : [`${count} documents that did not stand there as they were written were written again.`];
