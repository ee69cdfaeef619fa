import { builds } from '../compatibility/builds.ts';
import type { ToldTraits } from '../results/index-traits.ts';
import { writeServed } from '../results/served-builds.ts';
import { isStale, isUnsafe, troubleOf } from './repository.ts';
import type { SiteCatalog } from './site-catalog.ts';

/** What rows made from the function's answers need to know of the repositories of a catalog. */
export const composeTraits = (catalog: SiteCatalog): ToldTraits => {
  const { repositories, hasDevices } = catalog;
  const slugs = (isMeant: (one: (typeof repositories)[number]) => boolean) =>
    repositories
      .filter(isMeant)
      .map(({ slug }) => slug)
      .join(' ');
  // Left out: repositories that serve every build, and those without packages for all architectures. There is nothing
  // to judge there.
  const judged = repositories
    .map(({ slug }) => [slug, catalog.buildsIn(slug)] as const)
    .filter(([slug, own]) => own.length < builds.length && catalog.architecturesIn(slug).includes('all'));
  return {
    stale: slugs(isStale),
    held: slugs((one) => troubleOf(one) === 'held') || undefined,
    unsafe: slugs(isUnsafe) || undefined,
    alike: slugs(({ name, toldName }) => name !== toldName) || undefined,
    served: hasDevices && judged.length > 0 ? writeServed(new Map(judged)) : undefined,
  };
};
