import { hash } from 'node:crypto';
import { encodeFolderName } from '../contract/filenames.ts';
import type { SectionKind } from '../contract/sections.ts';
import { packageFolder } from '../results/package-address.ts';

import { type Author, authorFolder, isForDevices } from './authors.ts';
import { type Site, site } from './context.ts';
import { feedOfAll, feedOfAuthor, feedOfPackage, feedOfRepository, feedOfSection } from './feed-subjects.ts';
import { composeAtom, composeJsonFeed, type Feed } from './feeds.ts';
import { feedInputs } from './package-inputs.ts';
import type { PackageSummary } from './package-summary.ts';
import { deferKey } from './page-keys.ts';

/** The cache key of a feed depends only on its content. */
const keyOf = (compose: () => Feed): string =>
  deferKey(compose, () => hash('sha256', composeAtom(compose()), 'base64url'));

const repositoryFeed = (found: Site, slug: string) => {
  const repository = found.catalog.repository(slug) ?? found.catalog.former.get(slug);
  if (repository === undefined) throw new Error(`no such repository: ${slug}`);
  return feedOfRepository(found, repository);
};

const feedOf = (slug?: string) => (slug === undefined ? feedOfAll(site()) : repositoryFeed(site(), slug));

/** A feed as Atom. */
const atomAnswer = (feed: Feed): Response =>
  new Response(composeAtom(feed), { headers: { 'content-type': 'application/atom+xml; charset=utf-8' } });

/** The Atom feed of everything, or of one repository. */
export const atomResponse = (slug?: string): Response => atomAnswer(feedOf(slug));

/** The JSON Feed of everything, or of one repository. */
export const jsonFeedResponse = (slug?: string): Response =>
  new Response(composeJsonFeed(feedOf(slug)), { headers: { 'content-type': 'application/feed+json; charset=utf-8' } });

/** A path for each repository and each former slug, so that readers keep their feeds. */
export const repositoryPaths = () => {
  const found = site();
  const { catalog } = found;
  return [...catalog.repositories.map(({ slug }) => slug), ...catalog.former.keys()].map((slug) => ({
    params: { folder: encodeFolderName(slug) },
    props: { slug },
    cacheKey: keyOf(() => repositoryFeed(found, slug)),
  }));
};

/** A path for each kind of section. */
export const sectionPaths = () => {
  const found = site();
  return [...found.byKind.keys()].map((kind) => ({
    params: { kind },
    props: { kind },
    cacheKey: keyOf(() => feedOfSection(found, kind)),
  }));
};

/** The Atom feed of a kind of section. */
export const sectionAtom = (kind: SectionKind): Response => atomAnswer(feedOfSection(site(), kind));

/** A path for each author who has a page. */
export const authorPaths = () => {
  const found = site();
  const inputsOf = ({ packages }: Author<PackageSummary>) => feedInputs(found.catalog, packages);
  return [...found.catalog.authors.values()].map((author) => ({
    params: { folder: authorFolder(author.key) },
    props: { author: author.key },
    cacheKey: deferKey(author, inputsOf),
  }));
};

/** The Atom feed of an author, by their key. */
export const authorAtom = (key: string): Response => {
  const author = site().catalog.authors.get(key);
  if (author === undefined) throw new Error(`no such author: ${key}`);
  return atomAnswer(feedOfAuthor(site(), author));
};

/**
 * A path for each package for iOS devices. The packages of a distribution have none: that would double the number of
 * files, and readers can follow the repository.
 */
export const packagePaths = () => {
  const found = site();
  const inputsOf = (summary: PackageSummary) => feedInputs(found.catalog, [summary]);
  return [...found.catalog.packages.values()].filter(isForDevices).map((summary) => ({
    params: { folder: packageFolder(summary.id) },
    props: { id: summary.id },
    cacheKey: deferKey(summary, inputsOf),
  }));
};

const feedWithId = (id: string): Feed => {
  const summary = site().catalog.packages.get(id);
  if (summary === undefined) throw new Error(`no such package: ${id}`);
  return feedOfPackage(site(), summary);
};

/** The Atom feed of a package. */
export const packageAtom = (id: string): Response => atomAnswer(feedWithId(id));

/** Its text alone: as Astro would hand on the body of the answer, and in a third of the time. */
export const packageAtomText = (id: string): string => composeAtom(feedWithId(id));
