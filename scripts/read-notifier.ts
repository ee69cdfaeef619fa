import type { Teller } from '../src/notifying/messages.ts';
import { createNotifier, type Notifier } from '../src/notifying/notifier.ts';
import { readDestination } from '../src/notifying/receiver.ts';
import { UsageError } from './options.ts';
import { readProxyOptions } from './read-proxies.ts';

/** The notifier of the operator at these addresses; undefined if there are none. Throws a UsageError. */
export const readNotifier = (addresses: readonly string[], teller: Teller): Notifier | undefined => {
  if (addresses.length === 0) return undefined;
  try {
    return createNotifier({ destinations: addresses.map(readDestination), teller, proxies: readProxyOptions() });
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(`--notify ${error.message}`) : error;
  }
};
