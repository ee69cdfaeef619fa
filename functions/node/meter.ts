import type { AskedFor } from '../environment.ts';
import type { AnsweredRequest } from './answered-request.ts';
import type { ServerEvent } from './server-event.ts';

// Plain numbers are counted, tens of thousands of times a second. They are converted when somebody reads them
// (prometheus.ts).

/**
 * Upper bounds of durations, in milliseconds. Answers from memory take a tenth of the first, and the slowest readers
 * more than the last.
 */
export const durationBounds = [0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000] as const;

/** A histogram of durations in milliseconds. */
export class Durations {
  /**
   * For each bound, how many took longer than the bound before it and no longer than this one. The last count is for
   * everything above.
   */
  readonly counts = new Float64Array(durationBounds.length + 1);
  sum = 0;

  add(milliseconds: number): void {
    let place = 0;
    while (place < durationBounds.length && milliseconds > (durationBounds[place] ?? 0)) place++;
    this.counts[place] = (this.counts[place] ?? 0) + 1;
    this.sum += milliseconds;
  }
}

const lowestStatus = 100;

/** The answers of one operation. */
class OperationCounts {
  readonly durations = new Durations();
  readonly #statuses = new Float64Array(500);

  add(status: number, milliseconds: number): void {
    const place = status - lowestStatus;
    this.#statuses[place] = (this.#statuses[place] ?? 0) + 1;
    this.durations.add(milliseconds);
  }

  /** Each status that was answered, with its number. */
  *statuses(): Iterable<readonly [status: number, count: number]> {
    for (const [place, count] of this.#statuses.entries()) if (count > 0) yield [place + lowestStatus, count];
  }
}

/** Questions of one kind to the index. */
interface QuestionCounts {
  readonly durations: Durations;
  failed: number;
}

/** Everything that a server counts about itself. Labels come from tables in the source, so their number is bounded. */
export class Meter {
  readonly operations = new Map<AskedFor | 'none', OperationCounts>();
  /** Events of the payment gateway. */
  readonly gateway = new Map<string, number>();
  /** Leaves of the health record that turned false. */
  readonly unhealthy = new Map<string, number>();
  faults = 0;
  /** Questions to the index, by kind. */
  readonly questions = new Map<string, QuestionCounts>();

  /** The counts for a kind of question. */
  questionsOf(kind: string): QuestionCounts {
    const counts = this.questions.get(kind) ?? { durations: new Durations(), failed: 0 };
    this.questions.set(kind, counts);
    return counts;
  }

  /** Counts a request whose answer has ended. */
  readonly observe = ({ note, status, milliseconds }: AnsweredRequest): void => {
    const operation = note.operation ?? 'none';
    let counts = this.operations.get(operation);
    if (counts === undefined) {
      counts = new OperationCounts();
      this.operations.set(operation, counts);
    }
    counts.add(status, milliseconds);
  };

  countEvent(told: ServerEvent): void {
    if ('channel' in told) this.#count(this.gateway, told.event);
    else if (told.event === 'unhealthy') this.#count(this.unhealthy, told.leaf);
  }

  #count(counts: Map<string, number>, name: string): void {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
}
