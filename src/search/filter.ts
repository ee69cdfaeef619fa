import { excludedByTerms, facetTerm, unreleasedTerm } from '../catalog/facets.ts';
import { parseVersion } from '../compatibility/ios-versions.ts';
import type { PackageFilter } from '../contract/parameters.ts';

const inFacets = (terms: readonly string[]): string => `{facet} : (${terms.map((term) => `"${term}"`).join(' OR ')})`;

/** Matches nothing, because no facet term is ASCII. */
const none = inFacets(['none']);

/** What a filter needs to know of a catalog. */
interface Known {
  /** The slug of the repository that has this slug now, or had it before. */
  readonly slugOf: (slug: string) => string | undefined;
  /** The slugs of the repositories that the last build could not read. */
  readonly stale: readonly string[];
  /** Whether an expression matches anything. */
  readonly isKnown: (expression: string) => boolean;
}

/** The condition to append to an FTS5 expression for a filter; undefined if the filter is empty. */
export const filterExpression = (
  { architecture, firmware, section, repository, price, kind, state }: PackageFilter,
  { slugOf, stale, isKnown }: Known,
): string | undefined => {
  const parts: string[] = [];
  if (repository !== undefined) {
    const slug = slugOf(repository);
    parts.push(`AND ${slug === undefined ? none : inFacets([facetTerm('repository', slug)])}`);
  }
  if (section !== undefined) parts.push(`AND ${inFacets([facetTerm('section', section)])}`);
  if (price !== undefined) parts.push(`${price === 'Paid' ? 'AND' : 'NOT'} ${inFacets([facetTerm('price', 'Paid')])}`);
  if (architecture !== undefined) {
    const own = facetTerm('architecture', architecture);
    // Packages for all architectures are for this one, too, if there are any for this one.
    parts.push(`AND ${inFacets(isKnown(inFacets([own])) ? [own, facetTerm('architecture', 'all')] : ['none'])}`);
  }
  if (kind !== undefined) parts.push(`AND ${inFacets([facetTerm('kind', kind)])}`);
  if (state !== undefined) {
    const unanswered = stale.length === 0 ? none : inFacets(stale.map((slug) => facetTerm('repository', slug)));
    if (state === 'stale') parts.push(`AND ${unanswered}`);
    else parts.push(`NOT ${unanswered}`, `${state === 'pre-release' ? 'AND' : 'NOT'} ${inFacets([unreleasedTerm])}`);
  }
  if (firmware !== undefined) {
    const version = parseVersion(firmware);
    parts.push(version === undefined ? `AND ${none}` : `NOT ${inFacets(excludedByTerms(version))}`);
  }
  return parts.length === 0 ? undefined : parts.join(' ');
};
