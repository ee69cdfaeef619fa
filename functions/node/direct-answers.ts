import type { Socket } from 'node:net';
import { clientAddress, clientNetwork } from '../http/client-address.ts';
import type { AnsweredRequest } from './answered-request.ts';
import type { DirectAnswer, HotAnswers } from './hot-answers.ts';
import type { ServerLimits } from './limits.ts';
import type { Place } from './places.ts';
import { createPlainRequests, type PlainHeaders } from './plain-request.ts';
import { isValidHost } from './protocol-errors.ts';
import type { RequestCounts } from './request-counts.ts';
import { NodeRequestNote } from './request-note.ts';
import { targetBelow } from './request-target.ts';
import type { UnreadAnswers } from './unread-answers.ts';

// A document that is ready is answered past the parser and the objects that Node makes of a request: twice as many a
// second. Both ways answer alike, byte for byte, and the parser's is the one that decides: what it has not answered
// before is not ready, and what is not plain is left to it.

/** What direct answers are made and accounted for with. */
export interface DirectAnswersOptions {
  readonly hot: Pick<HotAnswers, 'find'>;
  readonly limits: Pick<ServerLimits, 'headerCount'>;
  readonly unread: Pick<UnreadAnswers, 'open'>;
  readonly underWay: Pick<RequestCounts, 'add' | 'remove'>;
  readonly observers: readonly ((answered: AnsweredRequest) => void)[];
  /** The path of the public address, asked anew for each request. */
  readonly basePath: () => string;
  /** Proxies of our own in front. */
  readonly trustedProxies: number;
}

/** A connection that is answered. */
interface Connection {
  readonly socket: Socket;
  /** The network of its other end. */
  readonly client: string;
  readonly place: Place;
}

/** Direct answers on any connection. */
export interface DirectAnswers {
  /** What answers whole heads of this connection, where it can, as `IntakeOptions.answerDirectly` says. */
  toConnection(connection: Connection): (head: Buffer, over: () => void) => boolean;
  /** Whether the reader of one has yet to take it. */
  readonly isUnderWay: boolean;
  /** Answers nothing more. */
  end(): void;
}

/** Answers documents that are ready. */
export const createDirectAnswers = (options: DirectAnswersOptions): DirectAnswers => {
  const { hot, limits, unread, underWay, observers, basePath, trustedProxies } = options;
  const readPlain = createPlainRequests({ headerCount: limits.headerCount, isHost: isValidHost });
  let pending = 0;
  let isOver = false;

  const clientOf = ({ socket }: Connection, headers: PlainHeaders): string =>
    clientAddress(socket.remoteAddress ?? '', headers['x-forwarded-for'], trustedProxies);

  // What its reader did not take at once is accounted for like every other answer.
  const awaitReader = (connection: Connection, headers: PlainHeaders, over: () => void): void => {
    const { socket, place } = connection;
    const client = trustedProxies === 0 ? connection.client : clientNetwork(clientOf(connection, headers));
    const account = unread.open(client, socket);
    pending++;
    underWay.add(client);
    place.beginRequest();
    account.add(socket.writableLength);
    socket.write('', () => {
      pending--;
      account.close();
      underWay.remove(client);
      place.endRequest();
      over();
    });
  };

  const send = (connection: Connection, { bytes }: DirectAnswer, headers: PlainHeaders, over: () => void): void => {
    const { socket, place } = connection;
    socket.write(bytes.take());
    if (socket.writableLength > 0) {
      bytes.lend();
      awaitReader(connection, headers, over);
      return;
    }
    // It is now the one that was used last.
    place.beginRequest();
    place.endRequest();
    over();
  };

  return {
    toConnection: (connection) => (head, over) => {
      const { socket } = connection;
      const request = isOver || !socket.writable ? undefined : readPlain(head.toString('latin1'));
      if (request === undefined) return false;
      const { headers } = request;
      // An answer to a request that a proxy of ours named gives the name back.
      if (trustedProxies > 0 && headers['x-request-id'] !== undefined) return false;
      const target = targetBelow(basePath(), request.target);
      const answer = hot.find(target, headers);
      if (answer === undefined) return false;
      if (observers.length === 0) {
        send(connection, answer, headers, over);
        return true;
      }
      const note = new NodeRequestNote(undefined);
      note.operation = answer.operation;
      const began = performance.now();
      const before = socket.bytesWritten;
      send(connection, answer, headers, () => {
        const answered: AnsweredRequest = {
          note,
          method: 'GET',
          target,
          userAgent: headers['user-agent'],
          status: answer.status,
          // A write that fails at once is told before the socket is destroyed for it.
          isWhole: !socket.destroyed && socket.errored === null,
          milliseconds: performance.now() - began,
          bytes: socket.bytesWritten - before,
          client: () => clientOf(connection, headers),
        };
        for (const tell of observers) tell(answered);
        over();
      });
      return true;
    },
    get isUnderWay() {
      return pending > 0;
    },
    end: () => {
      isOver = true;
    },
  };
};
