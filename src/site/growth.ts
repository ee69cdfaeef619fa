import type { GrowthDay } from '../catalog/build-record.ts';
import { formatCount, formatDay } from './format.ts';

/** The size of the index day by day, to be drawn in a box. */
export interface GrowthChart {
  /** Days from the first, and packages. */
  readonly points: readonly (readonly [day: number, packages: number])[];
  readonly first: { readonly day: string; readonly packages: number };
  readonly last: { readonly day: string; readonly packages: number };
  readonly least: number;
  readonly most: number;
  /** The same in a sentence. */
  readonly text: string;
}

const dayMs = 86_400_000;
const numberOf = (day: string): number => Math.round(Date.parse(`${day}T00:00:00Z`) / dayMs);

/**
 * How many packages the index held at the end of each day on which that changed, counted back from how many it holds
 * now; undefined where fewer than two days are remembered. `days` are in order.
 */
export const computeGrowth = (days: readonly GrowthDay[], now: number): GrowthChart | undefined => {
  const [first] = days;
  const last = days.at(-1);
  if (first === undefined || last === undefined || first === last) return undefined;
  const start = numberOf(first.day);
  const points: [number, number][] = [];
  let packages = now;
  for (const { day, added, removed } of [...days].reverse()) {
    points.push([numberOf(day) - start, Math.max(0, packages)]);
    packages -= added - removed;
  }
  points.reverse();
  const sizes = points.map(([, size]) => size);
  const before = sizes[0] ?? now;
  const change = now - before;
  const grown = change === 0 ? 'as many as' : `${formatCount(Math.abs(change))} ${change > 0 ? 'more' : 'fewer'} than`;
  return {
    points,
    first: { day: first.day, packages: before },
    last: { day: last.day, packages: now },
    least: Math.min(...sizes),
    most: Math.max(...sizes),
    text: `${formatCount(now)} packages on ${formatDay(last.day)}, ${grown} on ${formatDay(first.day)}.`,
  };
};
