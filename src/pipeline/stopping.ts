import { isSecondWord } from '../log/repeated-signal.ts';

/** What may end the crawl of a build before every repository was visited. */
export interface Stopping {
  readonly signal: AbortSignal;
  /** What ended it, in words; undefined while nothing has. */
  readonly by: () => string | undefined;
  /** The exit code of a build that a signal ended; undefined if none arrived. */
  readonly exitCode: () => number | undefined;
  /** Stops listening for signals, and waiting for the end of the budget. */
  readonly end: () => void;
}

// The exit codes of shells for a process that a signal ended.
const exitCodeOf = { SIGTERM: 143, SIGINT: 130 } as const;

/**
 * Listens for SIGTERM and SIGINT, and for the end of a time budget (seconds). `tell` is called with what happened. The
 * first signal ends the crawl. A later one, of either kind, ends the process if it is not the same word again (see
 * `isSecondWord`): what is published is whole at any moment.
 */
export const listenForStop = (budget: number | undefined, tell: (words: string) => void): Stopping => {
  const controller = new AbortController();
  let received: keyof typeof exitCodeOf | undefined;
  let receivedAt = 0;
  let by: string | undefined;
  const stop = (reason: string, words: string) => {
    if (by !== undefined) return;
    by = reason;
    tell(words);
    controller.abort(new Error(`stopped by ${reason}`));
  };
  const onSignal = (signal: NodeJS.Signals) => {
    const name = signal as keyof typeof exitCodeOf;
    if (received !== undefined) {
      if (isSecondWord(receivedAt)) process.exit(exitCodeOf[name]);
      return;
    }
    received = name;
    receivedAt = performance.now();
    stop(
      name,
      `Stopping (${name}): what was crawled so far is published first. A signal a second later or more ends it at once.`,
    );
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  const timer =
    budget === undefined
      ? undefined
      : setTimeout(
          () => stop('time budget', `The time budget of ${budget} s is over: what was crawled so far is published.`),
          budget * 1000,
        );
  return {
    signal: controller.signal,
    by: () => by,
    exitCode: () => (received === undefined ? undefined : exitCodeOf[received]),
    end: () => {
      process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
      clearTimeout(timer);
    },
  };
};
