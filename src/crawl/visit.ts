import { setTimeout as sleep } from 'node:timers/promises';
import { createDigests, type Digests, type HashAlgorithm } from '../apt/checksums.ts';
import { type Finding, FindingCounter } from '../contract/findings.ts';
import type { ManifestEntry } from '../contract/manifest.ts';
import { sayRedirect } from '../contract/redirected.ts';
import type { Fetcher, FetchResult } from '../net/fetcher.ts';
import { NetworkError, type NetworkErrorCode } from '../net/network-error.ts';
import { computePause, parseRetryAfter } from '../net/retry.ts';
import type { Attempts, Found, HeldBack, SnapshotFile, Topic } from '../snapshots/snapshot.ts';
import type { SnapshotStore, StagedFile } from '../snapshots/store.ts';
import { isPaused } from './back-off.ts';
import { tapped } from './content.ts';
import { type CrawlCode, CrawlError, sayMinute } from './crawl-error.ts';
import type { CrawlLimits } from './crawl-limits.ts';
import { networkFailures } from './network-failures.ts';
import type { Place, Wait } from './visit-places.ts';

/** A completely received file, staged in the store. */
export interface Received {
  readonly kind: 'received';
  /** Below the repository's address, with a leading "/". */
  readonly path: string;
  readonly file: StagedFile;
  readonly digests: Digests;
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** False if a cut connection would look like the end of the file. */
  readonly framed: boolean;
  /** The compression of the transfer, which is not undone. */
  readonly encoding: string | null;
}

/**
 * The result of requesting a file: the file, a statement that it did not change, or the reason why it is not available.
 */
export type Answer =
  | Received
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'absent'; readonly status: number }
  | { readonly kind: 'unusable'; readonly error: NetworkError };

/** What to request, and how much may be received at most. */
interface AskOptions {
  readonly maxBytes: number;
  readonly known?: Pick<SnapshotFile, 'etag' | 'lastModified'> | undefined;
  readonly digests?: readonly HashAlgorithm[];
}

/** A requested file: its name, and its address. */
interface AskedFile {
  readonly path: string;
  readonly url: URL;
  /** Whether it has an address of its own rather than one below that of the repository. */
  readonly elsewhere?: boolean;
}

/** What a visit needs. It is the same for every repository of a run. */
export interface VisitTools {
  readonly store: SnapshotStore;
  readonly fetcher: Fetcher;
  readonly now: () => Date;
  readonly limits: CrawlLimits;
  /** Whether the native depictions of packages are requested. */
  readonly depictions: boolean;
}

/** What is wrong with an answer rather than with an address: who has to mend it needs to know which file it was. */
const faultsOfAnswers: ReadonlySet<NetworkErrorCode> = new Set([
  'too-slow',
  'too-large',
  'headers-too-large',
  'truncated',
  'protocol',
]);

/** What a visit asks for aside, which the failures of a whole origin do not name. */
const filesAside: Readonly<Partial<Record<Topic, string>>> = {
  inrelease: 'InRelease',
  signature: 'Release.gpg',
  payment: 'payment_endpoint',
  index: 'Packages',
};

const nameAside = (topic: Topic, message: string): string => {
  const name = filesAside[topic];
  return name === undefined || message.includes(name) ? message : `${name}: ${message}`;
};

/** One visit to one repository: requests its files, counts what that costs, and collects what is wrong with them. */
export class Visit {
  readonly entry: ManifestEntry;
  readonly store: SnapshotStore;
  readonly limits: CrawlLimits;
  readonly now: () => Date;
  requests = 0;
  bytes = 0;
  /** What the origin served last time and was not taken. If it serves that again, the visit ends as it did then. */
  held: HeldBack | null = null;
  /** What earlier visits found. */
  known: Found = {};
  /**
   * Whether to request without a condition what tells that anything has changed: some servers answer 304 to every
   * condition, and what they have would never be seen to change.
   */
  anew = false;
  /** The pauses that the origin requested, for topics that the visit can do without. */
  pauses: Attempts['pauses'] = {};
  readonly #fetcher: Fetcher;
  readonly #place: Place;
  /** Aborted when the visit's budget is used up, or with the crawl. */
  readonly signal: AbortSignal;
  readonly #base: string;
  readonly #staged = new Set<StagedFile>();
  readonly #found = new Map<Topic, FindingCounter>();
  #topic: Topic = 'release';
  #busy = false;
  #hasAnswered = false;
  #repetitions: number;

  constructor(entry: ManifestEntry, tools: VisitTools, place: Place, signal: AbortSignal) {
    this.entry = entry;
    this.store = tools.store;
    this.limits = tools.limits;
    this.now = tools.now;
    this.#fetcher = tools.fetcher;
    this.#place = place;
    this.signal = signal;
    this.#base = new URL(entry.uri).href.replace(/\/*$/, '');
    this.#repetitions = tools.limits.repetitions;
  }

  /**
   * Requests the file at `path` (with a leading "/"), conditionally if `known` is given, and computes its `digests`.
   * Transient failures are retried, as often as one visit may. Throws `CrawlError` if the origin as a whole cannot be
   * used, or it still serves what is held back.
   */
  get(path: string, options: AskOptions): Promise<Answer> {
    return this.#get({ path, url: new URL(this.#base + path) }, options);
  }

  /**
   * The same for a file at any address, such as one that a package names. Its host receives no headers that are meant
   * for the repository's own, and its redirects say nothing about the repository.
   */
  getElsewhere(url: URL, options: AskOptions): Promise<Answer> {
    return this.#get({ path: url.href, url, elsewhere: true }, options);
  }

  async #get(file: AskedFile, options: AskOptions): Promise<Answer> {
    const wait = this.#place.wait(this.signal);
    try {
      return await this.#ask(file, options, wait);
    } finally {
      // At this point no turn at a host is held for which another visit, which holds a place, could be waiting.
      await wait.end().catch(() => {});
    }
  }

  /** Turns to `topic`, which all following findings belong to. Returns the previous topic. */
  turnTo(topic: Topic): Topic {
    const before = this.#topic;
    this.#topic = topic;
    if (!this.#found.has(topic)) this.#found.set(topic, new FindingCounter());
    return before;
  }

  /** What is wrong with the current topic. */
  get findings(): FindingCounter {
    this.turnTo(this.#topic);
    return this.#found.get(this.#topic) as FindingCounter;
  }

  /** What the visit has found so far. A topic that it has not turned to is missing. */
  get found(): Found {
    return Object.fromEntries([...this.#found].map(([topic, counter]): [Topic, Finding[]] => [topic, counter.list()]));
  }

  /** The pauses that are not over yet. What is not asked about has no endless pause. */
  lastingPauses(now: Date): Attempts['pauses'] {
    return Object.fromEntries(
      Object.entries(this.pauses).filter(([, until]) => isPaused(until, now, this.limits.holdMs)),
    );
  }

  /**
   * Asks about something that the visit can do without: if the origin does not answer, that is a finding. Returns
   * undefined then, and if the origin requested a pause that is not over yet, or one of this kind earlier in the visit.
   */
  async askAside<T>(topic: Topic, ask: () => Promise<T>): Promise<T | undefined> {
    const until = this.pauses[topic];
    if (this.#busy || (until !== undefined && isPaused(until, this.now(), this.limits.holdMs))) return undefined;
    const before = this.turnTo(topic);
    const { [topic]: _, ...others } = this.pauses;
    this.pauses = others;
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof CrawlError)) throw error;
      // Each depiction records its own result.
      if (topic !== 'depiction') this.findings.add('extras-unanswered', nameAside(topic, error.message));
      if (error.notBefore) this.pauses = { ...others, [topic]: error.notBefore.toISOString() };
      this.#busy = error.code === 'origin-busy';
      return undefined;
    } finally {
      this.turnTo(before);
    }
  }

  /** Removes received files that were not kept. */
  async end(): Promise<void> {
    for (const file of [...this.#staged]) await this.discard(file);
  }

  /** Removes a received file that turned out to be useless. */
  async discard(file: StagedFile): Promise<void> {
    this.#staged.delete(file);
    await file.discard();
  }

  /** The files received so far. */
  get staged(): readonly StagedFile[] {
    return [...this.#staged];
  }

  // The file that shows whether what is held back is still served: the release, if no other index can belong to it.
  #heldFile(path: string): SnapshotFile | undefined {
    const file = this.held?.listed ? this.held.release : this.held?.packages;
    return file?.path === path ? file : undefined;
  }

  #holdBack(): CrawlError {
    const { code, detail } = this.held ?? { code: 'internal', detail: '' };
    return new CrawlError(code as CrawlCode, detail, this.held ? { refused: this.held } : {});
  }

  // How many milliseconds to wait if the origin requests a short pause; throws if it is too long. A pause that is over
  // already, as of 0 seconds, is none to keep: the origin is left alone as if it had not said how long.
  #readPause({ status, retryAfter, url }: FetchResult): number | undefined {
    if (status !== 429 && !(status === 503 && retryAfter !== null)) return undefined;
    const now = this.now();
    const until = parseRetryAfter(retryAfter, now, this.limits.holdMs);
    const wait = until === undefined ? Number.POSITIVE_INFINITY : until.getTime() - now.getTime();
    if (wait <= this.limits.waitMs && this.#repetitions > 0) return wait;
    const notBefore = wait > 0 ? until : undefined;
    const words = notBefore === undefined ? '' : `, not before ${sayMinute(notBefore.toISOString())}`;
    throw new CrawlError('origin-busy', `status ${status} for ${url}${words}`, notBefore ? { notBefore } : {});
  }

  async #ask(file: AskedFile, options: AskOptions, wait: Wait): Promise<Answer> {
    const { path, url, elsewhere = false } = file;
    const held = elsewhere ? undefined : this.#heldFile(path);
    const isOwn = !elsewhere || url.origin === new URL(this.#base).origin;
    const known = held ?? options.known;
    for (let repetition = 1; ; repetition++) {
      let pause = computePause(this.limits.retryPauseMs, repetition);
      try {
        const result = await this.#fetcher.fetch(url, {
          maxBytes: options.maxBytes,
          etag: known?.etag ?? null,
          lastModified: known?.lastModified ?? null,
          headers: isOwn ? this.entry.headers : undefined,
          signal: this.signal,
          onRequest: () => {
            this.requests++;
          },
        });
        wait.answered();
        this.#hasAnswered = true;
        const asked = this.#readPause(result);
        if (asked !== undefined) pause = Math.max(pause, asked);
        else if (result.status < 500 || this.#repetitions === 0) {
          const answer = await this.#receive(file, result, { ...options, known });
          if (
            held &&
            (answer.kind === 'unchanged' || (answer.kind === 'received' && answer.file.sha256 === held.sha256))
          )
            throw this.#holdBack();
          return answer;
        }
      } catch (error) {
        if (!(error instanceof NetworkError)) throw error;
        // If an origin has not answered at all yet, its silence is an outage, and a retry would double what that costs.
        const repeatable = error.transient && !(error.code === 'timeout' && (repetition > 1 || !this.#hasAnswered));
        if (!repeatable || this.#repetitions === 0 || this.signal.aborted) return this.#giveUp(error, path);
      }
      this.#repetitions--;
      wait.again();
      await sleep(pause, undefined, { signal: this.signal }).catch((error: unknown) => {
        throw new CrawlError('aborted', `during a pause before ${path}`, { cause: error });
      });
    }
  }

  async #receive(
    { path, url: asked, elsewhere = false }: AskedFile,
    result: FetchResult,
    options: { known?: unknown; digests?: readonly HashAlgorithm[] },
  ): Promise<Answer> {
    // Nothing comes from where a file is not. Only of the Release it helps to know where that was looked for.
    const isTold = !elsewhere && (result.status === 200 || result.status === 304 || this.#topic === 'release');
    if (isTold && result.url.href !== asked.href) this.findings.add('redirected', sayRedirect(asked, result.url));
    if (result.status === 304 && options.known !== undefined) return { kind: 'unchanged' };
    if (result.status !== 200) return { kind: 'absent', status: result.status };
    const digests = createDigests(options.digests ?? []);
    const count = (chunk: Uint8Array) => {
      this.bytes += chunk.length;
      digests.update(chunk);
    };
    let file: StagedFile;
    try {
      file = await this.store.stage(this.entry.slug, tapped(result.body, count));
    } finally {
      await result.discard();
    }
    this.#staged.add(file);
    const encoding = result.contentEncoding?.trim().toLowerCase() ?? '';
    return {
      kind: 'received',
      path,
      file,
      digests: digests.result(),
      etag: result.etag,
      lastModified: result.lastModified,
      framed: result.framed,
      encoding: encoding === '' || encoding === 'identity' ? null : encoding,
    };
  }

  #giveUp(cause: NetworkError, path: string): Answer {
    const { code } = cause;
    const isNamed = !faultsOfAnswers.has(code) || cause.message.includes(path);
    const error = isNamed ? cause : new NetworkError(code, `${path}: ${cause.message}`, { cause });
    if (networkFailures[code].of === 'file') return { kind: 'unusable', error };
    throw new CrawlError(code, error.message, { cause: error });
  }
}
