import { isHeldBack, isUnreadable } from '../catalog/last-build.ts';
import { findingText } from '../contract/finding-texts.ts';
import type { Finding } from '../contract/findings.ts';
import type { Outcome } from './site-catalog.ts';

/** How a repository fares: what its last crawl and its findings come to. */
export type Health = 'good' | 'fair' | 'poor';

/**
 * Poor where nothing came of the last crawl; fair where a finding keeps packages or updates away from people, or what came
 * is held back.
 */
export const computeHealth = (findings: readonly Finding[], outcome: Outcome | undefined): Health => {
  if (outcome !== undefined && isUnreadable(outcome)) return 'poor';
  const isHeld = outcome !== undefined && isHeldBack(outcome);
  return isHeld || findings.some(({ code }) => findingText(code).weight === 'broken') ? 'fair' : 'good';
};
