import { compareVersions } from '../apt/version.ts';
import type { PackageChange } from '../contract/generation.ts';
import type { CatalogDatabase } from './database.ts';
import { compareText } from './reading.ts';

/**
 * The newest version of each package of a repository, for any architecture; undefined if the catalog has no such
 * repository. One without packages is there too.
 */
const readNewest = (database: CatalogDatabase, slug: string): Map<string, string> | undefined => {
  if (database.prepare('SELECT 1 FROM repository WHERE slug = ?').get(slug) === undefined) return undefined;
  const rows = database.prepare<[name: string, version: string]>(
    `SELECT record.package, record.version FROM repository JOIN record ON record.repository = repository.id
     WHERE repository.slug = ? AND record.latest = 1`,
  );
  const newest = new Map<string, string>();
  for (const [name, version] of rows.iterate(slug)) {
    const known = newest.get(name);
    if (known === undefined || compareVersions(version, known) > 0) newest.set(name, version);
  }
  return newest;
};

const compareNewest = (before: string | undefined, now: string | undefined): PackageChange['change'] | undefined => {
  if (now === undefined) return 'removed';
  if (before === undefined) return 'added';
  return before === now ? undefined : 'updated';
};

/**
 * What changed in these repositories from one catalog (of this or an earlier version) to the next, by identifier. A
 * repository that is new, under all of its slugs, or gone has no changes: all of it came or went. One that stands and
 * has no packages, now or before, is neither.
 */
export const readPackageChanges = (
  before: CatalogDatabase,
  now: CatalogDatabase,
  repositories: readonly { readonly slug: string; readonly aliases: readonly string[] }[],
): PackageChange[] => {
  const changes: PackageChange[] = [];
  for (const { slug, aliases } of repositories) {
    const known = [slug, ...aliases].flatMap((one) => readNewest(before, one) ?? []);
    const then = known.find(({ size }) => size > 0) ?? known[0];
    const today = readNewest(now, slug);
    if (then === undefined || today === undefined) continue;
    for (const name of new Set([...then.keys(), ...today.keys()])) {
      const [previous, version] = [then.get(name), today.get(name)];
      const change = compareNewest(previous, version);
      if (change === undefined) continue;
      changes.push({
        package_id: name,
        repository: slug,
        change,
        version: version ?? null,
        previous_version: previous ?? null,
      });
    }
  }
  return changes.sort((a, b) => compareText(a.package_id, b.package_id) || compareText(a.repository, b.repository));
};
