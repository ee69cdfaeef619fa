/** By how many milliseconds the clock of another machine, whose disk this may be, can differ. */
const clockTolerance = 60_000;

/**
 * Sorts by the time of modification (in milliseconds since 1970), the newest first. A time in the future means that the
 * clock was set back afterwards: what has one comes last, because it would be the newest until that time.
 */
export const newestFirst = <Entry>(entries: readonly Entry[], modifiedAt: (entry: Entry) => number): Entry[] => {
  const soon = Date.now() + clockTolerance;
  const isAhead = (entry: Entry): number => Number(modifiedAt(entry) > soon);
  return entries.toSorted((a, b) => isAhead(a) - isAhead(b) || modifiedAt(b) - modifiedAt(a));
};
