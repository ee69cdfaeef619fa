import { isHeldBack, isUnreadable } from '../catalog/last-build.ts';
import { type FindingText, findingText } from '../contract/finding-texts.ts';
import type { Finding } from '../contract/findings.ts';
import type { Outcome } from './repository.ts';

/** The most severe first. */
const weights: readonly FindingText['weight'][] = ['broken', 'weak', 'note'];

/** A finding as lists order it. */
interface Weighed {
  readonly weight: FindingText['weight'];
}

/** The order of findings wherever they are listed. */
export const byWeight = (a: Weighed, b: Weighed): number => weights.indexOf(a.weight) - weights.indexOf(b.weight);

/** Whether pages call a finding one "to mend", because it keeps packages or updates from people. */
export const isToMend = ({ weight }: Weighed): boolean => weight === 'broken';

/** The health of a repository, by its last crawl and its findings. */
export type Health = 'good' | 'fair' | 'poor';

/** Poor if the last crawl gave nothing; fair if a finding is to mend, or something is held back. */
export const computeHealth = (findings: readonly Finding[], outcome: Outcome | undefined): Health => {
  if (outcome !== undefined && isUnreadable(outcome)) return 'poor';
  const isHeld = outcome !== undefined && isHeldBack(outcome);
  return isHeld || findings.some(({ code }) => isToMend(findingText(code))) ? 'fair' : 'good';
};
