/** How long, in milliseconds, a computation may run before everything else gets its turn (H7). */
const longestReading = 4;

/** How many turns of the event loop a short request needs: it is accepted, read, answered and written. */
const turnsOfRequest = 4;

// Not a timer, which waits a millisecond even if nobody else asks. Hosts without immediate turns have nothing else.
const nextTurn: (then: () => void) => unknown = typeof setImmediate === 'function' ? setImmediate : setTimeout;

const letOthers = async (): Promise<void> => {
  for (let turn = 0; turn < turnsOfRequest; turn++) await new Promise<void>((resolve) => nextTurn(resolve));
};

let before = Promise.resolve();

// One after another: else all that pause would go on at once, and a turn of the event loop would have a part of each.
const waitInLine = (): Promise<void> => {
  before = before.then(letOthers);
  return before;
};

/**
 * Pauses for a computation in parts. Each call returns a promise if the computation has run long enough, and otherwise
 * nothing. Of all computations that pause, one at a time goes on.
 */
export const createPauses = (): (() => Promise<void> | undefined) => {
  let began = performance.now();
  return () => {
    if (performance.now() - began <= longestReading) return undefined;
    return waitInLine().then(() => {
      began = performance.now();
    });
  };
};
