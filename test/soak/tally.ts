import { createHistogram } from 'node:perf_hooks';

/** What a request did not hold to. */
export class Failure extends Error {
  override name = 'Failure';
}

/** Throws a Failure that says what was wrong, unless the condition holds. */
export const expectThat: (condition: boolean, wrong: string) => asserts condition = (condition, wrong) => {
  if (!condition) throw new Failure(wrong);
};

const mostExamples = 5;

/** Counts requests and failures by kind, and keeps some of the failures. */
export class Tally {
  readonly requests = new Map<string, number>();
  readonly failures = new Map<string, number>();
  readonly examples: string[] = [];
  /** Microseconds from each question to its whole answer. */
  readonly #times = createHistogram();

  count(kind: string): void {
    this.requests.set(kind, (this.requests.get(kind) ?? 0) + 1);
  }

  fail(kind: string, what: string): void {
    const failures = (this.failures.get(kind) ?? 0) + 1;
    this.failures.set(kind, failures);
    if (failures <= mostExamples) this.examples.push(`${new Date().toISOString()} ${kind}: ${what}`);
  }

  /** An answer came whole after so many milliseconds. */
  time(milliseconds: number): void {
    this.#times.record(Math.max(1, Math.round(milliseconds * 1000)));
  }

  /** Milliseconds within which so many percent of the answers came; 0 where there was none. */
  percentile(percent: number): number {
    return this.#times.count === 0 ? 0 : this.#times.percentile(percent) / 1000;
  }

  get totalRequests(): number {
    return sum(this.requests.values());
  }

  get totalFailures(): number {
    return sum(this.failures.values());
  }
}

const sum = (values: Iterable<number>): number => {
  let total = 0;
  for (const value of values) total += value;
  return total;
};
