import { AnswerTooLarge } from '../../src/contract/errors.ts';
import { answerMaximum } from '../../src/contract/parameters.ts';
import { type Dependencies, type SearchIndex, Unavailable } from '../dependencies.ts';
import type { Asking } from '../environment.ts';
import { HttpError } from './answers.ts';
import { clientNetwork } from './client-address.ts';

/** Does what keeps the process busy when it is the turn of the client of a request. */
export type Turn = <T>(work: () => Promise<T>) => Promise<T>;

/** The turns of the client of this request; at once where the host takes none. */
export const turnsOf =
  ({ turns }: Pick<Dependencies, 'turns'>, { env }: Asking): Turn =>
  (work) =>
    turns ? turns.ask(clientNetwork(env?.clientAddress ?? ''), work) : work();

const tooLarge = (): HttpError =>
  new HttpError(
    400,
    `The records asked for are larger than ${answerMaximum / 2 ** 20} MB together: ask for fewer at once`,
  );

/**
 * What a question of this request to the index answers. Whatever goes wrong in it, the rest of the service still stands:
 * 503, not 500. More than an answer may hold is 400.
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
