import { AnswerTooLarge } from '../../src/contract/errors.ts';
import { answerMaximum } from '../../src/contract/parameters.ts';
import { type Dependencies, type SearchIndex, Unavailable } from '../dependencies.ts';
import type { Asking } from '../environment.ts';
import { HttpError } from './answers.ts';
import { clientNetwork } from './client-address.ts';

/** Runs work that keeps the process busy, when it is the client's turn. */
export type Turn = <T>(work: () => Promise<T>) => Promise<T>;

/** The turns of the client that sent this request. If the host has no turns, work runs immediately. */
export const turnsOf =
  ({ turns }: Pick<Dependencies, 'turns'>, { env }: Asking): Turn =>
  (work) =>
    turns ? turns.ask(clientNetwork(env?.clientAddress ?? ''), work) : work();

/** The error for a request that asks for more than one answer may contain. */
export const tooLarge = (): HttpError =>
  new HttpError(
    400,
    `The records asked for are larger than ${answerMaximum / 2 ** 20} MB together: ask for fewer at once`,
  );

/**
 * The index's answer to a question of this request. Whatever goes wrong, the rest of the service still works, so the
 * error is 503, not 500; an answer that is too large is 400.
 */
export const askIndex = async <T>(
  { search }: Pick<Dependencies, 'search'>,
  turn: Turn,
  question: (index: SearchIndex) => Promise<T>,
): Promise<T> => {
  try {
    return await turn(() => question(search));
  } catch (cause) {
    if (cause instanceof AnswerTooLarge) throw tooLarge();
    throw new Unavailable('The search index did not answer', { cause });
  }
};
