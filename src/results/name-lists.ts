/** Where the names of packages are listed, by their length in UTF-16 units, beside the index that is among the files. */
export const nameLists = {
  /** A name of four letters may be what was meant by five. */
  shortest: 4,
  longest: 32,
  file: (length: number): string => `pagefind/names/${length}.json`,
} as const;
