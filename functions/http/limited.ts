import type { RateLimiter } from '../dependencies.ts';
import type { Handler } from '../environment.ts';
import { HttpError } from './answers.ts';

/** The handler, which answers 429 to a client that asks more often than it may. */
export const limited =
  (limiter: RateLimiter, handler: Handler): Handler =>
  async (context) => {
    const wait = limiter.take(context.env?.clientAddress ?? '');
    if (wait > 0) throw new HttpError(429, `Too many requests: try again in ${wait} s`, { 'Retry-After': `${wait}` });
    return handler(context);
  };
