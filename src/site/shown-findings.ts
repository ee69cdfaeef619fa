import { isHeldBack, isUnreadable } from '../catalog/last-build.ts';
import { type FindingText, findingText } from '../contract/finding-texts.ts';
import type { Finding } from '../contract/findings.ts';
import type { Outcome } from './repository.ts';

/** The gravest first. */
const weights: readonly FindingText['weight'][] = ['broken', 'weak', 'note'];

/** A finding as lists order it. */
interface Weighed {
  readonly weight: FindingText['weight'];
}

/** The order of findings wherever they are listed. */
export const byWeight = (a: Weighed, b: Weighed): number => weights.indexOf(a.weight) - weights.indexOf(b.weight);

/** Whether a finding is one "to mend", on every page: it keeps packages or updates away from people. */
export const isToMend = ({ weight }: Weighed): boolean => weight === 'broken';

/** How a repository fares: what its last crawl and its findings come to. */
export type Health = 'good' | 'fair' | 'poor';

/**
 * Poor where nothing came of the last crawl; fair where a finding is to mend, or what came is held back.
 */
export const computeHealth = (findings: readonly Finding[], outcome: Outcome | undefined): Health => {
  if (outcome !== undefined && isUnreadable(outcome)) return 'poor';
  const isHeld = outcome !== undefined && isHeldBack(outcome);
  return isHeld || findings.some(({ code }) => isToMend(findingText(code))) ? 'fair' : 'good';
};
