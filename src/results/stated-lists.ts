import { hueOf } from './monogram.ts';

// Three kilobytes, compressed, where most packages state something.
const packagesInList = 1024;

/**
 * Where it is listed what packages state of devices with iOS beyond the architecture of one record. Records of the API do not tell
 * all of it, so a page that shows them to a visitor with a device reads it there.
 */
export const statedLists = {
  /** How many lists there are of so many packages: a page of results reads most of few, and of many those it needs. */
  count: (packages: number): number => 2 ** Math.ceil(Math.log2(Math.max(packages / packagesInList, 1))),
  /** The one of so many lists that holds a package. */
  of: (id: string, count: number): number => hueOf(id, count),
  file: (list: number): string => `pagefind/stated/${list}.json`,
} as const;
