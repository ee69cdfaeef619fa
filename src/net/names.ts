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

  constructor(resolve: ResolveName, limits: NameLimits) {
    this.#resolve = resolve;
    this.#limits = limits;
    this.#queue = new HostQueue(limits.lookupsAtOnce);
  }

  /**
   * All addresses of a host. Rejects with a `NetworkError`: `dns` where that is the name's fault; `no-network` where it
   * is ours, because our name servers are silent or too many names wait for them.
   */
  find(hostname: string): Promise<LookupAddress[]> {
    const known = this.#underWay.get(hostname);
    if (known) return known;
    const lookup = this.#find(hostname).finally(() => this.#underWay.delete(hostname));
    this.#underWay.set(hostname, lookup);
    return lookup;
  }

  /** Gives up what is under way, so that no name keeps the process. */
  close(): void {
    this.#closed.abort();
  }

  async #find(hostname: string): Promise<LookupAddress[]> {
    const { lookupWaitMs, lookupMs } = this.#limits;
    const leave = await this.#queue
      .acquire('', withClock(this.#closed.signal, lookupWaitMs))
      .catch((cause: unknown) => {
        throw new NetworkError('no-network', `${hostname} had to wait for other names to be resolved`, { cause });
      });
    const clock = withClock(this.#closed.signal, lookupMs);
    try {
      return await this.#resolve(hostname, clock);
    } catch (error) {
      throw toNetworkError(error, false, hostname);
    } finally {
      leave();
    }
  }
}

const withClock = (signal: AbortSignal, ms: number): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(ms)]);
