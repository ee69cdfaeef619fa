import { page } from './addresses.ts';
import { site } from './context.ts';
import { doctorViews } from './doctor-view.ts';
import { mostDownloaded } from './popularity.ts';
import { escapeXml } from './xml.ts';

// A sitemap holds at most 50,000 addresses (sitemaps.org, "Sitemap file limits").
const mostAddresses = 40_000;

interface Entry {
  readonly path: string;
  readonly changedAt?: string;
}

const allEntries = (): Entry[] => {
  const { catalog, byKind, inRepository } = site();
  const fixed = [
    page.landing,
    page.search,
    page.repositories,
    page.sections,
    page.ranking,
    page.new,
    // Nothing leads to it where nothing was counted.
    ...(mostDownloaded(catalog).length > 0 ? [page.popular] : []),
    page.authors,
    page.status,
    page.divergence,
    page.api,
    page.feedsAndBadges,
    page.about,
    page.privacy,
    page.safety,
    page.doctor,
    page.changes,
    page.changesForOperators,
  ];
  return [
    ...fixed.map((path) => ({ path })),
    ...[...byKind.keys()].map((kind) => ({ path: page.section(kind) })),
    ...doctorViews(catalog, inRepository).map(({ slug }) => ({ path: page.doctorOf(slug) })),
    ...[...catalog.authors.keys()].map((key) => ({ path: page.author(key) })),
    ...catalog.repositories.map(({ slug, changedAt }) => ({ path: page.repository(slug), changedAt })),
    ...[...catalog.packages.values()].map(({ id, updatedAt }) => ({ path: page.package(id), changedAt: updatedAt })),
  ];
};

/** The day of a change; none if it is after the build's own, as where the clock of one before was ahead. */
const changeOf = (changedAt?: string): string => {
  const day = changedAt?.slice(0, 10);
  const today = site().catalog.lastBuild?.builtAt.slice(0, 10);
  return day === undefined || (today !== undefined && day > today) ? '' : `<lastmod>${day}</lastmod>`;
};

const xml = (root: string, children: readonly string[]): Response =>
  new Response(
    `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${children.join('')}</${root}>\n`,
    { headers: { 'content-type': 'application/xml; charset=utf-8' } },
  );

const address = (path: string): string => `<loc>${escapeXml(site().base + path)}</loc>`;

/** The numbers of all sitemaps, from 1. */
export const sitemapPaths = () =>
  Array.from({ length: Math.ceil(allEntries().length / mostAddresses) }, (_, index) => ({
    params: { number: String(index + 1) },
  }));

/** One sitemap. */
export const sitemapResponse = (number: number): Response =>
  xml(
    'urlset',
    allEntries()
      .slice((number - 1) * mostAddresses, number * mostAddresses)
      .map(({ path, changedAt }) => `<url>${address(path)}${changeOf(changedAt)}</url>\n`),
  );

/** The list of sitemaps. */
export const sitemapIndexResponse = (): Response =>
  xml(
    'sitemapindex',
    sitemapPaths().map(({ params }) => `<sitemap>${address(`/sitemap/${params.number}.xml`)}</sitemap>\n`),
  );
