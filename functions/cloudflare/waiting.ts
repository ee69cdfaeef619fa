/** The longest pause after failures, in milliseconds. */
const longestPause = 300_000;

/** The pauses between what is tried again and again: twice as long after each failure that follows another. */
export class Pauses {
  readonly #usual: number;
  #failures = 0;

  /** `usual` in milliseconds. */
  constructor(usual: number) {
    this.#usual = usual;
  }

  afterSuccess(): number {
    this.#failures = 0;
    return this.#usual;
  }

  afterFailure(): number {
    // No more doublings than make any pause the longest, lest the number grow beyond all numbers.
    return Math.min(longestPause, this.#usual * 2 ** Math.min(this.#failures++, 16));
  }
}

/** How long, in milliseconds, readers may take of what is to be replaced; they get an error then. */
const patience = 10_000;

/** The wait for those who still read what is to be replaced. */
export class Farewell {
  #since: number | undefined;

  /** Nobody begins to read any more. */
  begin(): void {
    this.#since ??= Date.now();
  }

  /** Whether so many readers are waited for still. */
  waitsFor(readers: number): boolean {
    return readers > 0 && this.#since !== undefined && Date.now() - this.#since < patience;
  }

  end(): void {
    this.#since = undefined;
  }
}
