import type { GrowthDay } from '../catalog/build-record.ts';
import { formatCount, formatDay, formatPlural } from './format.ts';

/** The size of the index by day, for a chart. */
export interface GrowthChart {
  /** Days since the first, and packages. */
  readonly points: readonly (readonly [day: number, packages: number])[];
  readonly first: GrowthDay;
  readonly last: GrowthDay;
  /** The number of packages at the lower edge, and at the upper. */
  readonly bottom: number;
  readonly top: number;
  /** The same in a sentence. */
  readonly text: string;
}

/** The share of the index that the height of the chart is worth at least. */
const leastSpan = 0.05;

// The lower edge is not zero, so that a change of one percent is visible; nor does a change of a few packages fill the
// chart, where it would look like a collapse.
const edgesOf = (sizes: readonly number[]): Pick<GrowthChart, 'bottom' | 'top'> => {
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  const span = Math.max(most - least, leastSpan * most);
  const room = Math.max(1, 0.15 * span) + (span - (most - least)) / 2;
  return { bottom: Math.max(0, least - room), top: most + room };
};

const dayMs = 86_400_000;
const numberOf = (day: string): number => Math.round(Date.parse(`${day}T00:00:00Z`) / dayMs);

/** How many packages the index held at the end of each of these days, in order; undefined for fewer than two days. */
export const computeGrowth = (days: readonly GrowthDay[]): GrowthChart | undefined => {
  const [first] = days;
  const last = days.at(-1);
  if (first === undefined || last === undefined || first === last) return undefined;
  const start = numberOf(first.day);
  const change = last.packages - first.packages;
  const grown = change === 0 ? 'as many as' : `${formatCount(Math.abs(change))} ${change > 0 ? 'more' : 'fewer'} than`;
  return {
    points: days.map(({ day, packages }) => [numberOf(day) - start, packages]),
    first,
    last,
    ...edgesOf(days.map(({ packages }) => packages)),
    text: `${formatPlural(last.packages, 'package')} on ${formatDay(last.day)}, ${grown} on ${formatDay(first.day)}.`,
  };
};
