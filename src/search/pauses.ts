/** How long, in milliseconds, something is read before everything else gets its turn (H7). */
const longestReading = 4;

// Not as soon as it can go on: a short request needs several turns of the event loop, and gets them in a millisecond.
const nextTurn = () => new Promise<void>((resolve) => setTimeout(resolve));

/** Pauses of a reading in parts: each waits where the reading has taken long enough, and else not. */
export const createPauses = (): (() => Promise<void> | undefined) => {
  let began = performance.now();
  return () => {
    if (performance.now() - began <= longestReading) return undefined;
    return nextTurn().then(() => {
      began = performance.now();
    });
  };
};
