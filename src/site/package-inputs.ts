import { hash } from 'node:crypto';
import { peopleAlone } from './author-view.ts';
import { findRepositories } from './needs.ts';
import type { PackageSummary } from './package-summary.ts';
import { dependentsOf, neighboursOf } from './package-view.ts';
import type { SiteCatalog } from './site-catalog.ts';

// Computing what the page of a package shows requires reading and parsing its records: a third of a millisecond, for a
// hundred thousand packages of which a build changes fifty. The inputs of that computation are known once the catalog
// is open.

const digest = (parts: readonly unknown[]): string => hash('sha256', JSON.stringify(parts), 'base64url');

const holderDigests = new WeakMap<SiteCatalog, Map<string, string>>();

/**
 * A digest of everything that pages of packages show of a repository, and of what it serves, by which its packages are
 * judged.
 */
const digestHolder = (catalog: SiteCatalog, slug: string): string => {
  const known = holderDigests.get(catalog) ?? new Map<string, string>();
  holderDigests.set(catalog, known);
  const found =
    known.get(slug) ??
    digest([catalog.holder(slug), catalog.repository(slug)?.toldName, catalog.architecturesIn(slug)]);
  known.set(slug, found);
  return found;
};

/** All inputs from one package itself. */
const ownInputs = (catalog: SiteCatalog, { id, repositories }: PackageSummary): readonly unknown[] => [
  catalog.digestOf(id),
  ...repositories.map((slug) => digestHolder(catalog, slug)),
];

/**
 * A digest of all inputs of `computePackageView`, and of the words in its picture. While it stays the same, so does the
 * page; it may change although the page does not. Undefined if some inputs are unknown, as for native depictions.
 */
export const packageInputs = (catalog: SiteCatalog, id: string, picture?: string): string | undefined => {
  const summary = catalog.packages.get(id);
  if (summary === undefined || catalog.hasDepictions) return undefined;
  const needed = findRepositories(catalog, id);
  return digest([
    ownInputs(catalog, summary),
    // Only where they lead: half of a distribution names its C library, which changes every week.
    catalog.relations.namedBy(id).map((name) => catalog.find(name)?.id),
    neighboursOf(catalog, summary).map((other) => ownInputs(catalog, other)),
    needed.map((one) => [one, digestHolder(catalog, one.slug)]),
    dependentsOf(catalog, id),
    [catalog.authorOf(summary)?.key, peopleAlone(catalog, summary)],
    [catalog.downloads.get(id), catalog.hasDevices, picture],
  ]);
};

/** The same for a feed with these packages. */
export const feedInputs = (catalog: SiteCatalog, packages: readonly PackageSummary[]): string =>
  digest(packages.map((one) => ownInputs(catalog, one)));
