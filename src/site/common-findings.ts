import { findingText } from '../contract/finding-texts.ts';
import type { Finding } from '../contract/findings.ts';
import { byWeight, isToMend } from './shown-findings.ts';

/** A finding that several repositories may share. */
export interface CommonFinding {
  readonly code: Finding['code'];
  readonly title: string;
  readonly owner: string;
  readonly weight: ReturnType<typeof findingText>['weight'];
  /** How often it was found in all. */
  readonly count: number;
  /** How many repositories have it. */
  readonly spread: number;
  /** The first of them, by slug and name: as many as the page has room for. */
  readonly repositories: readonly { readonly slug: string; readonly name: string }[];
}

/** How many repositories the status page names together: nobody reads the hundreds of a large index. status.json has all. */
export const mostNamed = 60;
/** How many it names as in need of attention, each with its reason. */
export const mostNeedy = 30;
/**
 * How many it names for all findings together. There are 120 kinds of these: with sixty names for each the page would be
 * sent in twice the 30 kB that it may have.
 */
const mostNamedInAll = 200;

interface Found {
  readonly slug: string;
  readonly name: string;
  readonly findings: readonly Finding[];
}

/** How many repositories to name for each of several findings that so many have: as many of each as possible, and one at least. */
const shareNames = (spreads: readonly number[]): number => {
  const isTooMany = (most: number) => spreads.reduce((sum, spread) => sum + Math.min(spread, most), 0) > mostNamedInAll;
  let most = mostNamed;
  while (most > 1 && isTooMany(most)) most--;
  return most;
};

/** Each finding once, with repositories that have it: the most severe first, then those of most repositories. */
export const gatherFindings = (repositories: readonly Found[]): CommonFinding[] => {
  type Spread = { count: number; spread: number; repositories: { slug: string; name: string }[] };
  const gathered = new Map<Finding['code'], Spread>();
  for (const { slug, name, findings } of repositories) {
    for (const { code, count } of findings) {
      const known = gathered.get(code) ?? { count: 0, spread: 0, repositories: [] };
      known.count += count;
      known.spread++;
      if (known.spread <= mostNamed) known.repositories.push({ slug, name });
      gathered.set(code, known);
    }
  }
  const named = shareNames([...gathered.values()].map(({ spread }) => spread));
  return [...gathered]
    .map(([code, { repositories, ...found }]) => {
      const { title, owner, weight } = findingText(code);
      return { code, title, owner, weight, ...found, repositories: repositories.slice(0, named) };
    })
    .sort((a, b) => byWeight(a, b) || b.spread - a.spread || (a.code < b.code ? -1 : 1));
};

/**
 * The codes that more than half of the repositories have. They are explained once for all, except findings that need
 * fixing.
 */
export const codesOfMost = (findings: readonly CommonFinding[], repositories: number): ReadonlySet<Finding['code']> =>
  new Set(findings.filter((one) => one.spread * 2 > repositories && !isToMend(one)).map(({ code }) => code));
