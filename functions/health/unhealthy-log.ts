/** A log line about a leaf of the health record that turned false. */
export interface UnhealthyEvent {
  readonly time: string;
  readonly event: 'unhealthy';
  /** Its path in the record, such as `route_data.package.lookup_healthy`. */
  readonly leaf: string;
  /** The reason, in words; if there were several, the last. */
  readonly reason: string;
}

/** The reasons for all leaves that are false, by the path of the leaf. */
export type Reasons = ReadonlyMap<string, string>;

/** Milliseconds between two lines about the same leaf, so that a leaf that keeps changing does not fill the log. */
const quietFor = 60_000;

/**
 * Reports each leaf when it turns false, at most once a minute. A leaf that turns false again within that minute is
 * reported when the minute is over, if it is still false. Returns a function to call with the outcome of every check.
 */
export const createUnhealthyLog = (
  tell: (event: UnhealthyEvent) => void,
  now: () => Date,
): ((reasons: Reasons) => void) => {
  const toldAt = new Map<string, number>();
  /** The leaves that have been reported since they turned false. */
  const told = new Set<string>();
  return (reasons) => {
    for (const leaf of told) if (!reasons.has(leaf)) told.delete(leaf);
    const time = now();
    for (const [leaf, reason] of reasons) {
      const since = time.getTime() - (toldAt.get(leaf) ?? Number.NEGATIVE_INFINITY);
      // If the clock was set back, `since` is negative and must not suppress lines until the old time comes again.
      if (told.has(leaf) || (since >= 0 && since < quietFor)) continue;
      told.add(leaf);
      toldAt.set(leaf, time.getTime());
      tell({ time: time.toISOString(), event: 'unhealthy', leaf, reason });
    }
  };
};
