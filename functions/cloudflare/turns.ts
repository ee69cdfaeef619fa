import type { Turns } from '../dependencies.ts';
import { createGate } from '../http/gate.ts';

/** Questions answered before the object hears what else it was asked: to pause takes as long as a short one. */
const mostInTurn = 4;

/**
 * Turns of questions to the index of an object, which reads it itself. One is answered at a time, and a few between two
 * pauses: its clock stands still while it computes, and cannot tell when to pause. Clients take turns, so that one who asks
 * a hundred things delays another by a few of them.
 */
export const createTurns = (): Turns => {
  const gate = createGate(1);
  let answered = 0;
  return {
    ask: (client, question) =>
      new Promise((resolve, reject) => {
        void gate.pass(client, async () => {
          await (async () => question())().then(resolve, reject);
          if (++answered % mostInTurn === 0) await new Promise<void>((next) => setTimeout(next));
        });
      }),
  };
};
