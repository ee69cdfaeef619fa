import type { Log } from '../src/log/log.ts';
import type { Teller } from '../src/notifying/messages.ts';
import { createNotifier, type Notifier } from '../src/notifying/notifier.ts';
import { readDestination } from '../src/notifying/receiver.ts';
import { UsageError } from './options.ts';
import { readProxyOptions } from './read-proxies.ts';

/**
 * The notifier of the operator at these addresses; undefined if there are none. It logs what could not be delivered or
 * noted, also of a build that fails. Throws a UsageError.
 */
export const readNotifier = (
  addresses: readonly string[],
  teller: Teller,
  log: Pick<Log, 'warn'>,
): Notifier | undefined => {
  if (addresses.length === 0) return undefined;
  try {
    const destinations = addresses.map(readDestination);
    const notifier = createNotifier({ destinations, teller, proxies: readProxyOptions() });
    return {
      tell: async (...news) => {
        const untold = await notifier.tell(...news);
        for (const sentence of untold) log.warn('untold', sentence);
        return untold;
      },
    };
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(`--notify ${error.message}`) : error;
  }
};
