import { hueOf } from './hue.ts';

// Three kilobytes after compression, if most packages state something.
const packagesInList = 1024;

/**
 * The lists of what packages state about iOS devices beyond the architecture of one record. Records of the API do not
 * contain all of it, so a page that shows them to a visitor with a device reads these lists.
 */
export const statedLists = {
  /**
   * How many lists there are for that many packages. A page of results reads most of a few lists, or the necessary ones
   * of many.
   */
  count: (packages: number): number => 2 ** Math.ceil(Math.log2(Math.max(packages / packagesInList, 1))),
  /** The number of the list with a package, among `count`. */
  of: (id: string, count: number): number => hueOf(id, count),
  file: (list: number): string => `search-index/stated/${list}.json`,
} as const;
