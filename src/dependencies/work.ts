import { closureLimits } from '../contract/dependency-records.ts';

/** Thrown where a closure takes more than is computed; what was chosen until then stands. */
export class TooLarge extends Error {
  override name = 'TooLarge';
}

/** Something computed in steps: whoever drives it decides after each how long others have waited (H7). */
export type Steps<T> = Generator<void, T, void>;

const stepsAtOnce = 256;

/** What one closure has cost so far. Throws TooLarge where that is too much. */
export class Work {
  #visits = 0;
  #steps = 0;
  #next = stepsAtOnce;

  visit(): void {
    if (++this.#visits > closureLimits.visits) throw new TooLarge();
  }

  /** Counts so many steps; whether it is time to let others go on. */
  spend(steps = 1): boolean {
    this.#steps += steps;
    if (this.#steps > closureLimits.steps) throw new TooLarge();
    if (this.#steps < this.#next) return false;
    this.#next = this.#steps + stepsAtOnce;
    return true;
  }
}
