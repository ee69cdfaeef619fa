import type { Turns } from '../dependencies.ts';
import { createGate } from '../http/gate.ts';

/**
 * How many questions are answered before the object accepts other requests. A pause takes as long as a short question.
 */
const mostInTurn = 4;

/**
 * Turns of questions to the index of an object, which reads it itself. They are answered one at a time, with a pause
 * after every few: the object's clock stands still while it computes, so it cannot measure when to pause. Clients take
 * turns, so that a client with a hundred questions delays another one by a few of them.
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
