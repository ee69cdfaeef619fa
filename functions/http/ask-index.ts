import type { Context } from 'hono';
import { type Dependencies, type SearchIndex, Unavailable } from '../dependencies.ts';
import type { Environment } from '../environment.ts';
import { clientNetwork } from './client-address.ts';

/**
 * What a question of this request to the index answers. Whatever goes wrong in it, the rest of the service still stands:
 * 503, not 500.
 */
export const askIndex = async <T>(
  { search, turns }: Pick<Dependencies, 'search' | 'turns'>,
  { env }: Context<Environment>,
  question: (index: SearchIndex) => Promise<T>,
): Promise<T> => {
  try {
    return await (turns
      ? turns.ask(clientNetwork(env?.clientAddress ?? ''), () => question(search))
      : question(search));
  } catch (cause) {
    throw new Unavailable('The search index did not answer', { cause });
  }
};
