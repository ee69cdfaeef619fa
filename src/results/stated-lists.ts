import { hueOf } from './monogram.ts';

/**
 * Where it is listed what packages state of devices with iOS beyond the architecture of one record. Records of the API do not tell
 * all of it, so a page that shows them to a visitor with a device reads it there.
 */
export const statedLists = {
  /** The list that holds a package: a few, so that none is long. */
  of: (id: string): number => hueOf(id, 16),
  file: (list: number): string => `pagefind/stated/${list}.json`,
} as const;
