import { excludedByTerms, facetTerm, unreleasedTerm } from '../catalog/facets.ts';
import { parseVersion } from '../compatibility/ios-versions.ts';
import type { PackageFilter } from '../contract/parameters.ts';

const inFacets = (terms: readonly string[]): string => `{facet} : (${terms.map((term) => `"${term}"`).join(' OR ')})`;

/** Nothing: no term of a facet is in ASCII. */
const none = inFacets(['none']);

/** What is known of a catalog. */
interface Known {
  /** The slug of the repository that has, or had, one. */
  readonly slugOf: (slug: string) => string | undefined;
  /** The slugs of those that the last build could not read. */
  readonly stale: readonly string[];
  /** Whether an expression finds anything. */
  readonly isKnown: (expression: string) => boolean;
}

/**
 * What a filter leaves of what an FTS5 expression finds, as it goes on behind that expression; undefined where it asks for
 * nothing.
 */
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
    // What is for all architectures is for this one too, where there is such a one.
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
