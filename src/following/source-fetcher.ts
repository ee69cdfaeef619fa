import { createFetcher, type Fetcher } from '../net/fetcher.ts';
import type { Proxies } from '../net/proxies.ts';

/** A whole catalog may take long, in milliseconds. A slow body is given up long before. */
const longestRequest = 3_600_000;

/** Fetches what is published at an address, for a mirror or a replica. */
export const createSourceFetcher = (
  address: string,
  options: { readonly userAgent: string; readonly proxies: Proxies | undefined; readonly connections?: number },
): Fetcher => {
  const { userAgent, proxies, connections } = options;
  return createFetcher({
    // The operator chose the address, so it may be anywhere; its redirects may not.
    allowPrivateNetworks: { host: new URL(address).hostname },
    userAgent,
    limits: { totalMs: longestRequest, ...(connections !== undefined && { connectionsPerHost: connections }) },
    proxies,
  });
};
