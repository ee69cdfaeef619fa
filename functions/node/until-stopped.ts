import { isSecondWord } from '../../src/log/repeated-signal.ts';

/** Resolves when the process is told to stop (SIGTERM, SIGINT). */
export const untilStopped = (): Promise<void> =>
  new Promise((resolve) => {
    let told: number | undefined;
    const stop = () => {
      if (told === undefined) {
        told = performance.now();
        resolve();
        // A second signal means that somebody does not want to wait.
      } else if (isSecondWord(told)) process.exit(1);
    };
    process.on('SIGTERM', stop).on('SIGINT', stop);
  });
