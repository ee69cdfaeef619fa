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
  /** The repositories that have it, by slug and name. */
  readonly repositories: readonly { readonly slug: string; readonly name: string }[];
}

interface Found {
  readonly slug: string;
  readonly name: string;
  readonly findings: readonly Finding[];
}

/** Each finding once, with the repositories that have it: the most severe first, then those of most repositories. */
export const gatherFindings = (repositories: readonly Found[]): CommonFinding[] => {
  const gathered = new Map<Finding['code'], { count: number; repositories: { slug: string; name: string }[] }>();
  for (const { slug, name, findings } of repositories) {
    for (const { code, count } of findings) {
      const known = gathered.get(code) ?? { count: 0, repositories: [] };
      known.count += count;
      known.repositories.push({ slug, name });
      gathered.set(code, known);
    }
  }
  return [...gathered]
    .map(([code, found]) => {
      const { title, owner, weight } = findingText(code);
      return { code, title, owner, weight, ...found };
    })
    .sort((a, b) => byWeight(a, b) || b.repositories.length - a.repositories.length || (a.code < b.code ? -1 : 1));
};

/**
 * The codes that more than half of the repositories have. They are explained once for all, except findings that need
 * fixing.
 */
export const codesOfMost = (findings: readonly CommonFinding[], repositories: number): ReadonlySet<Finding['code']> =>
  new Set(
    findings.filter((one) => one.repositories.length * 2 > repositories && !isToMend(one)).map(({ code }) => code),
  );
