import { isHeldBack } from '../catalog/last-build.ts';
import { readRedirectTargets } from '../contract/redirected.ts';
import type { SafetyEntry } from '../contract/safety.ts';
import { findUnsafe } from '../safety/find-unsafe.ts';
import type { ExplainedSafetyList } from '../safety/safety-list.ts';
import { type Doubt, isTroubled, type Repository, type UnsafeDoubt } from './repository.ts';

const yearsToDoubt = 4;
const badDayMs = 2 * 86_400_000;

/** What this entry of the safety list says of a repository. */
export const unsafeDoubt = ({ host, path = '', reason }: SafetyEntry): UnsafeDoubt => ({
  kind: 'unsafe',
  reason,
  listed: host + path,
});

/** What this entry of the safety list says of a repository that redirects to what it names. */
const redirectDoubt = (entry: SafetyEntry): UnsafeDoubt => {
  const { reason, ...doubt } = unsafeDoubt(entry);
  return { ...doubt, reason: `It redirects to ${doubt.listed}. ${reason}` };
};

/** What the safety list says of a repository, or of where it redirects to; undefined if it names neither. */
export const findUnsafeDoubt = (
  safety: Pick<ExplainedSafetyList<SafetyEntry>, 'find'>,
  uri: string,
  findings: Parameters<typeof readRedirectTargets>[0],
): UnsafeDoubt | undefined => {
  const found = findUnsafe(safety, uri, readRedirectTargets(findings));
  return found && (found.target === undefined ? unsafeDoubt(found.entry) : redirectDoubt(found.entry));
};

/**
 * Why not to add a repository, which `unsafe`, the words of the safety list, says before all else, or why its data may be
 * out of date; undefined if nothing says so. Without the reason of a failure and how long it has lasted, which change with
 * each build. The page of the repository has them.
 */
export const doubtOf = (
  {
    outcome,
    changedAt,
    findings,
  }: Pick<Repository, 'outcome' | 'changedAt'> & {
    readonly findings: readonly Pick<Repository['findings'][number], 'code'>[];
  },
  builtAt: string | undefined,
  unsafe?: UnsafeDoubt,
): Doubt | undefined => {
  if (unsafe !== undefined) return unsafe;
  if (isTroubled(outcome)) {
    const since = outcome.confirmedAt ?? changedAt;
    if (isHeldBack(outcome)) return { kind: 'held', since };
    const isLately = builtAt !== undefined && Date.parse(builtAt) - Date.parse(since) < badDayMs;
    return { kind: isLately ? 'lately' : 'failing', since };
  }
  if (findings.some(({ code }) => code === 'release-expired')) return { kind: 'expired' };
  if (builtAt === undefined) return undefined;
  const years = (Date.parse(builtAt) - Date.parse(changedAt)) / 31_557_600_000;
  return years > yearsToDoubt ? { kind: 'old', since: changedAt } : undefined;
};
