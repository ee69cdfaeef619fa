import { Unavailable } from './dependencies.ts';

/** What a question to the index answers. Whatever goes wrong in it, the rest of the service still stands: 503, not 500. */
export const askIndex = async <T>(question: () => Promise<T>): Promise<T> => {
  try {
    return await question();
  } catch (cause) {
    throw new Unavailable('The search index did not answer', { cause });
  }
};
