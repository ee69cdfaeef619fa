import { isHeldBack } from '../catalog/last-build.ts';
import { isTroubled, type Repository } from './repository.ts';

/** A doubt about what a page offers: `failing` since its repository last confirmed it, or `old` since it last changed. */
export interface Doubt {
  /**
   * `lately`: it fails, but was in order hours ago; origins have their bad days. `held`: it answers, and what it has now
   * waits for the operator's word.
   */
  readonly kind: 'failing' | 'lately' | 'held' | 'old';
  /** ISO 8601. */
  readonly since: string;
}

const yearsToDoubt = 4;
const badDayMs = 2 * 86_400_000;

// Neither the reason of a failure nor how long it lasts, which change with each build: the page of the repository has them.
export const doubtOf = ({ outcome, changedAt }: Repository, builtAt: string | undefined): Doubt | undefined => {
  if (isTroubled(outcome)) {
    const since = outcome.confirmedAt ?? changedAt;
    if (isHeldBack(outcome)) return { kind: 'held', since };
    const isLately = builtAt !== undefined && Date.parse(builtAt) - Date.parse(since) < badDayMs;
    return { kind: isLately ? 'lately' : 'failing', since };
  }
  if (builtAt === undefined) return undefined;
  const years = (Date.parse(builtAt) - Date.parse(changedAt)) / 31_557_600_000;
  return years > yearsToDoubt ? { kind: 'old', since: changedAt } : undefined;
};
