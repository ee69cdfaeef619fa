import type { Badge } from '../contract/badge.ts';
import { encodeFolderName } from '../contract/filenames.ts';
import { composeBadge, drawBadge } from './badge.ts';
import { site } from './context.ts';
import { deferDigest } from './page-keys.ts';
import { isUnsafe } from './repository.ts';

/**
 * A badge for each repository; for each of its former slugs, so that READMEs keep working; and for each repository that
 * was never read, whose badge says so. The cache key depends on what the badge says.
 */
export const badgePaths = () => {
  const { catalog, inRepository, service } = site();
  const found = [
    ...catalog.repositories.map((repository) => [repository.slug, repository] as const),
    ...catalog.former.entries(),
  ].map(([slug, repository]) => ({
    slug,
    outcome: repository.outcome,
    packages: inRepository.get(repository.slug)?.length ?? 0,
    isUnsafe: isUnsafe(repository),
  }));
  const known = new Set(found.map(({ slug }) => slug));
  const unread = (catalog.lastBuild?.repositories ?? [])
    .filter(({ slug }) => !known.has(slug))
    .map((outcome) => ({
      slug: outcome.slug,
      outcome,
      packages: 0,
      isUnsafe: catalog.unsafeAt(outcome.uri) !== undefined,
    }));
  return [...found, ...unread].map(({ slug, ...subject }) => {
    const badge = composeBadge({ service: service.name, ...subject });
    return {
      params: { folder: encodeFolderName(slug) },
      props: { badge },
      cacheKey: deferDigest(badge),
    };
  });
};

/** The badge as a drawing. */
export const svgResponse = (badge: Badge): Response =>
  new Response(drawBadge(badge), { headers: { 'content-type': 'image/svg+xml; charset=utf-8' } });

/** The badge for shields.io to draw. */
export const shieldResponse = (badge: Badge): Response =>
  new Response(`${JSON.stringify(badge)}\n`, { headers: { 'content-type': 'application/json' } });
