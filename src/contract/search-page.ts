/** The page of the search: a file without results, which the function sends with those of a question. */
export const searchPage = {
  /** Below the root of the site. */
  path: 'search/',
  file: 'search/index.html',
  /** The parameter that holds the question; without it the file is the answer. */
  parameter: 'q',
  /** What its results are narrowed by. */
  facets: ['section', 'repository', 'architecture', 'price', 'state'],
  /** The parameter that holds their order. */
  order: 'sort',
} as const;

/** A query that asks the page something, as a regular expression. */
export const askedQuery = `(?:^|&)${searchPage.parameter}=[^&]`;
