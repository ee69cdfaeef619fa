/** How long, in milliseconds, a computation may run before everything else gets its turn (H7). */
const longestReading = 4;

// A timer, not the next turn of the event loop: a short request needs several turns, and gets them in a millisecond.
const nextTurn = () => new Promise<void>((resolve) => setTimeout(resolve));

/**
 * Pauses for a computation in parts. Each call returns a promise if the computation has run long enough, and otherwise
 * nothing.
 */
export const createPauses = (): (() => Promise<void> | undefined) => {
  let began = performance.now();
  return () => {
    if (performance.now() - began <= longestReading) return undefined;
    return nextTurn().then(() => {
      began = performance.now();
    });
  };
};
