// A terminal, `timeout` or a supervisor signals both npm and the process, and npm passes its signal on, so one signal
// arrives twice.
const sameWordMs = 1000;

/**
 * Whether a signal is a second request, from somebody who does not want to wait, rather than the one at `firstAt`
 * again.
 */
export const isSecondWord = (firstAt: number): boolean => performance.now() - firstAt > sameWordMs;
