import { tooManyAtOnce } from '../../src/contract/errors.ts';
import { HttpError } from './answers.ts';
import { clientNetwork } from './client-address.ts';

const megabyte = 2 ** 20;

/** What is held for requests may take in memory, in bytes: for all of them, and for those of one client. */
const usualBounds = { all: 32 * megabyte, each: 8 * megabyte };

/** The room of one request. */
export interface Room {
  /** Takes so many bytes more. Throws an HttpError (429 or 503) where the client, or all together, have too many. */
  take(bytes: number): void;
  /** Gives so many of them back. */
  give(bytes: number): void;
  /** Gives all of them back. */
  close(): void;
}

/**
 * Bounds what the long parts of requests under way take together, their bodies or their heads: a client may have hundreds,
 * each as long as it may be, and there may be many clients (H10).
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
