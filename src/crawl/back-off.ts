import { computePause } from '../net/retry.ts';
import { type Attempts, noAttempts } from '../snapshots/snapshot.ts';
import { type CrawlCode, CrawlError, sayMinute } from './crawl-error.ts';
import { type Fault, networkFailures } from './network-failures.ts';

const minute = 60_000;
const longestMs = 6 * 60 * minute;

// Faults of a visit as a whole rather than of one file.
const visitFaults: Readonly<Partial<Record<CrawlCode, Fault>>> = {
  'server-error': 'trouble',
  'budget-exceeded': 'trouble',
  'store-failed': 'ours',
  internal: 'ours',
};
const networkFaults: Readonly<Partial<Record<CrawlCode, { readonly fault: Fault }>>> = networkFailures;
const faultOf = (code: CrawlCode): Fault => networkFaults[code]?.fault ?? visitFaults[code] ?? 'content';

/**
 * How long to leave an origin alone after its `failures`th failure in a row. The first failure of most kinds is
 * forgiven.
 */
const computeDelay = (code: CrawlCode, failures: number, random?: () => number): number => {
  if (code === 'origin-busy') return Math.min(longestMs, computePause(5 * minute, failures, random));
  if (faultOf(code) !== 'trouble' || failures < 2) return 0;
  return Math.min(longestMs, computePause(minute, failures - 1, random));
};

/** What to remember of an attempt. */
export const backOff = {
  /** `told` is what is wrong although the attempt succeeded. */
  succeeded: (now: Date, told: Pick<Attempts, 'findings' | 'found' | 'pauses'>): Attempts => ({
    ...noAttempts,
    ...told,
    succeededAt: now.toISOString(),
  }),

  /** `before` is what was remembered until now; `random` replaces Math.random. */
  failed: (before: Attempts, error: CrawlError, now: Date, random?: () => number): Attempts => {
    const { message: reason, code } = error;
    const failedAt = now.toISOString();
    if (faultOf(code) === 'ours') return { ...before, failedAt, code, reason };
    const failures = before.failures + 1;
    const delay = computeDelay(code, failures, random);
    const notBefore = error.notBefore ?? (delay > 0 ? new Date(now.getTime() + delay) : undefined);
    return {
      ...before,
      failures,
      failedAt,
      code,
      reason,
      notBefore: notBefore?.toISOString() ?? null,
      askedByOrigin: code === 'origin-busy',
      refused: error.refused ?? before.refused,
    };
  },
};

// A running machine's clock is corrected by this much at most.
const driftMs = 60 * minute;

/**
 * Whether a pause that ends at `until`, ISO 8601, is not over yet. A pause that is longer than the longest credible
 * one, `holdMs`, was recorded under a clock that was ahead.
 */
export const isPaused = (until: string, now: Date, holdMs: number): boolean =>
  until > now.toISOString() && Date.parse(until) <= now.getTime() + holdMs + driftMs;

/**
 * Throws `CrawlError` `backing-off` if the repository is still to be left alone. A pause applies only to the repository
 * that was told to make it: many owners share a host, and one of them must not be able to silence the others.
 */
export const assertRested = ({ notBefore, reason, code }: Attempts, now: Date, holdMs: number): void => {
  if (notBefore === null || !isPaused(notBefore, now, holdMs)) return;
  throw new CrawlError('backing-off', `${reason} Next attempt after ${sayMinute(notBefore)}`, {
    earlier: code ?? undefined,
  });
};

/**
 * The part of these attempts that concerns the origin at `uri`. What another origin asked for or failed with is no
 * reason for a pause.
 */
export const attemptsAt = (uri: string, attempts: Attempts): Attempts =>
  attempts.uri === null || attempts.uri === uri
    ? { ...attempts, uri }
    : { ...attempts, uri, failures: 0, notBefore: null, askedByOrigin: false };

/** What is left of these attempts once the operator wants the repository to be asked: all but how long to leave it alone. */
export const withoutBackOff = (attempts: Attempts): Attempts => ({ ...attempts, failures: 0, notBefore: null });
