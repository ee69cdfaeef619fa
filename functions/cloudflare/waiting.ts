/** The longest pause after failures, in milliseconds. */
const longestPause = 300_000;

/** Pauses between attempts: each is twice as long as the last while attempts fail. */
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
    // Bounds the exponent, so that the product never overflows.
    return Math.min(longestPause, this.#usual * 2 ** Math.min(this.#failures++, 16));
  }
}

/** How long, in milliseconds, readers of a catalog that is to be replaced may take. After that they get an error. */
const patience = 10_000;

/** Waits for the readers of a catalog that is to be replaced. */
export class Farewell {
  #since: number | undefined;

  /** From now on no new reader begins. */
  begin(): void {
    this.#since ??= Date.now();
  }

  /** Whether to keep waiting for this many readers. */
  waitsFor(readers: number): boolean {
    return readers > 0 && this.#since !== undefined && Date.now() - this.#since < patience;
  }

  end(): void {
    this.#since = undefined;
  }
}
