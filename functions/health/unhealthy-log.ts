/** A line about a leaf of the health record that turned false. */
export interface UnhealthyEvent {
  readonly time: string;
  readonly event: 'unhealthy';
  /** Its path in the record, such as `route_data.package.lookup_healthy`. */
  readonly leaf: string;
  /** Why, in words; the last reason where there were several. */
  readonly reason: string;
}

/** Why each leaf that is false is so, by its path; a leaf that is true is not among them. */
export type Reasons = ReadonlyMap<string, string>;

/** Milliseconds between two lines about the same leaf: one that comes and goes must not fill the log. */
const quietFor = 60_000;

/**
 * Tells of each leaf when it turns false, at most once a minute for each. One that turned false again within that minute
 * is told when it is over, if it is still false. Returns what is to be called with the outcome of every check.
 */
export const createUnhealthyLog = (
  tell: (event: UnhealthyEvent) => void,
  now: () => Date,
): ((reasons: Reasons) => void) => {
  const toldAt = new Map<string, number>();
  /** Those that have been told since they turned false. */
  const told = new Set<string>();
  return (reasons) => {
    for (const leaf of told) if (!reasons.has(leaf)) told.delete(leaf);
    const time = now();
    for (const [leaf, reason] of reasons) {
      const since = time.getTime() - (toldAt.get(leaf) ?? Number.NEGATIVE_INFINITY);
      // A clock that was set back must not silence it for as long.
      if (told.has(leaf) || (since >= 0 && since < quietFor)) continue;
      told.add(leaf);
      toldAt.set(leaf, time.getTime());
      tell({ time: time.toISOString(), event: 'unhealthy', leaf, reason });
    }
  };
};
