import type { Asking } from '../environment.ts';
import { clientNetwork } from './client-address.ts';
import { createGate } from './gate.ts';

/** An answer of more records than this is large: it is read in several steps, and held in memory meanwhile. */
const fewRecords = 32;

/** Large answers that a server makes at once. Each may have 20 MB, twice for a moment; all have to live in 512 MB (H8, H10). */
const mostAtOnce = 4;

/** Makes the answer to a request for so many records when there is room for it. */
export type MakeAnswer = <Answer>(asking: Asking, records: number, make: () => Promise<Answer>) => Promise<Answer>;

/**
 * Lets few large answers be made at once, until they are given to the connection, where what is unread is bounded.
 * Others wait, and clients take turns: one who asks for a thousand delays another by one of them.
 */
export const createLargeAnswers = (atOnce = mostAtOnce): MakeAnswer => {
  const gate = createGate(atOnce);
  return ({ env }, records, make) =>
    records <= fewRecords ? make() : gate.pass(clientNetwork(env?.clientAddress ?? ''), make);
};
