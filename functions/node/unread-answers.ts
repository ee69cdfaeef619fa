import type { Socket } from 'node:net';
import type { UnreadAccount } from './answer-writer.ts';
import type { ServerLimits } from './limits.ts';
import type { RefusingLimit } from './met-limits.ts';

interface Reader {
  readonly client: string;
  readonly socket: Socket;
  bytes: number;
  /** When the reader last took something, or had nothing to take, in milliseconds as of performance.now(). */
  movedAt: number;
}

interface Held {
  bytes: number;
  readonly readers: Set<Reader>;
}

/** Answers that were made and have not been read yet. */
export interface UnreadAnswers {
  /** The account of an answer to this client on this connection. It is closed with the answer. */
  open(client: string, socket: Socket): UnreadAccount & { close(): void };
  /**
   * Whether another answer may be made for this client. If it has left much unread, those of its readers that have not
   * moved for some seconds are cut first: making more answers for readers that do not read would keep the server busy
   * for nothing.
   */
  admits(client: string): boolean;
  /** Stops watching the readers. */
  end(): void;
}

/**
 * Limits what readers that do not read can hold: bytes for each client, bytes in all, and time. The reader of a client
 * that has not moved for longest is cut first, so a client that reads over a slow line is the last to be cut.
 */
export const createUnreadAnswers = (
  limits: ServerLimits,
  count: (limit: RefusingLimit, client?: string) => void,
): UnreadAnswers => {
  const clients = new Map<string, Held>();
  let total = 0;

  const heldOf = (client: string): Held => {
    const known = clients.get(client);
    if (known !== undefined) return known;
    const held = { bytes: 0, readers: new Set<Reader>() };
    clients.set(client, held);
    return held;
  };

  const change = (reader: Reader, by: number): void => {
    if (by === 0) return;
    const held = heldOf(reader.client);
    reader.bytes += by;
    held.bytes += by;
    total += by;
    if (reader.bytes > 0) held.readers.add(reader);
    else held.readers.delete(reader);
    if (held.readers.size === 0) clients.delete(reader.client);
  };

  const cut = (reader: Reader): void => {
    change(reader, -reader.bytes);
    reader.socket.destroy();
  };

  const slowestOf = ({ readers }: Held): Reader | undefined => {
    let slowest: Reader | undefined;
    for (const reader of readers) if (reader.movedAt < (slowest?.movedAt ?? Number.POSITIVE_INFINITY)) slowest = reader;
    return slowest;
  };

  // The slowest reader of the client that holds the most. Clients with a reader that stands still come first, so that
  // nobody is cut for having just begun; if all are moving, any client.
  const findVictim = (): Reader | undefined => {
    const latest = performance.now() - limits.readerPatience / 5;
    let victim: Reader | undefined;
    let most = [false, 0] as readonly [standsStill: boolean, bytes: number];
    for (const held of clients.values()) {
      const slowest = slowestOf(held);
      const standsStill = slowest !== undefined && slowest.movedAt < latest;
      if (standsStill === most[0] ? held.bytes <= most[1] : most[0]) continue;
      victim = slowest;
      most = [standsStill, held.bytes];
    }
    return victim;
  };

  const keepWithin = (client: string): void => {
    const own = heldOf(client);
    // A single answer may exceed the limit; its reader keeps its time.
    while (own.bytes > limits.clientUnreadBytes && own.readers.size > 1) {
      count('clientUnreadBytes', client);
      const slowest = slowestOf(own);
      if (slowest === undefined) return;
      cut(slowest);
    }
    while (total > limits.unreadBytes) {
      const victim = findVictim();
      if (victim === undefined || (clients.size === 1 && own.readers.size === 1)) return;
      count('unreadBytes', victim.client);
      cut(victim);
    }
  };

  const lookAfter = (): void => {
    const latest = performance.now() - limits.readerTimeout;
    for (const [client, { readers }] of clients) {
      for (const reader of readers) {
        if (reader.movedAt > latest) continue;
        count('readerTimeout', client);
        cut(reader);
      }
    }
  };
  const timer = setInterval(lookAfter, Math.max(10, limits.readerTimeout / 10)).unref();

  return {
    open: (client, socket) => {
      const reader: Reader = { client, socket, bytes: 0, movedAt: performance.now() };
      let isOpen = true;
      return {
        add: (bytes) => {
          if (!isOpen || socket.destroyed) return;
          if (reader.bytes === 0) reader.movedAt = performance.now();
          change(reader, bytes);
          keepWithin(client);
        },
        take: (bytes) => {
          reader.movedAt = performance.now();
          change(reader, -Math.min(bytes, reader.bytes));
        },
        close: () => {
          isOpen = false;
          change(reader, -reader.bytes);
        },
      };
    },
    admits: (client) => {
      const held = clients.get(client);
      if (held === undefined || held.bytes < limits.clientUnreadBytes / 2) return true;
      const latest = performance.now() - limits.readerPatience;
      for (const reader of held.readers) if (reader.movedAt < latest) cut(reader);
      count('clientUnreadBytes', client);
      return held.bytes < limits.clientUnreadBytes / 2;
    },
    end: () => clearInterval(timer),
  };
};
