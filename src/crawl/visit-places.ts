import { HostQueue } from '../net/host-queue.ts';

/** Limits on what a crawl does at the same time. */
export interface PlaceLimits {
  /** How long a visit keeps its place while its origin is silent, in milliseconds. */
  readonly placeMs: number;
  /** How many repositories are visited at the same time, including those that wait for their origin. */
  readonly visitsUnderWay: number;
}

/** The time during which a visit waits for its origin. */
export interface Wait {
  /** The origin answers, so a place that is still held is kept. */
  answered(): void;
  /** The visit waits for the origin again. */
  again(): void;
  /** The wait is over. Resolves when the visit has a place, a new one if it had given up the old one. */
  end(): Promise<void>;
}

/** The place of a visit among those that a crawl works on at the same time. */
export interface Place {
  /** Begins to wait for the origin. A visit that waits for longer than `placeMs` continues without a place. */
  wait(signal: AbortSignal): Wait;
  leave(): void;
}

/**
 * The places of a crawl. A long list has many origins that never answer. They would otherwise occupy all places in
 * turn, and everybody else would queue behind them.
 */
export class Places {
  readonly #limits: PlaceLimits;
  readonly #worked: HostQueue;
  readonly #underWay: HostQueue;

  /** `concurrency` repositories are worked on at the same time. */
  constructor(concurrency: number, limits: PlaceLimits) {
    this.#limits = limits;
    this.#worked = new HostQueue(concurrency);
    this.#underWay = new HostQueue(Math.max(concurrency, limits.visitsUnderWay));
  }

  /** Waits for a place. Rejects if `signal` is aborted. */
  async enter(signal: AbortSignal | undefined): Promise<Place> {
    const leaveAll = await this.#underWay.acquire('', signal);
    let leave: (() => void) | undefined;
    try {
      leave = await this.#worked.acquire('', signal);
    } catch (error) {
      leaveAll();
      throw error;
    }
    const giveUp = () => {
      leave?.();
      leave = undefined;
    };
    const wait = (visit: AbortSignal): Wait => {
      let clock = setTimeout(giveUp, this.#limits.placeMs);
      return {
        answered: () => clearTimeout(clock),
        again: () => {
          clearTimeout(clock);
          clock = setTimeout(giveUp, this.#limits.placeMs);
        },
        end: async () => {
          clearTimeout(clock);
          leave ??= await this.#worked.acquire('', visit);
        },
      };
    };
    return {
      wait,
      leave: () => {
        giveUp();
        leaveAll();
      },
    };
  }
}
