import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { type VanishedPackage, vanishedShown } from '../catalog/last-build.ts';
import { changesFolder, type PackageChange } from '../contract/generation.ts';

/** How many of the newest change lists are read, and how long each may be in bytes. */
const lists = 100;
const longestList = 4_000_000;

const readPackages = (file: string): readonly PackageChange[] => {
  try {
    if (statSync(file).size > longestList) return [];
    const { packages } = JSON.parse(readFileSync(file, 'utf8')) as { packages?: readonly PackageChange[] };
    return packages ?? [];
  } catch {
    return [];
  }
};

const listChanges = (folder: string): string[] => {
  try {
    return readdirSync(folder)
      .filter((name) => /^\d+\.json$/.test(name))
      .sort((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10))
      .slice(0, lists);
  } catch {
    return [];
  }
};

/**
 * What vanished from repositories in the generations described by change lists below this output folder, and in the
 * next one, by slug, the latest first, and without what a later one added again; for each repository at most one more
 * than is shown, so that its page can say that there are more. The caller has to check with the catalog whether something
 * came back without a list. A list that cannot be read is ignored.
 */
export const readVanished = (
  out: string,
  pending: readonly PackageChange[],
): Record<string, readonly VanishedPackage[]> => {
  const vanished = new Map<string, Map<string, VanishedPackage>>();
  // What came back would take the places of what did not.
  const added = new Set<string>();
  const note = (changes: readonly PackageChange[]) => {
    for (const { change, repository, package_id: id, previous_version: version } of changes) {
      if (change === 'added') added.add(`${repository} ${id}`);
      if (change !== 'removed' || added.has(`${repository} ${id}`)) continue;
      const known = vanished.get(repository) ?? new Map<string, VanishedPackage>();
      vanished.set(repository, known);
      if (known.size <= vanishedShown && !known.has(id)) known.set(id, { id, version });
    }
  };
  note(pending);
  const folder = path.join(out, changesFolder);
  for (const name of listChanges(folder)) note(readPackages(path.join(folder, name)));
  return Object.fromEntries([...vanished].map(([slug, packages]) => [slug, [...packages.values()]]));
};
