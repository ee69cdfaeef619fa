import { readLastBuild } from '../catalog/last-build.ts';
import { readRepositoryRows } from '../catalog/reading.ts';
import { CatalogBuild } from '../catalog/state-catalog.ts';
import { type ManifestEntry, slugKey } from '../contract/manifest.ts';
import { areRemovalsAccepted, holdRemovals } from '../snapshots/removals.ts';

// Fewer than that, or less than a tenth, is how manifests are kept up.
const fewest = 3;
const share = 10;

/**
 * Stops a build whose manifest has lost more than a tenth of the entries that the last build had, and at least three:
 * that is more often an accident than a wish, and all that they had published would be taken down. A slug that is a
 * former one of another entry is not lost.
 *
 * @throws RemovalsHeld until the operator has said that they may go
 */
export const assertNotDepleted = (state: string, entries: readonly ManifestEntry[]): void => {
  const known = readLastBuild(state)?.repositories.map(({ slug }) => slug) ?? readPublished(state);
  const kept = new Set(entries.flatMap(({ slug, aliases }) => [slug, ...aliases].map(slugKey)));
  const lost = known.filter((slug) => !kept.has(slugKey(slug)));
  if (lost.length < fewest || lost.length * share <= known.length) return;
  if (!areRemovalsAccepted(state, lost)) throw holdRemovals(state, lost);
};

// Where no outcome of a build is known, what is in the catalog was in the manifest.
const readPublished = (state: string): string[] => {
  const catalog = new CatalogBuild(state);
  try {
    return readRepositoryRows(catalog.database).map(({ slug }) => slug);
  } catch {
    // A damaged one is built anew, and says nothing.
    return [];
  } finally {
    catalog.discard();
  }
};
