import type { Turns } from '../dependencies.ts';

/** How long, in milliseconds, questions may be answered before everything else the process has to do gets its turn. */
const longestTurn = 4;

/**
 * Turns of questions that keep the process busy while they are answered. After every few milliseconds of them all other
 * requests are served, and clients take turns, so that one who asks a thousand expensive questions delays another by one
 * of them and not by a thousand.
 */
export const createTurns = (): Turns => {
  // Clients that wait, in the order in which they are next, each with its questions.
  const waiting = new Map<string, Array<() => void>>();
  let spent = 0;
  let scheduled = false;

  const work = (question: () => void): void => {
    const begun = performance.now();
    question();
    spent += performance.now() - begun;
    if (scheduled) return;
    scheduled = true;
    setImmediate(beginTurn);
  };

  const beginTurn = (): void => {
    scheduled = false;
    spent = 0;
    while (spent < longestTurn) {
      const [next] = waiting;
      if (next === undefined) return;
      const [client, questions] = next;
      const question = questions.shift();
      waiting.delete(client);
      if (questions.length > 0) waiting.set(client, questions);
      if (question !== undefined) work(question);
    }
  };

  return {
    ask: (client, question) =>
      new Promise((resolve, reject) => {
        const answer = () => {
          (async () => question())().then(resolve, reject);
        };
        if (waiting.size === 0 && spent < longestTurn) {
          work(answer);
          return;
        }
        const questions = waiting.get(client);
        if (questions === undefined) waiting.set(client, [answer]);
        else questions.push(answer);
      }),
  };
};
