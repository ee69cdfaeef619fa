import { closureLimits } from '../contract/dependency-records.ts';

/** Thrown if a closure takes too much. What was chosen until then is kept. */
export class TooLarge extends Error {
  override name = 'TooLarge';
}

/** A computation in steps. After each step, its driver decides how long others have waited (H7). */
export type Steps<T> = Generator<void, T, void>;

const stepsAtOnce = 256;

/** The cost of one closure so far. Throws TooLarge if it is too high. */
export class Work {
  #visits = 0;
  #steps = 0;
  #next = stepsAtOnce;

  visit(): void {
    if (++this.#visits > closureLimits.visits) throw new TooLarge();
  }

  /** Counts that many steps; whether it is time to let others continue. */
  spend(steps = 1): boolean {
    this.#steps += steps;
    if (this.#steps > closureLimits.steps) throw new TooLarge();
    if (this.#steps < this.#next) return false;
    this.#next = this.#steps + stepsAtOnce;
    return true;
  }
}
