/** How long, in milliseconds, something is read before everything else gets its turn (H7). */
const longestReading = 4;

// A timer waits a millisecond at least, where the host has nothing better.
const later: (then: () => void) => unknown = globalThis.setImmediate ?? setTimeout;
const nextTurn = () => new Promise<void>((resolve) => void later(resolve));

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
