/** A value at a moment, in seconds since the beginning. */
export interface Point {
  readonly at: number;
  readonly value: number;
}

/** How a value develops, by least squares. */
export interface Trend {
  /** The value at the beginning and the end of what was measured, as the line has it. */
  readonly from: number;
  readonly to: number;
  /** What it grows by in an hour, and the standard error of that. */
  readonly slope: number;
  readonly error: number;
  readonly greatest: number;
}

const secondsInHour = 3600;

// One value is like the one before it, which makes a line look surer than it is. Means of so many blocks are not.
const mostBlocks = 20;

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

const least = (values: readonly number[]): number => values.reduce((one, other) => Math.min(one, other));

const composeBlocks = (points: readonly Point[], by: BlockValue): Point[] => {
  const count = Math.min(mostBlocks, points.length);
  return Array.from({ length: count }, (_, index) => {
    const part = points.slice(
      Math.floor((index * points.length) / count),
      Math.floor(((index + 1) * points.length) / count),
    );
    return {
      at: mean(part.map(({ at }) => at)),
      value: (by === 'least' ? least : mean)(part.map(({ value }) => value)),
    };
  });
};

/** What stands for the values of a block: their mean, or the least, for what is given back only now and then. */
export type BlockValue = 'mean' | 'least';

/** The trend of these values; undefined of fewer than three. */
export const computeTrend = (points: readonly Point[], by: BlockValue = 'mean'): Trend | undefined => {
  if (points.length < 3) return undefined;
  const blocks = composeBlocks(points, by);
  const [at, value] = [mean(blocks.map((one) => one.at)), mean(blocks.map((one) => one.value))];
  const spread = blocks.reduce((sum, one) => sum + (one.at - at) ** 2, 0);
  const slope = blocks.reduce((sum, one) => sum + (one.at - at) * (one.value - value), 0) / spread;
  const residual = blocks.reduce((sum, one) => sum + (one.value - value - slope * (one.at - at)) ** 2, 0);
  const error = Math.sqrt(residual / (blocks.length - 2) / spread);
  const lineAt = (point: Point | undefined) => value + slope * ((point?.at ?? at) - at);
  return {
    from: lineAt(points[0]),
    to: lineAt(points.at(-1)),
    slope: slope * secondsInHour,
    error: error * secondsInHour,
    greatest: points.reduce((greatest, one) => Math.max(greatest, one.value), Number.NEGATIVE_INFINITY),
  };
};

/** Leaves out the first quarter, in which caches fill. */
export const afterWarmUp = (points: readonly Point[]): Point[] => {
  const end = points.at(-1)?.at ?? 0;
  return points.filter(({ at }) => at >= end / 4);
};

/** Whether a value grows: by more than twice the standard error, and by more in an hour than is let pass. */
export const isGrowing = ({ slope, error }: Trend, passed: number): boolean => slope > 2 * error && slope > passed;
