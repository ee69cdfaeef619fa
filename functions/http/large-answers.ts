import type { Context } from 'hono';
import type { Environment } from '../environment.ts';
import { clientNetwork } from './client-address.ts';

/** An answer of more records than this is large: it is read in several steps, and held in memory meanwhile. */
const fewRecords = 32;

/** Large answers that are made at once. Each may have 20 MB, twice for a moment; all have to live in 512 MB (H8, H10). */
const mostAtOnce = 4;

/** Makes the answer to a request for so many records when there is room for it. */
export type MakeAnswer = (
  context: Context<Environment>,
  records: number,
  make: () => Promise<Response>,
) => Promise<Response>;

/**
 * Lets few large answers be made at once, until they are given to the connection, where what is unread is bounded.
 * Others wait, and clients take turns: one who asks for a thousand delays another by one of them.
 */
export const createLargeAnswers = (): MakeAnswer => {
  // Clients that wait, in the order in which they are next.
  const waiting = new Map<string, Array<() => void>>();
  let underWay = 0;

  const enter = (client: string): Promise<void> | undefined => {
    if (underWay < mostAtOnce) {
      underWay++;
      return undefined;
    }
    return new Promise((resolve) => {
      const others = waiting.get(client);
      if (others === undefined) waiting.set(client, [resolve]);
      else others.push(resolve);
    });
  };

  // Who waits takes the place of who leaves.
  const leave = (): void => {
    const [next] = waiting;
    if (next === undefined) {
      underWay--;
      return;
    }
    const [client, entrances] = next;
    const enterNow = entrances.shift();
    waiting.delete(client);
    if (entrances.length > 0) waiting.set(client, entrances);
    enterNow?.();
  };

  return async ({ env }, records, make) => {
    if (records <= fewRecords) return make();
    await enter(clientNetwork(env?.clientAddress ?? ''));
    try {
      return await make();
    } finally {
      leave();
    }
  };
};
