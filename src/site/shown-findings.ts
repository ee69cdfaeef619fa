import { findingText } from '../contract/finding-texts.ts';
import type { Finding } from '../contract/findings.ts';

/** How a repository fares: what its last crawl and its findings come to. */
export type Health = 'good' | 'fair' | 'poor';

/** Poor where the last crawl failed or is stale; fair where a finding keeps packages or updates away from people. */
export const computeHealth = (findings: readonly Finding[], outcome: string | undefined): Health => {
  if (outcome === 'failed' || outcome === 'stale') return 'poor';
  return findings.some(({ code }) => findingText(code).weight === 'broken') ? 'fair' : 'good';
};
