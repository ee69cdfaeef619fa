import type { EventEmitter } from 'node:events';
import { isSecondWord } from '../../src/log/repeated-signal.ts';

/**
 * The signal that ends a soak early, with its report, and what it started with it: on Ctrl-C, or SIGTERM, which `timeout`
 * and supervisors send. A second one calls `endAtOnce`.
 */
export const endOnSignals = (process: EventEmitter, endAtOnce: () => void): AbortSignal => {
  const interrupted = new AbortController();
  let firstAt: number | undefined;
  const take = (): void => {
    if (firstAt !== undefined) {
      if (isSecondWord(firstAt)) endAtOnce();
      return;
    }
    firstAt = performance.now();
    interrupted.abort();
  };
  process.on('SIGINT', take).on('SIGTERM', take);
  return interrupted.signal;
};
