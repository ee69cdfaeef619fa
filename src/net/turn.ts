import { limitNote } from '../contract/limits.ts';
import type { HostQueue } from './host-queue.ts';
import { NetworkError } from './network-error.ts';

/** Limits of one request, in milliseconds; `createFetcher` has the defaults. */
export interface FetchLimits {
  readonly connectMs: number;
  /** From the start of a request to the end of its headers. */
  readonly headersMs: number;
  /** A whole request with its redirects and its body, without the wait for a turn. */
  readonly totalMs: number;
  readonly minBytesPerSecond: number;
  /** How long a body may wait in total without penalty. */
  readonly graceMs: number;
  readonly headerBytes: number;
  /** How much may arrive with each answer besides nine times its body; see `WireMeter`. */
  readonly framingBytes: number;
  readonly redirects: number;
  readonly connectionsPerHost: number;
}

/** The turn of a request at its host: the signal that ends the request, and the running timeouts. */
export interface Turn {
  readonly signal: AbortSignal;
  abort(reason: NetworkError): void;
  headersArrived(): void;
  /** Returns the turn, and how many milliseconds it took. */
  end(): number;
}

/**
 * Waits for a turn at the host of `url` and starts the timeouts of a request: one until its headers, and one of
 * `totalMs`. A timeout, and `outer`, abort `signal` with a `NetworkError` as the reason.
 */
export const takeTurn = async (
  queue: HostQueue,
  url: URL,
  limits: FetchLimits,
  totalMs: number,
  outer?: AbortSignal,
): Promise<Turn> => {
  // Not by origin: http and https of a name lead to one machine.
  const release = await queue.acquire(url.host, outer);
  const since = performance.now();
  const controller = new AbortController();
  const abort = (reason: NetworkError) => controller.abort(reason);
  const silent = setTimeout(() => {
    abort(new NetworkError('timeout', `${url} did not answer (${limitNote('headersMs', limits.headersMs)})`));
  }, limits.headersMs);
  const overdue = setTimeout(() => {
    abort(new NetworkError('too-slow', `${url} took too long (${limitNote('totalMs', limits.totalMs)})`));
  }, totalMs);
  const giveUp = () => abort(new NetworkError('aborted', `gave up on ${url}`, { cause: outer?.reason }));
  outer?.addEventListener('abort', giveUp, { once: true });
  return {
    signal: controller.signal,
    abort,
    headersArrived: () => clearTimeout(silent),
    end: () => {
      clearTimeout(silent);
      clearTimeout(overdue);
      outer?.removeEventListener('abort', giveUp);
      release();
      return performance.now() - since;
    },
  };
};
