import { type Proxies, readProxies } from '../src/net/proxies.ts';
import { UsageError } from './options.ts';

/** The proxies in the environment; undefined if there are none. Throws a UsageError if one is invalid. */
export const readProxyOptions = (): Proxies | undefined => {
  try {
    return readProxies(process.env);
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(error.message) : error;
  }
};
