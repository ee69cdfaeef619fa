import { styleText } from 'node:util';
import type { Log } from '../log/log.ts';

/** What is done in a second. In tenths where it is little: a repository may take seconds, and 0 would look like a standstill. */
const rateOf = (done: number, seconds: number): string =>
  (done / seconds).toLocaleString('en', { maximumFractionDigits: done < 10 * seconds ? 1 : 0 });

/**
 * Shows the progress of long work: a bar on a terminal, otherwise a line every few seconds, in the log if there is one.
 */
export class Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #log: Log | undefined;
  readonly #started = performance.now();
  #step = '';
  #stepStarted = 0;
  #shown = 0;
  /** Until when nothing is told that is tried again. */
  #quietUntil = 0;
  /** Milliseconds of the steps inside the current one. */
  #within = 0;
  /** How long each step took, in the order in which they ran. */
  readonly seconds = new Map<string, number>();

  constructor(stream: NodeJS.WriteStream = process.stderr, log?: Log) {
    this.#stream = stream;
    this.#log = log;
  }

  /** Runs one named step and records how long it took, without the steps inside it. */
  async step<T>(name: string, work: () => Promise<T> | T): Promise<T> {
    const outer = { step: this.#step, started: this.#stepStarted, within: this.#within };
    const started = performance.now();
    this.#step = name;
    this.#stepStarted = started;
    this.#within = 0;
    this.#shown = 0;
    try {
      return await work();
    } finally {
      this.#clear();
      const took = performance.now() - started;
      this.seconds.set(name, (this.seconds.get(name) ?? 0) + (took - this.#within) / 1000);
      this.#step = outer.step;
      this.#stepStarted = outer.started;
      this.#within = outer.within + took;
    }
  }

  /** Reports how much of the current step is done, and in which unit. */
  update(done: number, total: number, unit: string): void {
    const now = performance.now();
    const interval = this.#stream.isTTY ? 80 : 5000;
    if (now - Math.max(this.#shown, this.#stepStarted) < interval) return;
    this.#shown = now;
    const rate = unit === 'seconds' ? '' : `, ${rateOf(done, (now - this.#stepStarted) / 1000)}/s`;
    const counts = `${done.toLocaleString('en')} of ${total.toLocaleString('en')} ${unit}${rate}`;
    if (!this.#stream.isTTY) {
      const words = `${this.#step}: ${counts}`;
      if (this.#log === undefined) this.#stream.write(`${words}\n`);
      else this.#log.info('progress', words, { step: this.#step, done, total, unit });
      return;
    }
    const width = Math.max(10, Math.min(40, this.#stream.columns - counts.length - 16));
    const filled = total === 0 ? width : Math.round((Math.min(done, total) / total) * width);
    const bar = styleText('cyan', '━'.repeat(filled)) + styleText('dim', '━'.repeat(width - filled));
    this.#clear();
    this.#stream.write(`${this.#step.padEnd(10)} ${bar} ${counts}`);
  }

  /** Tells something in between that whoever waits should know. `event` names it in the log. */
  note(event: string, words: string): void {
    if (this.#log !== undefined && !this.#stream.isTTY) {
      this.#log.warn(event, words);
      return;
    }
    this.#clear();
    this.#stream.write(`${words}\n`);
  }

  /** Tells why something is tried again: of many at once, and of what goes on, one every ten seconds. */
  retry(reason: string): void {
    if (performance.now() < this.#quietUntil) return;
    this.#quietUntil = performance.now() + 10_000;
    this.note('retry', reason);
  }

  /** Seconds since the beginning. */
  get total(): number {
    return (performance.now() - this.#started) / 1000;
  }

  #clear(): void {
    if (this.#stream.isTTY) this.#stream.write('\r\u001b[2K');
  }
}
