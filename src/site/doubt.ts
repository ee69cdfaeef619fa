import { isHeldBack } from '../catalog/last-build.ts';
import type { SafetyEntry } from '../contract/safety.ts';
import { type Doubt, isTroubled, type Repository, type UnsafeDoubt } from './repository.ts';

const yearsToDoubt = 4;
const badDayMs = 2 * 86_400_000;

/** What this entry of the safety list says of a repository. */
export const unsafeDoubt = ({ host, path = '', reason }: SafetyEntry): UnsafeDoubt => ({
  kind: 'unsafe',
  reason,
  listed: host + path,
});

/**
 * Why not to add a repository, which `unsafe`, its entry in the safety list, says before all else, or why its data may be
 * out of date; undefined if nothing says so. Without the reason of a failure and how long it has lasted, which change with
 * each build. The page of the repository has them.
 */
export const doubtOf = (
  { outcome, changedAt }: Pick<Repository, 'outcome' | 'changedAt'>,
  builtAt: string | undefined,
  unsafe?: SafetyEntry,
): Doubt | undefined => {
  if (unsafe !== undefined) return unsafeDoubt(unsafe);
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
