import type { FoundPackage } from './found.ts';

/**
 * Puts those packages first that match a whole query and may run on the visitor's device, which the index does not
 * know. To be called with everything found so far, and how many places were shown: these stay as they are, each with
 * what is known of its package now.
 */
export const fitsFirst = (
  mayRun: (one: FoundPackage) => boolean,
): ((found: readonly FoundPackage[], shown: number) => readonly FoundPackage[]) => {
  let placed: readonly FoundPackage[] = [];
  return (found, shown) => {
    const known = new Map(found.map((one) => [one.id, one]));
    const kept = placed.slice(0, shown).map((one) => known.get(one.id) ?? one);
    for (const { id } of kept) known.delete(id);
    const left = [...known.values()];
    // A package that matches only a part of the query is no better for running.
    const first = new Set(left.filter((one) => !one.isPart && mayRun(one)));
    placed = [...kept, ...first, ...left.filter((one) => !first.has(one))];
    return placed;
  };
};
