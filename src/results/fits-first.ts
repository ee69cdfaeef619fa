import type { FoundPackage } from './found.ts';

/**
 * Puts those packages first that have all of a question and may run where it is asked, which the index is not told: it is
 * to be called with all that is found so far, and what it answered before keeps its place when more is found.
 */
export const fitsFirst = (
  mayRun: (one: FoundPackage) => boolean,
): ((found: readonly FoundPackage[]) => readonly FoundPackage[]) => {
  // In the order in which they were placed, each as it is known by now.
  const placed = new Map<string, FoundPackage>();
  return (found) => {
    const fresh = found.filter(({ id }) => !placed.has(id));
    // What has a part of the question is no better for running.
    const first = new Set(fresh.filter((one) => !one.isPart && mayRun(one)));
    for (const one of [...first, ...fresh.filter((other) => !first.has(other)), ...found]) placed.set(one.id, one);
    return [...placed.values()];
  };
};
