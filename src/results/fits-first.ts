import type { FoundPackage } from './found.ts';

/**
 * Puts those packages first that match a whole query and may run on the visitor's device, which the index does not
 * know. To be called with everything found so far; packages keep their places when more are found.
 */
export const fitsFirst = (
  mayRun: (one: FoundPackage) => boolean,
): ((found: readonly FoundPackage[]) => readonly FoundPackage[]) => {
  // In the order of their places, each as known now.
  const placed = new Map<string, FoundPackage>();
  return (found) => {
    const fresh = found.filter(({ id }) => !placed.has(id));
    // A package that matches only a part of the query is no better for running.
    const first = new Set(fresh.filter((one) => !one.isPart && mayRun(one)));
    for (const one of [...first, ...fresh.filter((other) => !first.has(other)), ...found]) placed.set(one.id, one);
    return [...placed.values()];
  };
};
