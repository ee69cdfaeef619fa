/** How many lines of one kind may be written: at once, and each second in the long run. */
export interface Allowance {
  readonly atOnce: number;
  readonly perSecond: number;
}

/**
 * How many kinds are distinguished; any others share one allowance. Kinds come from the source, so this only matters if
 * that has a mistake.
 */
const mostKinds = 200;
const anyOther = 'other';

interface Bucket {
  left: number;
  at: number;
  leftOut: number;
}

/** Decides which lines are written, so that nobody can fill the disk by causing the same line again and again. */
export interface LineBudget {
  /** Whether a line of this kind may be written now. If not, it is counted. */
  take(kind: string, allowance: Allowance): boolean;
  /** How many lines of each kind were left out since the last call. */
  takeLeftOut(): ReadonlyMap<string, number>;
}

/** A budget for each kind of line. `clock` gives milliseconds that never go back. */
export const createLineBudget = (clock: () => number): LineBudget => {
  const buckets = new Map<string, Bucket>();
  const bucketOf = (kind: string, { atOnce }: Allowance): Bucket => {
    const name = buckets.has(kind) || buckets.size < mostKinds ? kind : anyOther;
    const bucket = buckets.get(name) ?? { left: atOnce, at: clock(), leftOut: 0 };
    buckets.set(name, bucket);
    return bucket;
  };
  return {
    take: (kind, allowance) => {
      const bucket = bucketOf(kind, allowance);
      const now = clock();
      bucket.left = Math.min(allowance.atOnce, bucket.left + ((now - bucket.at) / 1000) * allowance.perSecond);
      bucket.at = now;
      if (bucket.left < 1) {
        bucket.leftOut++;
        return false;
      }
      bucket.left--;
      return true;
    },
    takeLeftOut: () => {
      const found = new Map<string, number>();
      for (const [kind, bucket] of buckets) {
        if (bucket.leftOut > 0) found.set(kind, bucket.leftOut);
        bucket.leftOut = 0;
      }
      return found;
    },
  };
};
