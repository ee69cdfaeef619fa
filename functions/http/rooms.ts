import { tooManyAtOnce } from '../../src/contract/errors.ts';
import { HttpError } from './answers.ts';
import { clientNetwork } from './client-address.ts';

const megabyte = 2 ** 20;

/** How much memory the data of requests may take, in bytes: for all clients together, and for each. */
const usualBounds = { all: 32 * megabyte, each: 8 * megabyte };

/** The memory reserved for one request. */
export interface Room {
  /** Reserves that many more bytes. Throws an HttpError: 429 if the client has too many, 503 if all together have. */
  take(bytes: number): void;
  /** Releases that many bytes. */
  give(bytes: number): void;
  /** Releases all of them. */
  close(): void;
}

/**
 * Limits the memory for the long parts of requests in progress, their bodies or their heads: a client may have hundreds
 * of requests, each as long as allowed, and there may be many clients (H10).
 */
export const createRooms = ({ all, each } = usualBounds) => {
  const held = new Map<string, number>();
  let total = 0;
  return {
    open: (clientAddress: string): Room => {
      const client = clientNetwork(clientAddress);
      let own = 0;
      const add = (bytes: number): void => {
        const left = (held.get(client) ?? 0) + bytes;
        if (left > 0) held.set(client, left);
        else held.delete(client);
        own += bytes;
        total += bytes;
      };
      return {
        take: (bytes) => {
          if ((held.get(client) ?? 0) + bytes > each) throw new HttpError(429, tooManyAtOnce, { 'Retry-After': '1' });
          if (total + bytes > all) {
            throw new HttpError(503, 'Too much is sent at once: send less, or the same again', { 'Retry-After': '5' });
          }
          add(bytes);
        },
        give: (bytes) => add(-bytes),
        close: () => add(-own),
      };
    },
  };
};
