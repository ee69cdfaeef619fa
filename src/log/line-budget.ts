/** How many lines of one kind may be written: so many at once, and so many a second in the long run. */
export interface Allowance {
  readonly atOnce: number;
  readonly perSecond: number;
}

/** Kinds that are told apart; the rest shares one allowance. They come from the source, and this is for a mistake in it. */
const mostKinds = 200;
const anyOther = 'other';

interface Bucket {
  left: number;
  at: number;
  leftOut: number;
}

/** Decides which lines are written, so that whoever makes one be written again and again fills no disk. */
export interface LineBudget {
  /** Whether a line of this kind may be written now; counts it where not. */
  take(kind: string, allowance: Allowance): boolean;
  /** How many lines of each kind were left out since this was asked for last. */
  takeLeftOut(): ReadonlyMap<string, number>;
}

/** A budget for each kind of line; `clock` tells milliseconds that only go forward. */
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
