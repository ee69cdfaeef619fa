import { hash } from 'node:crypto';
import { encodeFolderName } from '../contract/filenames.ts';
import { page } from './addresses.ts';
import { site } from './context.ts';
import { composeAtom, composeJsonFeed, feedLength } from './feeds.ts';
import { recentNews } from './overview.ts';

const newest = (moments: readonly string[]): string => [...moments].sort().at(-1) ?? '1970-01-01T00:00:00.000Z';

const feedOf = (asked?: string) => {
  const { catalog, base, inRepository, service } = site();
  const repository = asked === undefined ? undefined : (catalog.repository(asked) ?? catalog.former.get(asked));
  const slug = repository?.slug;
  return {
    base,
    title:
      repository === undefined ? `${service.name}: new and updated packages` : `${repository.name} on ${service.name}`,
    home: slug === undefined ? page.landing : page.repository(slug),
    atom: page.atom(slug),
    json: page.jsonFeed(slug),
    // The day from which there could have been news.
    since: repository?.addedAt ?? newest(catalog.repositories.map(({ addedAt }) => addedAt)),
    entries: recentNews(
      slug === undefined ? catalog.packages.values() : (inRepository.get(slug) ?? []),
      feedLength,
      slug === undefined ? { perRepository: feedLength / 5 } : { slug },
    ),
  };
};

/** The Atom feed of everything, or of one repository. */
export const atomResponse = (slug?: string): Response =>
  new Response(composeAtom(feedOf(slug)), { headers: { 'content-type': 'application/atom+xml; charset=utf-8' } });

/** The JSON Feed of everything, or of one repository. */
export const jsonFeedResponse = (slug?: string): Response =>
  new Response(composeJsonFeed(feedOf(slug)), { headers: { 'content-type': 'application/feed+json; charset=utf-8' } });

/**
 * A path for each repository, and for each slug that one had before, so that readers keep their feeds. A feed changes
 * with what is in it.
 */
export const repositoryPaths = () => {
  const { catalog } = site();
  return [...catalog.repositories.map(({ slug }) => slug), ...catalog.former.keys()].map((slug) => ({
    params: { folder: encodeFolderName(slug) },
    props: { slug },
    cacheKey: hash('sha256', composeJsonFeed(feedOf(slug)), 'base64url'),
  }));
};
