import type { IndexTraits } from './found.ts';
import { readServed } from './served-builds.ts';

/**
 * What rows made from the function's answers need to know of the repositories, as texts: slugs separated by blanks, and
 * the builds that repositories serve (`writeServed`). The search page contains them as data attributes.
 */
export interface ToldTraits {
  readonly stale?: string | undefined;
  readonly held?: string | undefined;
  readonly unsafe?: string | undefined;
  readonly alike?: string | undefined;
  readonly served?: string | undefined;
}

/** The same beside the search index among the files, for the suggestions of other pages. */
export const traitsFile = 'search-index/traits.json';

const slugsOf = (text = ''): ReadonlySet<string> => new Set(text.split(' ').filter((slug) => slug !== ''));

/** Parses these texts. */
export const readTraits = ({ stale, held, unsafe, alike, served }: ToldTraits, hasDevices: boolean): IndexTraits => ({
  stale: slugsOf(stale),
  held: slugsOf(held),
  unsafe: slugsOf(unsafe),
  alike: slugsOf(alike),
  hasDevices,
  served: readServed(served ?? ''),
});
