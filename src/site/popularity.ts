import { type PackageCard, packageCard } from './package-card.ts';
import { byName } from './repository-view.ts';
import type { SiteCatalog } from './site-catalog.ts';

/** A package and how often it was downloaded in the last 30 days. */
export interface PopularPackage {
  readonly card: PackageCard;
  readonly lastMonth: number;
}

const shown = 100;

/** The most downloaded packages of the last 30 days; empty if nothing was counted. */
export const mostDownloaded = (catalog: SiteCatalog): PopularPackage[] =>
  [...catalog.downloads.values()]
    .flatMap(({ package_id: id, total, last_30_days: lastMonth }) => {
      const summary = catalog.packages.get(id);
      return summary === undefined || lastMonth === 0 ? [] : [{ summary, total, lastMonth }];
    })
    .sort((a, b) => b.lastMonth - a.lastMonth || b.total - a.total || byName(a.summary, b.summary))
    .slice(0, shown)
    .map(({ summary, lastMonth }) => ({ card: packageCard(summary), lastMonth }));
