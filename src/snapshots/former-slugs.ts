import { type ManifestEntry, slugKey } from '../contract/manifest.ts';
import type { RepositoryHistory } from './history.ts';
import { isRefused } from './snapshot-files.ts';
import type { SnapshotStore } from './store.ts';

// The file of one repository, which may not be read, is no reason to end the build of all others. Its own visit fails.
const readIfPossible = (store: SnapshotStore, slug: string): Promise<RepositoryHistory | undefined> =>
  store.history.read(slug).catch(() => undefined);

// Where that is refused, as where another user owns the history, only the visit of that repository fails.
const orWithhold = async (
  { history }: SnapshotStore,
  slug: string,
  transfer: () => Promise<unknown>,
): Promise<void> => {
  try {
    await transfer();
  } catch (error) {
    if (!isRefused(error)) throw error;
    history.withhold(slug, error);
  }
};

/**
 * Transfers everything that is stored under a slug which an entry names as a former one (`aliases`) to that entry,
 * before anything is requested, so that a renamed repository does not look new. Returns the entries with all slugs
 * under which they were ever published, including those that the manifest has dropped, unless another entry has them
 * now. A slug in other letter case cannot belong to another repository, so it counts as a former slug without being
 * named. `readKnown` returns the slugs under which each repository is published, by the `slugKey` of its present one; it
 * is asked where a history is lost or may not be read. A repository whose former history cannot be transferred has none
 * that can be read until it can (`withhold`). Nobody else may write to the store meanwhile.
 */
export const adoptFormerSlugs = async (
  store: SnapshotStore,
  entries: readonly ManifestEntry[],
  readKnown: () => ReadonlyMap<string, readonly string[]> = () => new Map(),
): Promise<ManifestEntry[]> => {
  const named = new Set(entries.flatMap(({ slug, aliases }) => [slug, ...aliases]));
  const owners = new Map(entries.flatMap(({ slug, aliases }) => [slug, ...aliases].map((one) => [slugKey(one), slug])));
  const otherwiseWritten = Map.groupBy(
    (await store.list()).filter((slug) => !named.has(slug)),
    slugKey,
  );
  const adopted: ManifestEntry[] = [];
  let known: ReturnType<typeof readKnown> | undefined;
  for (const entry of entries) {
    for (const alias of [...entry.aliases, ...(otherwiseWritten.get(slugKey(entry.slug)) ?? [])]) {
      await orWithhold(store, entry.slug, () => store.history.adopt(entry.slug, alias));
      await orWithhold(store, entry.slug, async () => {
        // After the history, which then records that there was a former slug.
        if (await store.adopt(entry.slug, alias)) await store.history.addFormerSlug(entry.slug, alias);
      });
    }
    const own = await readIfPossible(store, entry.slug);
    let former = own?.formerSlugs ?? [];
    // All that is published has a history.
    if (own === undefined || own.addedAt === null) {
      known ??= readKnown();
      const published = [entry.slug, ...entry.aliases].flatMap((slug) => known?.get(slugKey(slug)) ?? []);
      former = [...new Set([...former, ...published])].filter((slug) => slug !== entry.slug);
      await orWithhold(store, entry.slug, async () => {
        if (own !== undefined) for (const slug of former) await store.history.addFormerSlug(entry.slug, slug);
      });
    }
    const dropped = former.filter(
      (slug) => !named.has(slug) && (owners.get(slugKey(slug)) ?? entry.slug) === entry.slug,
    );
    for (const slug of dropped) owners.set(slugKey(slug), entry.slug);
    adopted.push(dropped.length === 0 ? entry : { ...entry, aliases: [...entry.aliases, ...dropped] });
  }
  return adopted;
};
