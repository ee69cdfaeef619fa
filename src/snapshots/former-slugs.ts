import { type ManifestEntry, slugKey } from '../contract/manifest.ts';
import type { SnapshotStore } from './store.ts';

/**
 * Makes what is stored and known of a repository under a slug that its entry names as a former one (`aliases`) that of
 * the entry, before anything is asked for: a repository that was renamed is not seen for the first time. Returns the
 * entries with every slug under which they were ever published, those included that the manifest has dropped since,
 * unless another entry has them now. A slug in other letter case can be no other repository's, so that one is a former
 * slug without being named. Nobody else may write to the store meanwhile.
 */
export const adoptFormerSlugs = async (
  store: SnapshotStore,
  entries: readonly ManifestEntry[],
): Promise<ManifestEntry[]> => {
  const named = new Set(entries.flatMap(({ slug, aliases }) => [slug, ...aliases]));
  const owners = new Map(entries.flatMap(({ slug, aliases }) => [slug, ...aliases].map((one) => [slugKey(one), slug])));
  const otherwiseWritten = (await store.list()).filter((slug) => !named.has(slug) && owners.has(slugKey(slug)));
  const adopted: ManifestEntry[] = [];
  for (const entry of entries) {
    const rewritten = otherwiseWritten.filter((slug) => slugKey(slug) === slugKey(entry.slug));
    for (const alias of [...entry.aliases, ...rewritten]) {
      await store.history.adopt(entry.slug, alias);
      // After the history, which remembers by it that there was a former slug.
      if (await store.adopt(entry.slug, alias)) await store.history.addFormerSlug(entry.slug, alias);
    }
    const { formerSlugs } = await store.history.read(entry.slug);
    const dropped = formerSlugs.filter(
      (slug) => !named.has(slug) && (owners.get(slugKey(slug)) ?? entry.slug) === entry.slug,
    );
    for (const slug of dropped) owners.set(slugKey(slug), entry.slug);
    adopted.push(dropped.length === 0 ? entry : { ...entry, aliases: [...entry.aliases, ...dropped] });
  }
  return adopted;
};
