// A terminal, `timeout` or a supervisor tells npm and the process, and npm hands on what it was told: one word comes twice.
const sameWordMs = 1000;

/** Whether a signal is a second word, of somebody who does not want to wait, and not the one of `firstAt` over again. */
export const isSecondWord = (firstAt: number): boolean => performance.now() - firstAt > sameWordMs;
