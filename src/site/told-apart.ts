import { nameWithSlug } from '../results/name-with-slug.ts';

/** A repository as a page names it. */
export interface Named {
  readonly slug: string;
  readonly name: string;
}

const keyOf = ({ name }: Named): string => name.trim().toLowerCase();

/**
 * What to call each of these repositories, by slug and in their order, on a page that names several: with its slug, where
 * two are called alike, as a mirror and what it mirrors are.
 */
export const tellNames = (repositories: Iterable<Named>): ReadonlyMap<string, string> => {
  const bySlug = new Map([...repositories].map((one) => [one.slug, one]));
  const alike = Map.groupBy(bySlug.values(), keyOf);
  return new Map(
    [...bySlug].map(([slug, one]) => [slug, (alike.get(keyOf(one))?.length ?? 0) > 1 ? nameWithSlug(one) : one.name]),
  );
};
