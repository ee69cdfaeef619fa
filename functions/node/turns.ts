import type { Turns } from '../dependencies.ts';
import { createClientLine } from '../http/client-line.ts';

/** How long, in milliseconds, work may be done before everything else the process has to do gets its turn. */
const longestTurn = 4;

/** The same while new connections come: the system hands over one in each round of the loop, and others wait there. */
const briefTurn = 0.5;

/** The most that is done in a turn, however little time each takes. */
const mostInTurn = 16;

/** Turns of any work. */
export interface Rounds {
  /** Does the work of this client when it is its turn: at once where nobody waits. */
  take(client: string, work: () => void): void;
  /** Makes the next turn brief. */
  hurry(): void;
}

/**
 * Turns of work that keeps the process busy. After every few milliseconds of it everything else is served, and clients
 * take turns, so that one who wants a thousand things done delays another by one of them and not by a thousand.
 */
export const createRounds = (): Rounds => {
  const waiting = createClientLine<() => void>();
  let turnBegan: number | undefined;
  let scheduled = false;
  let isBrief = false;

  const isOver = (): boolean =>
    turnBegan !== undefined && performance.now() - turnBegan >= (isBrief ? briefTurn : longestTurn);

  const beginTurn = (): void => {
    if (turnBegan !== undefined) return;
    turnBegan = performance.now();
    setImmediate(() => {
      turnBegan = undefined;
    });
  };

  const doNext = (): void => {
    if (waiting.isEmpty()) return;
    schedule();
    beginTurn();
    if (isOver()) return;
    waiting.next()?.();
  };

  // Each in a callback of its own, because what follows from it (promises) is done when that ends, and takes time too.
  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
    });
    for (let number = 0; number < mostInTurn; number++) setImmediate(doNext);
    setImmediate(() => {
      isBrief = false;
    });
  };

  return {
    take: (client, work) => {
      beginTurn();
      if (waiting.isEmpty() && !isOver()) {
        work();
        return;
      }
      waiting.add(client, work);
      schedule();
    },
    hurry: () => {
      isBrief = true;
      schedule();
    },
  };
};

/** Turns of questions to the index, which keep the process busy while they are answered. */
export const createTurns = (): Turns => {
  const { take } = createRounds();
  return {
    ask: (client, question) =>
      new Promise((resolve, reject) => {
        take(client, () => {
          (async () => question())().then(resolve, reject);
        });
      }),
  };
};
