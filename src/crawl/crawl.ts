import { type Finding, FindingCounter } from '../contract/findings.ts';
import { limitNote } from '../contract/limits.ts';
import type { ManifestEntry } from '../contract/manifest.ts';
import type { VisitOutcome } from '../contract/status.ts';
import type { Fetcher } from '../net/fetcher.ts';
import { HostQueue } from '../net/host-queue.ts';
import { NetworkError } from '../net/network-error.ts';
import type { Attempts, Found, Remembered, Signing, Snapshot } from '../snapshots/snapshot.ts';
import { SnapshotError, type SnapshotStore } from '../snapshots/store.ts';
import { assertRested, attemptsAt, backOff, withoutBackOff } from './back-off.ts';
import { type CrawlCode, CrawlError, sayFault } from './crawl-error.ts';
import { type CrawlLimits, usualLimits } from './crawl-limits.ts';
import { crawlRepository, isPredecessor, type Visited } from './crawl-repository.ts';
import { visitDepictions } from './depictions.ts';
import { readStoredRelease } from './fetch-release.ts';
import { Visit, type VisitTools } from './visit.ts';
import { composeFindings } from './visit-findings.ts';
import { type Place, Places } from './visit-places.ts';

/**
 * The outcome of one repository. `fresh`: the bytes of its release or index changed. `unchanged`: the origin confirmed
 * the last snapshot. `stale`: nothing usable came, and the last snapshot stays. `failed`: nothing usable came, and
 * there is no snapshot.
 */
export interface CrawlOutcome {
  readonly slug: string;
  readonly outcome: VisitOutcome;
  readonly code: CrawlCode | null;
  /** The code of the failure because of which the origin was not asked, if it was not. */
  readonly earlier?: string | undefined;
  /** A sentence for the operator. */
  readonly reason: string | null;
  /** Only the evidence in that sentence. */
  readonly detail: string | null;
  readonly requests: number;
  /** When the origin last confirmed the snapshot that is in force now; null if there is none. */
  readonly confirmedAt: string | null;
  /** Bytes received in bodies. */
  readonly bytes: number;
  /** Everything that is known to be wrong with the repository now, except what its stanzas contain. */
  readonly findings: Finding[];
  /** How the release of that snapshot is signed; null if there is none. */
  readonly signing: Signing | null;
  readonly seconds: number;
}

/** What a crawl needs, and how much it may do at the same time and in total. */
export interface CrawlOptions {
  readonly store: SnapshotStore;
  readonly fetcher: Fetcher;
  readonly now: () => Date;
  /** How many repositories are worked on at the same time. At any one host there are never more than two. */
  readonly concurrency?: number;
  readonly limits?: Partial<CrawlLimits>;
  readonly onOutcome?: (outcome: CrawlOutcome, done: number, total: number) => void;
  /** Aborts the crawl, which then rejects with the signal's reason. Unfinished repositories stay as they were. */
  readonly signal?: AbortSignal;
  /** Ends the crawl early. Unfinished repositories stay as they were and have no outcome. */
  readonly stop?: AbortSignal | undefined;
  /** Slugs of repositories that are visited although they are to be left alone for a while. */
  readonly retryNow?: ReadonlySet<string> | undefined;
  /** Whether to request the native depictions that packages name; by default not. */
  readonly depictions?: boolean;
}

const usualConcurrency = 32;
const visitsPerHost = 2;

const toCrawlError = (error: unknown, budget: AbortSignal, limits: CrawlLimits): CrawlError => {
  if (budget.aborted)
    return new CrawlError('budget-exceeded', limitNote('repositoryMs', limits.repositoryMs), { cause: error });
  if (error instanceof CrawlError) return error;
  const isStore = error instanceof SnapshotError || (error instanceof Error && 'syscall' in error);
  return new CrawlError(isStore ? 'store-failed' : 'internal', sayFault(error), { cause: error });
};

/** The last snapshot. One that the store cannot return completely counts as none, and the visit replaces it. */
const readPrevious = async (visit: Visit): Promise<Snapshot | undefined> => {
  try {
    return await visit.store.read(visit.entry.slug);
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    visit.findings.add('snapshot-damaged', error.message);
    return undefined;
  }
};

const visitOnce = async (
  previous: Snapshot | undefined,
  known: { accepted: Attempts['accepted']; remembered: Remembered | null },
  visit: Visit,
): Promise<Visited> => {
  try {
    return await crawlRepository(visit, previous, known);
  } catch (error) {
    // The store found its own damage during the visit, which begins again without that snapshot.
    if (!(error instanceof SnapshotError) || previous === undefined) throw error;
    visit.findings.add('snapshot-damaged', error.message);
    return await crawlRepository(visit, undefined, known);
  }
};

/** The findings of visits after this one. Findings about the bytes of an index belong to the snapshot. */
const mergeFound = (before: Found, { found: { content: _, ...found } }: Visit): Found => ({ ...before, ...found });

// If depictions are not requested any more, nobody can fix old findings about them.
const withoutDepictions = ({ depiction: _, ...found }: Found): Found => found;

/** The findings if a visit took nothing new, and the earlier data stays. */
const findStale = async (visit: Visit, before: Snapshot, found: Found, now: Date): Promise<Finding[] | undefined> => {
  try {
    const release = await readStoredRelease(visit, before);
    const findings = composeFindings(before, release, before.signing, found, now);
    return isPredecessor(before, visit.entry) ? findings : withFormerAddress(findings, before, visit.entry);
  } catch (error) {
    // What cannot be read cannot be judged, so the known findings stay.
    if (visit.signal.aborted || error instanceof SnapshotError || error instanceof CrawlError) return undefined;
    throw error;
  }
};

const withFormerAddress = (findings: readonly Finding[], { origin }: Snapshot, entry: ManifestEntry): Finding[] => {
  const counter = new FindingCounter();
  const place = ({ uri, suite }: Pick<ManifestEntry, 'uri' | 'suite'>) => (suite === './' ? uri : `${uri} ${suite}`);
  counter.addAll(findings);
  counter.add('address-former', `${place(origin)}, until ${place(entry)} has answered`);
  return counter.list();
};

type Result = Omit<CrawlOutcome, 'slug' | 'seconds' | 'requests' | 'bytes'>;

const crawlOne = async (
  entry: ManifestEntry,
  tools: VisitTools,
  place: Place,
  { outer, isRetry }: { readonly outer: AbortSignal | undefined; readonly isRetry: boolean },
): Promise<CrawlOutcome> => {
  const since = performance.now();
  const { store, limits } = tools;
  const now = tools.now();
  const budget = AbortSignal.timeout(limits.repositoryMs);
  const visit = new Visit(entry, tools, place, outer ? AbortSignal.any([budget, outer]) : budget);
  let before: Snapshot | undefined;
  let attempts: Attempts | undefined;

  const succeed = async (): Promise<Result> => {
    await store.removeTemporary(entry.slug);
    before = await readPrevious(visit);
    const usable = before && isPredecessor(before, entry) ? before : undefined;
    const kept = attemptsAt(entry.uri, await store.readAttempts(entry.slug));
    attempts = isRetry ? withoutBackOff(kept) : kept;
    const { accepted } = attempts;
    const known = (await store.history.read(entry.slug)).remembered ?? attempts.remembered;
    if (usable !== undefined || (known && isPredecessor(known, entry))) {
      visit.held = attempts.refused;
      visit.known = tools.depictions ? attempts.found : withoutDepictions(attempts.found);
      visit.pauses = attempts.pauses;
    }
    assertRested(attempts, now, visit.limits.holdMs);
    const visited = await visitOnce(usable, { accepted, remembered: known }, visit);
    const { snapshot, release, changed, remembered } = visited;
    const { signing } = snapshot;
    if (tools.depictions) await visitDepictions(visit, snapshot);
    const found = mergeFound(visit.known, visit);
    const findings = composeFindings(snapshot, release, signing, found, now);
    await store.history.update(entry.slug, { remembered });
    await store.writeAttempts(
      entry.slug,
      backOff.succeeded(now, { found, findings, pauses: visit.lastingPauses(now) }),
    );
    const outcome = changed ? 'fresh' : 'unchanged';
    return { outcome, code: null, reason: null, detail: null, findings, signing, confirmedAt: now.toISOString() };
  };
  const fail = async (thrown: unknown): Promise<Result> => {
    outer?.throwIfAborted();
    const error = toCrawlError(thrown, budget, limits);
    const isAsked = error.code !== 'backing-off';
    const found = isAsked ? mergeFound(visit.known, visit) : visit.known;
    const findings = before && (await findStale(visit, before, found, now));
    if (attempts) {
      const told = findings ? { ...attempts, found, findings } : attempts;
      const next = isAsked ? backOff.failed(told, error, now) : told;
      const isNew = JSON.stringify(next) !== JSON.stringify(attempts);
      // A store that cannot be written has been reported already.
      if (isNew) await store.writeAttempts(entry.slug, next).catch(() => {});
    }
    const signing = before?.signing ?? null;
    const { code, message: reason, detail, earlier } = error;
    // A snapshot from before is still shown, and was confirmed at that time. Of a lost one the attempts tell.
    const confirmedAt = before?.checkedAt ?? attempts?.succeededAt ?? null;
    const known = findings ?? attempts?.findings ?? [];
    const outcome = before ? 'stale' : 'failed';
    return { outcome, code, earlier, reason, detail, findings: known, signing, confirmedAt };
  };

  try {
    const result = await succeed().catch(fail);
    const seconds = (performance.now() - since) / 1000;
    return { slug: entry.slug, ...result, requests: visit.requests, bytes: visit.bytes, seconds };
  } finally {
    await visit.end();
  }
};

const rejectedAs = (signal: AbortSignal | undefined, reason: unknown): boolean =>
  signal?.aborted === true &&
  (reason === signal.reason || (reason instanceof NetworkError && reason.code === 'aborted'));

/**
 * Crawls every entry into the store, several at the same time and at most two at any one host. Resolves to one outcome
 * for each entry, in their order, except those that were not visited because of `stop`. No failure of one repository
 * affects another. Rejects only if `signal` is aborted.
 */
export const crawlAll = async (entries: readonly ManifestEntry[], options: CrawlOptions): Promise<CrawlOutcome[]> => {
  const { store, fetcher, now, onOutcome, stop, retryNow } = options;
  const signals = [options.signal, stop].filter((one) => one !== undefined);
  const signal = signals.length === 0 ? undefined : AbortSignal.any(signals);
  const tools: VisitTools = {
    store,
    fetcher,
    now,
    limits: { ...usualLimits, ...options.limits },
    depictions: options.depictions === true,
  };
  const hosts = new HostQueue(visitsPerHost);
  const places = new Places(options.concurrency ?? usualConcurrency, tools.limits);
  let done = 0;
  const settled = await Promise.allSettled(
    entries.map(async (entry) => {
      const leaveHost = await hosts.acquire(new URL(entry.uri).host, signal);
      // A visit must not occupy a place of the crawl while it waits for its turn at a busy host.
      const place = await places.enter(signal).catch((error: unknown) => {
        leaveHost();
        throw error;
      });
      try {
        const outcome = await crawlOne(entry, tools, place, {
          outer: signal,
          isRetry: retryNow?.has(entry.slug) === true,
        });
        done++;
        onOutcome?.(outcome, done, entries.length);
        return outcome;
      } finally {
        place.leave();
        leaveHost();
      }
    }),
  );
  options.signal?.throwIfAborted();
  return settled.flatMap((result) => {
    if (result.status === 'fulfilled') return [result.value];
    if (rejectedAs(stop, result.reason)) return [];
    throw result.reason;
  });
};
