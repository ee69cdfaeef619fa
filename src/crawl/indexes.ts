import type { ReleaseFile } from '../apt/release.ts';
import { type Indexes, listIndexes, type Snapshot } from '../snapshots/snapshot.ts';
import { type CrawlCode, CrawlError } from './crawl-error.ts';
import type { FoundRelease } from './fetch-release.ts';
import { type FoundIndex, fetchIndex, type KnownIndex, recheckIndex } from './index-file.ts';
import { type IndexPlace, listIndexFiles, ofEveryArchitecture } from './index-names.ts';
import type { Visit } from './visit.ts';

/** How many records a repository has in all of its indexes. */
export const countStanzas = (indexes: Indexes): number =>
  listIndexes(indexes).reduce((sum, { stanzas }) => sum + stanzas, 0);

/**
 * The location of `binary-all`, if its packages belong to the repository. As in apt (debReleaseIndex), they do if
 * Release lists that architecture or no architectures, and does not say with No-Support-for-Architecture-all that its
 * packages are repeated in the index of each; and, if Release lists hashes, one for that index.
 * https://wiki.debian.org/DebianRepository/Format#No-Support-for-Architecture-all
 */
const findPlaceOfAll = (place: IndexPlace, release: ReleaseFile): IndexPlace | undefined => {
  const { architectures, noSupportForAll, files } = release;
  const ofAll = ofEveryArchitecture(place);
  if (ofAll === undefined || noSupportForAll.includes('Packages')) return undefined;
  if (files.size === 0) return architectures.includes('all') ? ofAll : undefined;
  const isListed = listIndexFiles(ofAll).some((path) => files.has(path));
  return isListed && (architectures.length === 0 || architectures.includes('all')) ? ofAll : undefined;
};

const knownOfAll = (snapshot: Snapshot): KnownIndex | undefined =>
  snapshot.packagesOfAll === null ? undefined : { ...snapshot, packages: snapshot.packagesOfAll };

// What servers answer for a missing file.
const absences: ReadonlySet<CrawlCode> = new Set(['index-missing', 'index-forbidden', 'index-html', 'index-empty']);

const fetchOfAll = async (
  visit: Visit,
  release: FoundRelease,
  packages: FoundIndex,
  previous: Snapshot | undefined,
): Promise<FoundIndex | null> => {
  const place = findPlaceOfAll(visit.entry, release.content);
  if (place === undefined) return null;
  const before = previous && knownOfAll(previous);
  // If the compression is unknown, a single request has to do, because it is repeated at every visit.
  const isListed = release.content.files.size > 0;
  try {
    return await fetchIndex(visit, place, release, before, isListed ? undefined : packages.compression);
  } catch (error) {
    if (!isListed && error instanceof CrawlError && absences.has(error.code)) return null;
    throw error;
  }
};

/**
 * Fetches the indexes that belong to `release`, each as `fetchIndex` does. If Release lists no hashes, a missing index
 * for every architecture is no error. Throws `CrawlError` if one of them is not available.
 */
export const fetchIndexes = async (
  visit: Visit,
  release: FoundRelease,
  previous: Snapshot | undefined,
): Promise<Indexes> => {
  const packages = await fetchIndex(visit, visit.entry, release, previous);
  return { packages, packagesOfAll: await fetchOfAll(visit, release, packages, previous) };
};

/** Checks, as `recheckIndex` does, whether the origin still serves the indexes of `snapshot`. */
export const recheckIndexes = async (visit: Visit, release: FoundRelease, snapshot: Snapshot): Promise<void> => {
  await recheckIndex(visit, visit.entry, release, snapshot);
  const place = ofEveryArchitecture<IndexPlace>(visit.entry);
  const ofAll = knownOfAll(snapshot);
  if (place && ofAll) await recheckIndex(visit, place, release, ofAll);
};
