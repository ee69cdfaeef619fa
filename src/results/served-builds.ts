import type { Build } from '../compatibility/builds.ts';

/**
 * The builds that repositories serve, by slug, for repositories that have something for all architectures and do not
 * serve every build.
 */
export type ServedBuilds = ReadonlyMap<string, readonly Build[]>;

/** As the search page contains them: slugs after the builds that they serve, `rootful=a b;=c`. */
export const writeServed = (served: ServedBuilds): string => {
  const slugs = new Map<string, string[]>();
  for (const [slug, builds] of served) {
    const key = builds.join(',');
    slugs.set(key, [...(slugs.get(key) ?? []), slug]);
  }
  return [...slugs].map(([builds, some]) => `${builds}=${some.join(' ')}`).join(';');
};

/** Parses what `writeServed` wrote. */
export const readServed = (text: string): ServedBuilds =>
  new Map(
    text.split(';').flatMap((group) => {
      const [builds = '', slugs = ''] = group.split('=');
      const served = builds.split(',').filter((build) => build !== '') as Build[];
      return slugs
        .split(' ')
        .filter((slug) => slug !== '')
        .map((slug) => [slug, served] as const);
    }),
  );
