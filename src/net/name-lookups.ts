import type { LookupAddress } from 'node:dns';
import { HostQueue } from './host-queue.ts';
import { NetworkError, toNetworkError } from './network-error.ts';
import type { ResolveName } from './resolver.ts';

/** Limits of the names of a run. Times in milliseconds. */
export interface NameLimits {
  /** Names that are resolved at once. */
  readonly lookupsAtOnce: number;
  /** The wait for a turn among them. */
  readonly lookupWaitMs: number;
  /** One name, from its turn on. */
  readonly lookupMs: number;
  /** How long no name server of ours has answered when names are asked for one at a time. */
  readonly offlineMs: number;
}

/**
 * Resolves names with a limit, a queue and a clock of their own, so that one whose servers are slow costs its own
 * repository time and no other. Who asks for a name that is being resolved gets the same answer; none is kept.
 */
export class Names {
  readonly #resolve: ResolveName;
  readonly #limits: NameLimits;
  readonly #queue: HostQueue;
  readonly #underWay = new Map<string, Promise<LookupAddress[]>>();
  readonly #closed = new AbortController();
  /** When the first lookup began that no name server of ours answered; undefined where one answered since. */
  #silentSince: number | undefined;

  constructor(resolve: ResolveName, limits: NameLimits) {
    this.#resolve = resolve;
    this.#limits = limits;
    this.#queue = new HostQueue(limits.lookupsAtOnce);
  }

  /**
   * All addresses of a host. Rejects with a `NetworkError`: `dns` where that is the name's fault; `no-network` where it
   * is ours, because our name servers are silent or too many names wait for them. Once they were silent for a while, one
   * name at a time finds out whether they are back, and the others fail at once: a long list would take an hour to say
   * that there is no network.
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

  /** Gives up what is under way, so that no name keeps the process. */
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
        throw new NetworkError('no-network', `${hostname} had to wait for other names to be resolved`, { cause });
      });
    const clock = withClock(this.#closed.signal, lookupMs);
    const begun = performance.now();
    try {
      const found = await this.#resolve(hostname, clock);
      this.#silentSince = undefined;
      return found;
    } catch (error) {
      const failure = toNetworkError(error, false, hostname);
      if (failure.code === 'no-network') this.#silentSince ??= begun;
      else this.#silentSince = undefined;
      throw failure;
    } finally {
      leave();
    }
  }
}

const withClock = (signal: AbortSignal, ms: number): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(ms)]);
