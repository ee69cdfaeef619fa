import { HostQueue } from '../net/host-queue.ts';

/** Limits of what a crawl does at once. */
export interface PlaceLimits {
  /** How long a place is kept while its origin is silent, in milliseconds. */
  readonly placeMs: number;
  /** Repositories under way at once, those that wait for their origin among them. */
  readonly visitsUnderWay: number;
}

/** The time in which a visit waits for its origin. */
export interface Wait {
  /** The origin answers: a place that is held still is kept. */
  answered(): void;
  /** It is waited for again. */
  again(): void;
  /** The wait is over: resolves when the visit has a place, a new one where the old one was given up. */
  end(): Promise<void>;
}

/** A visit's place among those that a crawl works on at once. */
export interface Place {
  /** Begins to wait for the origin. Who lets a crawl wait for longer than `placeMs` does so without a place. */
  wait(signal: AbortSignal): Wait;
  leave(): void;
}

/**
 * The places of a crawl. Origins that never answer, of which a long list has many, would otherwise hold them all in turn,
 * and everybody else would queue behind the dead.
 */
export class Places {
  readonly #limits: PlaceLimits;
  readonly #worked: HostQueue;
  readonly #underWay: HostQueue;

  /** `concurrency` repositories are worked on at once. */
  constructor(concurrency: number, limits: PlaceLimits) {
    this.#limits = limits;
    this.#worked = new HostQueue(concurrency);
    this.#underWay = new HostQueue(Math.max(concurrency, limits.visitsUnderWay));
  }

  /** Waits for a place. Rejects where `signal` ends. */
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
