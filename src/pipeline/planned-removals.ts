import { readLastBuild } from '../catalog/last-build.ts';
import { readRepositoryRows } from '../catalog/reading.ts';
import { CatalogBuild } from '../catalog/state-catalog.ts';
import { type ManifestEntry, slugKey } from '../contract/manifest.ts';
import { areRemovalsAccepted, holdRemovals } from '../snapshots/removals.ts';

// Removing fewer entries than this, or less than a tenth, is ordinary maintenance.
const fewest = 3;
const share = 10;

/**
 * Stops a build whose manifest lacks more than a tenth of the last build's entries, and at least three. That is more
 * often an accident than intended, and everything that they published would be removed. A former slug of another entry
 * is not missing.
 *
 * @throws RemovalsHeld until the operator accepts the removals
 */
export const assertNotDepleted = (state: string, entries: readonly ManifestEntry[]): void => {
  const known = readLastBuild(state)?.repositories.map(({ slug }) => slug) ?? readPublished(state);
  const kept = new Set(entries.flatMap(({ slug, aliases }) => [slug, ...aliases].map(slugKey)));
  const lost = known.filter((slug) => !kept.has(slugKey(slug)));
  if (lost.length < fewest || lost.length * share <= known.length) return;
  if (!areRemovalsAccepted(state, lost)) throw holdRemovals(state, lost);
};

// If no outcomes are known, everything in the catalog was in the manifest.
const readPublished = (state: string): string[] => {
  const catalog = new CatalogBuild(state);
  try {
    return readRepositoryRows(catalog.database).map(({ slug }) => slug);
  } catch {
    // A damaged catalog is built again, and says nothing.
    return [];
  } finally {
    catalog.discard();
  }
};
