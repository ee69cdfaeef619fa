import type { ReleaseFile } from '../apt/release.ts';
import { type Indexes, listIndexes, type Snapshot } from '../snapshots/snapshot.ts';
import { type CrawlCode, CrawlError } from './crawl-error.ts';
import type { FoundRelease } from './fetch-release.ts';
import { type FoundIndex, fetchIndex, type KnownIndex, recheckIndex } from './index-file.ts';
import { type IndexPlace, listIndexFiles, ofEveryArchitecture } from './index-names.ts';
import type { Visit } from './visit.ts';

/** The records of a repository in all. */
export const countStanzas = (indexes: Indexes): number =>
  listIndexes(indexes).reduce((sum, { stanzas }) => sum + stanzas, 0);

/**
 * The place of `binary-all`, where its packages belong to the repository: as in apt (debReleaseIndex), where Release lists
 * that architecture or none, and does not say by No-Support-for-Architecture-all that its packages are repeated in the
 * index of each; and, where Release lists hashes, one for that index.
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

// Servers answer so for what is not there.
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
  // Where nothing says in which compression it is, one question has to do: it is asked at every visit.
  const isListed = release.content.files.size > 0;
  try {
    return await fetchIndex(visit, place, release, before, isListed ? undefined : packages.compression);
  } catch (error) {
    if (!isListed && error instanceof CrawlError && absences.has(error.code)) return null;
    throw error;
  }
};

/**
 * Fetches the indexes that belong to `release`, each as `fetchIndex` does. Without hashes in Release an index for every
 * architecture that is not there is none. Throws `CrawlError` where one of them cannot be had.
 */
export const fetchIndexes = async (
  visit: Visit,
  release: FoundRelease,
  previous: Snapshot | undefined,
): Promise<Indexes> => {
  const packages = await fetchIndex(visit, visit.entry, release, previous);
  return { packages, packagesOfAll: await fetchOfAll(visit, release, packages, previous) };
};

/** Looks, as `recheckIndex` does, whether the origin would give out the indexes of `snapshot` still. */
export const recheckIndexes = async (visit: Visit, release: FoundRelease, snapshot: Snapshot): Promise<void> => {
  await recheckIndex(visit, visit.entry, release, snapshot);
  const place = ofEveryArchitecture<IndexPlace>(visit.entry);
  const ofAll = knownOfAll(snapshot);
  if (place && ofAll) await recheckIndex(visit, place, release, ofAll);
};
