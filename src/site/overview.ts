import { type SectionKind, sectionKinds } from '../contract/sections.ts';
import type { PackageSummary, SiteCatalog } from './catalog.ts';
import { byName } from './repository.ts';

/** Figures of the whole index. */
export interface Figures {
  readonly repositories: number;
  readonly packages: number;
  readonly versions: number;
  /** When the origins were last asked; when one last changed where no build is on record. ISO 8601. */
  readonly checkedAt: string | undefined;
  readonly changedAt: string | undefined;
}

const latest = (times: Iterable<string | undefined>): string | undefined => {
  let newest: string | undefined;
  for (const time of times) if (time !== undefined && (newest === undefined || time > newest)) newest = time;
  return newest;
};

export const computeFigures = (catalog: SiteCatalog): Figures => {
  const changedAt = latest(catalog.repositories.map((repository) => repository.changedAt));
  return {
    repositories: catalog.repositories.length,
    packages: catalog.packages.size,
    versions: catalog.versionCount,
    checkedAt: catalog.lastBuild?.builtAt ?? changedAt,
    changedAt,
  };
};

const newestFirst = (a: PackageSummary, b: PackageSummary): number => {
  if (a.updatedAt !== b.updatedAt) return a.updatedAt > b.updatedAt ? -1 : 1;
  return a.repository.record.quality - b.repository.record.quality || byName(a, b);
};

/**
 * The packages that changed last, the newest first. `perRepository` bounds how many one repository may take, so that a
 * repository that appears with hundreds does not hide the others.
 */
export const recentPackages = (
  packages: Iterable<PackageSummary>,
  length: number,
  perRepository = Number.POSITIVE_INFINITY,
): PackageSummary[] => {
  const taken = new Map<string, number>();
  const recent: PackageSummary[] = [];
  for (const summary of [...packages].sort(newestFirst)) {
    const count = taken.get(summary.repository.slug) ?? 0;
    if (count >= perRepository) continue;
    taken.set(summary.repository.slug, count + 1);
    recent.push(summary);
    if (recent.length === length) break;
  }
  return recent;
};

/** Packages of each kind of section, in order of names; kinds without any are left out. */
export const packagesByKind = (catalog: SiteCatalog): Map<SectionKind, PackageSummary[]> => {
  const lists = new Map<SectionKind, PackageSummary[]>(sectionKinds.map((kind) => [kind, []]));
  for (const summary of catalog.packages.values()) lists.get(summary.kind)?.push(summary);
  for (const [kind, list] of lists) {
    if (list.length === 0) lists.delete(kind);
    else list.sort(byName);
  }
  return lists;
};

const titles: Partial<Record<SectionKind, string>> = { 'control-center': 'Control Center', addons: 'Add-ons' };

/** A section kind in words. */
export const sectionTitle = (kind: SectionKind): string =>
  titles[kind] ?? `${kind[0]?.toUpperCase() ?? ''}${kind.slice(1)}`;

const rankingNames = ['', 'Essential', 'Trusted', 'Community', 'Personal', 'Unproven'] as const;

/** A ranking (1 to 5) in a word. */
export const rankingName = (quality: number): string => rankingNames[quality] ?? `Ranking ${quality}`;
