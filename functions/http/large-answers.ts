import type { Asking } from '../environment.ts';
import { clientNetwork } from './client-address.ts';
import { createGate } from './gate.ts';

/** An answer with more records than this is large: it is read in several steps, and held in memory meanwhile. */
const fewRecords = 32;

/**
 * How many large answers a server makes at once. Each may have 20 MB, and twice that for a moment; all have to fit in
 * 512 MB (H8, H10).
 */
const mostAtOnce = 4;

/** How many records an answer reads: if they are sorted, all that match, however few are asked for. */
export const recordsRead = (limit: number, sort: string | undefined): number =>
  sort === undefined ? limit : Number.POSITIVE_INFINITY;

/** Makes an answer that reads up to this many records, when there is room for it. */
export type MakeAnswer = <Answer>(asking: Asking, records: number, make: () => Promise<Answer>) => Promise<Answer>;

/**
 * Limits how many large answers are made at once, until they are handed to the connection, where unread data is
 * limited. The others wait, and clients take turns: a client that asks for a thousand delays another one by a single
 * answer.
 */
export const createLargeAnswers = (atOnce = mostAtOnce): MakeAnswer => {
  const gate = createGate(atOnce);
  return ({ env }, records, make) =>
    records <= fewRecords ? make() : gate.pass(clientNetwork(env?.clientAddress ?? ''), make);
};
