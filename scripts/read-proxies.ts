import { type Proxies, readProxies } from '../src/net/proxies.ts';
import { UsageError } from './options.ts';

/** The proxies of the environment; undefined where there are none. Throws a UsageError where one cannot be read. */
export const readProxyOptions = (): Proxies | undefined => {
  try {
    return readProxies(process.env);
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(error.message) : error;
  }
};
