/** The search page: a file without results, which the function sends with the results of a query. */
export const searchPage = {
  /** Below the root of the site. */
  path: 'search/',
  file: 'search/index.html',
  /** The parameter with the query. Without it the file is the answer. */
  parameter: 'q',
  /** The filters of its results. */
  facets: ['section', 'repository', 'architecture', 'price', 'state'],
  /** The parameter with their order. */
  order: 'sort',
  /** How many results scripts show at first, and how many more each time. */
  step: 20,
} as const;
