import { createRateLimiter } from '../http/rate-limiter.ts';

/**
 * Bounds how often one client may ask for a sign-in, each of which is written down before anybody has signed in:
 * `rate` a minute, as many at once; twice that for a /56 of IPv6 and four times for a /48, which one subscriber may
 * hold. 0 lets everything through. Answers the seconds to wait, 0 for none. Kept in this process alone: it bounds the
 * rate of writing, and what is written is bounded in the store.
 */
export const createSignInRate = (rate: number, clock: () => number): ((address: string) => number) => {
  const limiter = (prefix: 64 | 56 | 48, times: number) =>
    createRateLimiter({ rate: (times * rate) / 60, burst: times * rate, now: () => new Date(clock()), prefix });
  const [subscriber, wide] = [limiter(64, 1), [limiter(56, 2), limiter(48, 4)]];
  return (address) => {
    // What the narrow limit stops does not use up the wide ones.
    for (const { take } of [subscriber, ...(address.includes(':') ? wide : [])]) {
      const wait = take(address);
      if (wait > 0) return wait;
    }
    return 0;
  };
};
