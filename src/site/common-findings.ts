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
  /** The first of them, by slug and name: as many as a person reads. */
  readonly repositories: readonly { readonly slug: string; readonly name: string }[];
}

/** How many repositories the status page names together: nobody reads the hundreds of a large index. status.json has all. */
export const mostNamed = 60;

interface Found {
  readonly slug: string;
  readonly name: string;
  readonly findings: readonly Finding[];
}

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
  return [...gathered]
    .map(([code, found]) => {
      const { title, owner, weight } = findingText(code);
      return { code, title, owner, weight, ...found };
    })
    .sort((a, b) => byWeight(a, b) || b.spread - a.spread || (a.code < b.code ? -1 : 1));
};

/**
 * The codes that more than half of the repositories have. They are explained once for all, except findings that need
 * fixing.
 */
export const codesOfMost = (findings: readonly CommonFinding[], repositories: number): ReadonlySet<Finding['code']> =>
  new Set(findings.filter((one) => one.spread * 2 > repositories && !isToMend(one)).map(({ code }) => code));
