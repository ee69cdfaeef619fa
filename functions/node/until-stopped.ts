// A terminal or a supervisor tells npm and the server, and npm hands on what it was told: one word comes twice.
const sameWordMs = 1000;

/** Resolves when the process is told to stop (SIGTERM, SIGINT). */
export const untilStopped = (): Promise<void> =>
  new Promise((resolve) => {
    let told: number | undefined;
    const stop = () => {
      if (told === undefined) {
        told = performance.now();
        resolve();
        // Whoever asks a second time does not want to wait.
      } else if (performance.now() - told > sameWordMs) process.exit(1);
    };
    process.on('SIGTERM', stop).on('SIGINT', stop);
  });
