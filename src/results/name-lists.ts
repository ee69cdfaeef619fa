/** The lists of package names, by their length in UTF-16 units, beside the search index among the files. */
export const nameLists = {
  /** A typed word of five letters may mean a name of four. */
  shortest: 4,
  longest: 32,
  file: (length: number): string => `search-index/names/${length}.json`,
} as const;
