import { createFetcher, type Fetcher } from '../src/net/fetcher.ts';
import { composeUserAgent } from '../src/net/user-agent.ts';
import { readProxyOptions } from './read-proxies.ts';
import { readVersion } from './read-version.ts';

/** What asks origins for a command, in the name of this contact. Throws a UsageError if a proxy is invalid. */
export const openFetcher = (values: { readonly 'allow-private-networks': boolean }, contact: string): Fetcher =>
  createFetcher({
    allowPrivateNetworks: values['allow-private-networks'],
    userAgent: composeUserAgent(readVersion(), contact),
    proxies: readProxyOptions(),
  });
