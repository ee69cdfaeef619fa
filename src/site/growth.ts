import type { GrowthDay } from '../catalog/build-record.ts';
import { formatCount, formatDay, formatPlural } from './format.ts';

/** The size of the index by day, for a chart. */
export interface GrowthChart {
  /** Days since the first, and packages. */
  readonly points: readonly (readonly [day: number, packages: number])[];
  readonly first: GrowthDay;
  readonly last: GrowthDay;
  readonly least: number;
  readonly most: number;
  /** The same in a sentence. */
  readonly text: string;
}

const dayMs = 86_400_000;
const numberOf = (day: string): number => Math.round(Date.parse(`${day}T00:00:00Z`) / dayMs);

/** How many packages the index held at the end of each of these days, in order; undefined for fewer than two days. */
export const computeGrowth = (days: readonly GrowthDay[]): GrowthChart | undefined => {
  const [first] = days;
  const last = days.at(-1);
  if (first === undefined || last === undefined || first === last) return undefined;
  const start = numberOf(first.day);
  const sizes = days.map(({ packages }) => packages);
  const change = last.packages - first.packages;
  const grown = change === 0 ? 'as many as' : `${formatCount(Math.abs(change))} ${change > 0 ? 'more' : 'fewer'} than`;
  return {
    points: days.map(({ day, packages }) => [numberOf(day) - start, packages]),
    first,
    last,
    least: Math.min(...sizes),
    most: Math.max(...sizes),
    text: `${formatPlural(last.packages, 'package')} on ${formatDay(last.day)}, ${grown} on ${formatDay(first.day)}.`,
  };
};
