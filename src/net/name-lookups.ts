import type { LookupAddress } from 'node:dns';
import { limitNote } from '../contract/limits.ts';
import { HostQueue } from './host-queue.ts';
import { NetworkError, toNetworkError } from './network-error.ts';
import type { ResolveName } from './resolver.ts';

/** Limits of resolving names in a run. Times are in milliseconds. */
export interface NameLimits {
  /** How many names are resolved at the same time. */
  readonly lookupsAtOnce: number;
  /** How long a name may wait for its turn. */
  readonly lookupWaitMs: number;
  /** How long resolving one name may take. */
  readonly lookupMs: number;
  /** How long our name servers must have been silent before names are tried one at a time. */
  readonly offlineMs: number;
}

/**
 * Resolves names with a limit, a queue and a timeout of their own, so that a name with slow servers only costs its own
 * repository time. Simultaneous requests for the same name share an answer; answers are not kept.
 */
export class Names {
  readonly #resolve: ResolveName;
  readonly #limits: NameLimits;
  readonly #queue: HostQueue;
  readonly #underWay = new Map<string, Promise<LookupAddress[]>>();
  readonly #closed = new AbortController();
  /** When the first lookup began that none of our name servers answered; undefined if one has answered since. */
  #silentSince: number | undefined;

  constructor(resolve: ResolveName, limits: NameLimits) {
    this.#resolve = resolve;
    this.#limits = limits;
    this.#queue = new HostQueue(limits.lookupsAtOnce);
  }

  /**
   * All addresses of a host. Rejects with a `NetworkError`: `dns` if the fault is the name's; `no-network` if it is
   * ours, because our name servers are silent or too many names wait for them. After they were silent for a while, one
   * name at a time checks whether they are back, and the others fail at once; nobody need repeat either. Otherwise a
   * long list would take an hour to find out that there is no network.
   */
  find(hostname: string): Promise<LookupAddress[]> {
    const known = this.#underWay.get(hostname);
    if (known) return known;
    if (this.#underWay.size > 0 && this.#isOffline()) {
      const words = `${hostname} was not asked for: no name server of the system answers`;
      return Promise.reject(new NetworkError('no-network', words, { transient: false }));
    }
    const lookup = this.#find(hostname).finally(() => this.#underWay.delete(hostname));
    this.#underWay.set(hostname, lookup);
    return lookup;
  }

  /** Cancels pending lookups, so that no name keeps the process alive. */
  close(): void {
    this.#closed.abort();
  }

  #isOffline(): boolean {
    return this.#silentSince !== undefined && performance.now() - this.#silentSince > this.#limits.offlineMs;
  }

  async #find(hostname: string): Promise<LookupAddress[]> {
    const { lookupWaitMs, lookupMs } = this.#limits;
    const leave = await this.#queue
      .acquire('', withClock(this.#closed.signal, lookupWaitMs))
      .catch((cause: unknown) => {
        const words = `${hostname} had to wait for other names to be resolved`;
        throw new NetworkError('no-network', `${words} (${limitNote('lookupWaitMs', lookupWaitMs)})`, { cause });
      });
    const clock = withClock(this.#closed.signal, lookupMs);
    const begun = performance.now();
    const wasOffline = this.#isOffline();
    try {
      const found = await this.#resolve(hostname, clock);
      this.#silentSince = undefined;
      return found;
    } catch (error) {
      const failure = toNetworkError(error, false, hostname);
      // A server that denies all names answers at once, and may know those of a network of its own.
      if (failure.code !== 'no-network' || !failure.transient) {
        this.#silentSince = undefined;
        throw clock.aborted ? withLimit(failure, lookupMs) : failure;
      }
      this.#silentSince ??= begun;
      const { code, message, cause } = failure;
      throw wasOffline ? new NetworkError(code, message, { cause, transient: false }) : failure;
    } finally {
      leave();
    }
  }
}

/** A name's own silence, with the limit that ended it. */
const withLimit = (failure: NetworkError, lookupMs: number): NetworkError => {
  const { code, message, cause, transient } = failure;
  if (code !== 'dns') return failure;
  return new NetworkError(code, `${message} (${limitNote('lookupMs', lookupMs)})`, { cause, transient });
};

const withClock = (signal: AbortSignal, ms: number): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(ms)]);
