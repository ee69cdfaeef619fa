import type { Turns } from '../dependencies.ts';
import { createClientLine } from '../http/client-line.ts';

/** How long, in milliseconds, work may run before the rest of the process gets its turn. */
const longestTurn = 4;

/** The same while new connections arrive: the system hands over one in each round of the event loop. */
const briefTurn = 0.5;

/** The most pieces of work in a turn, however short they are. */
const mostInTurn = 16;

/** Turns of any work. */
export interface Rounds {
  /** Runs the work when it is this client's turn: at once if nobody is waiting. */
  take(client: string, work: () => void): void;
  /** Shortens the next turn. */
  hurry(): void;
  /** Begins no work until `resume`. */
  pause(): void;
  resume(): void;
}

/**
 * Turns of work that keeps the process busy. Every few milliseconds everything else is served, and clients take turns,
 * so that a client with a thousand pieces of work delays another one by a single piece.
 */
export const createRounds = (): Rounds => {
  const waiting = createClientLine<() => void>();
  let turnBegan: number | undefined;
  let scheduled = false;
  let isBrief = false;
  let isPaused = false;

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
    if (isPaused || waiting.isEmpty()) return;
    schedule();
    beginTurn();
    if (isOver()) return;
    waiting.next()?.();
  };

  // Each in a callback of its own, because the promises that it settles are handled when the callback ends, which takes
  // time too.
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
      if (!isPaused && waiting.isEmpty() && !isOver()) {
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
    pause: () => {
      isPaused = true;
    },
    resume: () => {
      isPaused = false;
      schedule();
    },
  };
};

/** Turns of questions to the index, which keep the process busy. */
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
