import type { Trouble } from '../results/row.ts';
import { faceIn, offeredBuilds, type PackageSummary } from './package-summary.ts';
import { troubleOf } from './repository.ts';

/** The content of a package's card in a list. */
export type PackageCard = Pick<
  PackageSummary,
  'id' | 'name' | 'summary' | 'version' | 'icon' | 'paid' | 'architectures'
> & {
  readonly place: string;
  /** What its builds state about iOS devices, in the form that rows contain. */
  readonly runs: string;
  readonly trouble: Trouble | undefined;
};

/** The builds of a package, in the list of one repository those that it has there. */
export const buildsIn = (
  summary: PackageSummary,
  slug: string | undefined,
): Pick<PackageCard, 'architectures' | 'runs'> =>
  slug === undefined
    ? offeredBuilds(summary)
    : { architectures: summary.builtFor.get(slug) ?? summary.architectures, runs: summary.stated.get(slug) ?? '' };

/**
 * The card of a package; in the list of one repository as that has it. In other lists it shows the builds of all safe
 * repositories, although it names the best one: verdicts and filters are about the whole package there, and its page says
 * where to get a build.
 */
export const packageCard = (summary: PackageSummary, slug?: string): PackageCard => {
  const { name, summary: line, icon, paid } = faceIn(summary, slug);
  return {
    ...buildsIn(summary, slug),
    id: summary.id,
    name,
    summary: line,
    version: (slug === undefined ? undefined : summary.versions.get(slug)) ?? summary.version,
    icon,
    paid,
    place: summary.repository.toldName,
    trouble: slug === undefined ? troubleOf(summary.repository) : undefined,
  };
};
