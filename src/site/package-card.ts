import type { PackageSummary } from './package-summary.ts';
import { joinStatements } from './stated.ts';

/** What a card in a list shows of a package. */
export type PackageCard = Pick<
  PackageSummary,
  'id' | 'name' | 'summary' | 'version' | 'icon' | 'paid' | 'architectures'
> & {
  readonly place: string;
  /** What its builds state of devices with iOS, as a row carries it. */
  readonly runs: string;
};

/**
 * The card of a package; in the list of one repository with the version and the builds that it has. In other lists it is
 * marked with the builds of all of them, though it names the best one: what is said there of the visitor's device, and what
 * a search is narrowed by, is of the package too, and where a build is to be had its page says.
 */
export const packageCard = (summary: PackageSummary, slug?: string): PackageCard => ({
  id: summary.id,
  name: summary.name,
  summary: summary.summary,
  version: (slug === undefined ? undefined : summary.versions.get(slug)) ?? summary.version,
  icon: summary.icon,
  paid: summary.paid,
  architectures: (slug === undefined ? undefined : summary.builtFor.get(slug)) ?? summary.architectures,
  place: summary.repository.name,
  runs: slug === undefined ? joinStatements(summary.stated.values()) : (summary.stated.get(slug) ?? ''),
});
