import type { ManifestEntry } from '../contract/manifest.ts';
import { computePause } from '../net/retry.ts';
import { type Attempts, noAttempts, type Remembered } from '../snapshots/snapshot.ts';
import type { SnapshotStore } from '../snapshots/store.ts';
import { type CrawlCode, CrawlError } from './crawl-error.ts';

const minute = 60_000;
const longestMs = 6 * 60 * minute;

// Failures of the connection and of the server, where asking again soon adds to the trouble. A file that is wrong or
// missing costs its origin little and is worth looking at in every run.
const troubles: ReadonlySet<CrawlCode> = new Set([
  'dns',
  'connection',
  'tls',
  'certificate-expired',
  'certificate-untrusted',
  'certificate-name',
  'timeout',
  'too-slow',
  'server-error',
  'budget-exceeded',
]);

/** How long to leave an origin alone after its `failures`th failure in a row; the first of most kinds is forgiven. */
const computeDelay = (code: CrawlCode, failures: number, random?: () => number): number => {
  if (code === 'origin-busy') return Math.min(longestMs, computePause(5 * minute, failures, random));
  if (!troubles.has(code) || failures < 2) return 0;
  return Math.min(longestMs, computePause(minute, failures - 1, random));
};

/** What to remember of an attempt. */
export const backOff = {
  succeeded: (now: Date, remembered: Remembered | null): Attempts => ({
    ...noAttempts,
    succeededAt: now.toISOString(),
    remembered,
  }),

  /** `before` is what was remembered until now; `random` replaces Math.random. */
  failed: (before: Attempts, error: CrawlError, now: Date, random?: () => number): Attempts => {
    const failures = before.failures + 1;
    const delay = computeDelay(error.code, failures, random);
    const notBefore = error.notBefore ?? (delay > 0 ? new Date(now.getTime() + delay) : undefined);
    return {
      succeededAt: before.succeededAt,
      failures,
      failedAt: now.toISOString(),
      code: error.code,
      reason: error.message,
      notBefore: notBefore?.toISOString() ?? null,
      askedByOrigin: error.code === 'origin-busy',
      refused: error.refused ?? before.refused,
      accepted: before.accepted,
      remembered: before.remembered,
    };
  },
};

/** The pauses that origins asked for, which hold for every repository at the same host. */
export class HostPauses {
  readonly #until = new Map<string, string>();

  /** The pauses that earlier runs remembered. */
  static async restore(entries: readonly ManifestEntry[], store: SnapshotStore): Promise<HostPauses> {
    const pauses = new HostPauses();
    for (const entry of entries) pauses.note(entry, await store.readAttempts(entry.slug));
    return pauses;
  }

  note(entry: ManifestEntry, attempts: Attempts): void {
    if (!attempts.askedByOrigin || attempts.notBefore === null) return;
    const host = new URL(entry.uri).origin;
    const known = this.#until.get(host);
    if (known === undefined || known < attempts.notBefore) this.#until.set(host, attempts.notBefore);
  }

  /** Throws `CrawlError` `backing-off` where the repository or its host is to be left alone still. */
  assertOver(entry: ManifestEntry, attempts: Attempts, now: Date): void {
    const moment = now.toISOString();
    if (attempts.notBefore !== null && attempts.notBefore > moment) {
      throw new CrawlError('backing-off', `${attempts.reason} Next attempt after ${attempts.notBefore}`);
    }
    const host = new URL(entry.uri).origin;
    const until = this.#until.get(host);
    if (until !== undefined && until > moment) {
      throw new CrawlError('backing-off', `${host} asked for a pause. Next attempt after ${until}`);
    }
  }
}
