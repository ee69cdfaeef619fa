import { createRateLimiter } from '../http/rate-limiter.ts';

/**
 * Limits how often one client may ask for a sign-in, because each request is stored before anybody has signed in:
 * `rate` a minute, and as many at once; twice that for a /56 of IPv6 and four times for a /48, which one subscriber may
 * have. 0 means no limit. Returns the seconds to wait, 0 for none. It counts in this process only, and so limits how
 * fast requests are written; how many are stored is limited in the store.
 */
export const createSignInRate = (rate: number, clock: () => number): ((address: string) => number) => {
  const limiter = (prefix: 64 | 56 | 48, times: number) =>
    createRateLimiter({ rate: (times * rate) / 60, burst: times * rate, now: () => new Date(clock()), prefix });
  const [subscriber, wide] = [limiter(64, 1), [limiter(56, 2), limiter(48, 4)]];
  return (address) => {
    // A request that a narrow limit refuses does not count for the wide ones.
    for (const { take } of [subscriber, ...(address.includes(':') ? wide : [])]) {
      const wait = take(address);
      if (wait > 0) return wait;
    }
    return 0;
  };
};
