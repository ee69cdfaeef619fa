import { escapeMarkup } from './markup.ts';

/** A repository that the search page offers as a filter: its slug, and its name as markup. */
export type OfferedRepository = readonly [slug: string, name: string];

// Many are called "opa334's Repo", and people type "opa334".
const withoutRepo = (markup: string): string =>
  markup.toLowerCase().replace(/(?:(?:&#39;|’)s)?\s+repo(?:sitory)?$/, '');

/** What a query may call a repository, as markup in small letters. */
export const calledBy = (question: string): string => withoutRepo(escapeMarkup(question));

/** The repository that is called as the query, by its slug or its name in any letter case; undefined if none is. */
export const findCalled = (question: string, offered: readonly OfferedRepository[]): OfferedRepository | undefined => {
  const asked = calledBy(question);
  // Another may have the slug of one as its name.
  return (
    offered.find(([slug]) => slug.toLowerCase() === asked) ?? offered.find(([, name]) => withoutRepo(name) === asked)
  );
};
