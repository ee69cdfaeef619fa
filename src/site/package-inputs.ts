import { hash } from 'node:crypto';
import { peopleAlone } from './author-view.ts';
import type { PackageSummary } from './package-summary.ts';
import { dependentsOf, neighboursOf } from './package-view.ts';
import type { SiteCatalog } from './site-catalog.ts';

// To compute what the page of a package shows, its records are read and parsed: a third of a millisecond, for a hundred
// thousand packages of which a build changes fifty. What that is computed from is known when the catalog has been opened.

const digest = (parts: readonly unknown[]): string => hash('sha256', JSON.stringify(parts), 'base64url');

const holderDigests = new WeakMap<SiteCatalog, Map<string, string>>();

/** Of all that pages of packages tell of a repository, and what it serves, by which its packages are judged. */
const digestHolder = (catalog: SiteCatalog, slug: string): string => {
  const known = holderDigests.get(catalog) ?? new Map<string, string>();
  holderDigests.set(catalog, known);
  const found = known.get(slug) ?? digest([catalog.holder(slug), catalog.architecturesIn(slug)]);
  known.set(slug, found);
  return found;
};

/** All that can be told of one package by itself. */
const ownInputs = (catalog: SiteCatalog, { id, repositories }: PackageSummary): readonly unknown[] => [
  catalog.digestOf(id),
  ...repositories.map((slug) => digestHolder(catalog, slug)),
];

/**
 * A digest of all that `computePackageView` is computed from, and of the words of its picture: while it stays the same, so
 * does the page. It may change where the page does not. Undefined where that cannot be told, as of native depictions.
 */
export const packageInputs = (catalog: SiteCatalog, id: string, picture?: string): string | undefined => {
  const summary = catalog.packages.get(id);
  if (summary === undefined || catalog.hasDepictions) return undefined;
  const named = catalog.namedBy(id);
  const targets = named.map((name) => catalog.packages.get(catalog.resolve(name) ?? ''));
  const near = named.map((name) =>
    [false, true].map((toVersions) => catalog.isNear(summary.repository.slug, name, toVersions)),
  );
  const others = [...targets, ...neighboursOf(catalog, summary)];
  return digest([
    ownInputs(catalog, summary),
    others.map((other) => other && ownInputs(catalog, other)),
    near,
    dependentsOf(catalog, id),
    [catalog.authorOf(summary)?.key, peopleAlone(catalog, summary)],
    [catalog.downloads.get(id), catalog.hasDevices, picture],
  ]);
};

/** The same of a feed that tells of these packages. */
export const feedInputs = (catalog: SiteCatalog, packages: readonly PackageSummary[]): string =>
  digest(packages.map((one) => ownInputs(catalog, one)));
