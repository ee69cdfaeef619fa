import { excludedByTerms, facetTerm } from '../catalog/facets.ts';
import { parseVersion } from '../compatibility/ios-versions.ts';
import type { PackageFilter } from '../contract/parameters.ts';

const inFacets = (terms: readonly string[]): string => `{facet} : (${terms.map((term) => `"${term}"`).join(' OR ')})`;

/** Nothing: no term of a facet is in ASCII. */
const none = inFacets(['none']);

/**
 * What a filter leaves of what an FTS5 expression finds, as it goes on behind that expression; undefined where it asks for
 * nothing. `slugOf` tells the slug of a repository that has, or had, one; `isKnown` whether an expression finds anything.
 */
export const filterExpression = (
  { architecture, firmware, section, repository, price }: PackageFilter,
  slugOf: (slug: string) => string | undefined,
  isKnown: (expression: string) => boolean,
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
  if (firmware !== undefined) {
    const version = parseVersion(firmware);
    parts.push(version === undefined ? `AND ${none}` : `NOT ${inFacets(excludedByTerms(version))}`);
  }
  return parts.length === 0 ? undefined : parts.join(' ');
};
