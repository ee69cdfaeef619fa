import type { FoundPackage } from './found.ts';
import { isMet } from './meant.ts';

/**
 * Puts those packages first that meet a question and may run where it is asked, which the index is not told: it is to be
 * called with all that is found so far, and what it answered before keeps its place when more is found.
 */
export const fitsFirst = (
  question: string,
  mayRun: (one: FoundPackage) => boolean,
): ((found: readonly FoundPackage[]) => readonly FoundPackage[]) => {
  const placed: FoundPackage[] = [];
  const known = new Set<string>();
  return (found) => {
    const fresh = found.filter(({ id }) => !known.has(id));
    // What has a part of the question is no better for running.
    const first = new Set(fresh.filter((one) => mayRun(one) && isMet(question, one)));
    placed.push(...first, ...fresh.filter((one) => !first.has(one)));
    for (const { id } of fresh) known.add(id);
    return placed;
  };
};
