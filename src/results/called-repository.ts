import { escapeMarkup } from './markup.ts';

/** A repository that the search page offers as a filter: its slug, and its name as markup. */
export type OfferedRepository = readonly [slug: string, name: string];

// Many are called "opa334's Repo", and people type "opa334".
const ending = /(?:(?:&#39;|['’])s)?\s+repo(?:sitory)?$/;

/** A name, or a query that may be one, as it is compared: in small letters. */
export const withoutRepo = (name: string): string => name.toLowerCase().replace(ending, '');

/** What a query may call a repository, as markup in small letters. */
export const calledBy = (question: string): string => escapeMarkup(withoutRepo(question));

/** Its name, and what is left of that without the slug which follows it where another is called the same. */
const namesOf = ([slug, name]: OfferedRepository): readonly string[] =>
  name.endsWith(` (${slug})`) ? [name, name.slice(0, -` (${slug})`.length)] : [name];

/**
 * The repositories that are called as the query, by their slug or their name in any letter case: one with that slug
 * first.
 */
export const findCalled = (question: string, offered: readonly OfferedRepository[]): readonly OfferedRepository[] => {
  const asked = calledBy(question);
  const bySlug = offered.find(([slug]) => slug.toLowerCase() === asked);
  const byName = offered.filter((one) => namesOf(one).some((name) => withoutRepo(name) === asked));
  if (bySlug === undefined) return byName;
  // Another may have the slug of one as its name.
  return byName.includes(bySlug) ? [bySlug, ...byName.filter((one) => one !== bySlug)] : [bySlug];
};
