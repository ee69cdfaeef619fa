import type { ManifestEntry } from '../contract/manifest.ts';
import type { SnapshotStore } from './store.ts';

/**
 * Makes what is stored and known of a repository under a slug that its entry names as a former one (`aliases`) that of
 * the entry, before anything is asked for: a repository that was renamed is not seen for the first time. Returns the
 * entries with every slug under which they were ever published, those included that the manifest has dropped since,
 * unless another entry has them now. Nobody else may write to the store meanwhile.
 */
export const adoptFormerSlugs = async (
  store: SnapshotStore,
  entries: readonly ManifestEntry[],
): Promise<ManifestEntry[]> => {
  const taken = new Set(entries.flatMap(({ slug, aliases }) => [slug, ...aliases]));
  const adopted: ManifestEntry[] = [];
  for (const entry of entries) {
    for (const alias of entry.aliases) {
      await store.history.adopt(entry.slug, alias);
      // After the history, which remembers by it that there was a former slug.
      if (await store.adopt(entry.slug, alias)) await store.history.addFormerSlug(entry.slug, alias);
    }
    const { formerSlugs } = await store.history.read(entry.slug);
    const dropped = formerSlugs.filter((slug) => !taken.has(slug));
    for (const slug of dropped) taken.add(slug);
    adopted.push(dropped.length === 0 ? entry : { ...entry, aliases: [...entry.aliases, ...dropped] });
  }
  return adopted;
};
