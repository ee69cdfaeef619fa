import type { RateLimiter } from '../dependencies.ts';
import { clientNetwork } from './client-address.ts';

/**
 * How many clients are remembered. Beyond that, those not seen for longest are forgotten and start with a full bucket.
 */
const mostClients = 50_000;

/**
 * A token bucket for each client: `rate` requests a second on average, `burst` at once. A rate of 0 lets everything
 * through. What counts as one client is a network of this prefix (see clientNetwork).
 */
export const createRateLimiter = (options: {
  rate: number;
  burst: number;
  now: () => Date;
  prefix?: 64 | 56 | 48;
}): RateLimiter => {
  const { rate, burst } = options;
  if (rate === 0) return { take: () => 0 };
  const buckets = new Map<string, { tokens: number; at: number }>();
  return {
    take: (client) => {
      const key = clientNetwork(client, options.prefix);
      const at = options.now().getTime();
      const bucket = buckets.get(key) ?? { tokens: burst, at };
      const tokens = Math.min(burst, bucket.tokens + (Math.max(0, at - bucket.at) / 1000) * rate);
      const allowed = tokens >= 1;
      // Inserted again, so that the map stays in order of use.
      buckets.delete(key);
      buckets.set(key, { tokens: allowed ? tokens - 1 : tokens, at });
      if (buckets.size > mostClients) {
        const [oldest] = buckets.keys();
        if (oldest !== undefined) buckets.delete(oldest);
      }
      return allowed ? 0 : Math.max(1, Math.ceil((1 - tokens) / rate));
    },
  };
};
