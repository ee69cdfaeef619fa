import type { RateLimiter } from '../dependencies.ts';
import type { Asking } from '../environment.ts';
import { HttpError } from './answers.ts';

/** Wraps a handler so that it answers 429 to a client that asks too often. */
export const limited =
  <Asked extends Asking, Answer>(limiter: RateLimiter, answer: (asked: Asked) => Promise<Answer>) =>
  async (asked: Asked): Promise<Answer> => {
    const wait = limiter.take(asked.env?.clientAddress ?? '');
    if (wait > 0) throw new HttpError(429, `Too many requests: try again in ${wait} s`, { 'Retry-After': `${wait}` });
    return answer(asked);
  };
