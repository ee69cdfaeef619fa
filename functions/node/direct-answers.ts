import type { Socket } from 'node:net';
import { clientAddress, clientNetwork } from '../http/client-address.ts';
import type { DirectQuestion } from '../questions.ts';
import type { UnreadAccount } from './answer-writer.ts';
import type { AnsweredRequest } from './answered-request.ts';
import type { ComposedAnswer, DirectQuestions } from './direct-questions.ts';
import type { DirectAnswer, HotAnswers } from './hot-answers.ts';
import type { ServerLimits } from './limits.ts';
import type { Place } from './places.ts';
import { createPlainRequests, type PlainHeaders, type PlainRequest } from './plain-request.ts';
import { isPlainHost } from './protocol-errors.ts';
import type { RequestCounts } from './request-counts.ts';
import { NodeRequestNote } from './request-note.ts';
import { targetBelow } from './request-target.ts';
import type { UnreadAnswers } from './unread-answers.ts';

// A document that is ready is answered past the parser and the objects that Node makes of a request: twice as many a
// second. Both ways answer alike, byte for byte, and the parser's is the one that decides: what it has not answered
// before is not ready, and what is not plain is left to it. Questions to the index go the same way, since most of what an
// answer to one takes besides finding it were those objects.

/** What direct answers are made and accounted for with. */
export interface DirectAnswersOptions {
  readonly hot: Pick<HotAnswers, 'find'>;
  readonly questions: DirectQuestions;
  readonly limits: Pick<ServerLimits, 'headerCount' | 'pieceBytes'>;
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
  /** Whether one is being made, or its reader has yet to take it. */
  readonly isUnderWay: boolean;
  /** Answers nothing more. */
  end(): void;
}

/** Answers documents that are ready, and questions. */
export const createDirectAnswers = (options: DirectAnswersOptions): DirectAnswers => {
  const { hot, questions, limits, unread, underWay, observers, basePath, trustedProxies } = options;
  const readPlain = createPlainRequests({ headerCount: limits.headerCount, isHost: isPlainHost });
  let pending = 0;
  let isOver = false;

  const addressOf = ({ socket }: Connection, headers: PlainHeaders): string =>
    clientAddress(socket.remoteAddress ?? '', headers['x-forwarded-for'], trustedProxies);
  const clientOf = (connection: Connection, headers: PlainHeaders): string =>
    trustedProxies === 0 ? connection.client : clientNetwork(addressOf(connection, headers));

  // What takes time is accounted for like every other answer, until the function returned is called.
  const begin = ({ socket, place }: Connection, client: string): [account: UnreadAccount, end: () => void] => {
    const account = unread.open(client, socket);
    pending++;
    underWay.add(client);
    place.beginRequest();
    const end = (): void => {
      pending--;
      account.close();
      underWay.remove(client);
      place.endRequest();
    };
    return [account, end];
  };

  const send = (connection: Connection, { bytes }: DirectAnswer, headers: PlainHeaders, over: () => void): void => {
    const { socket, place } = connection;
    socket.write(bytes.take());
    if (socket.writableLength > 0) {
      bytes.lend();
      const [account, end] = begin(connection, clientOf(connection, headers));
      account.add(socket.writableLength);
      socket.write('', () => {
        end();
        over();
      });
      return;
    }
    // It is now the one that was used last.
    place.beginRequest();
    place.endRequest();
    over();
  };

  /** Returns what tells those who watch of an answer that begins now. */
  const watch = (connection: Connection, { target, headers }: PlainRequest, note: NodeRequestNote) => {
    if (observers.length === 0) return () => {};
    const { socket } = connection;
    const began = performance.now();
    const before = socket.bytesWritten;
    return (status: number, isWhole: boolean): void => {
      const answered: AnsweredRequest = {
        note,
        method: 'GET',
        target,
        userAgent: headers['user-agent'],
        status,
        isWhole,
        milliseconds: performance.now() - began,
        bytes: socket.bytesWritten - before,
        client: () => addressOf(connection, headers),
      };
      for (const tell of observers) tell(answered);
    };
  };

  /** Gives the answer to its connection piece by piece, each when its reader took the one before; calls back once. */
  const sendPieces = (
    socket: Socket,
    { head, body }: ComposedAnswer,
    account: UnreadAccount,
    done: (isWhole: boolean) => void,
  ): void => {
    account.add(body.length);
    const sendFrom = (start: number): void => {
      const piece = body.subarray(start, start + limits.pieceBytes);
      socket.write(piece, (error) => {
        account.take(piece.length);
        const next = start + piece.length;
        if (error || next === body.length) done(!error);
        else if (!socket.destroyed) sendFrom(next);
      });
    };
    // Head and first piece in one call of the system.
    socket.cork();
    socket.write(head, 'latin1');
    sendFrom(0);
    socket.uncork();
  };

  const answerQuestion = (
    connection: Connection,
    request: PlainRequest,
    question: DirectQuestion,
    over: () => void,
  ) => {
    const { socket } = connection;
    const { headers } = request;
    const address = addressOf(connection, headers);
    const client = clientOf(connection, headers);
    const note = new NodeRequestNote(undefined);
    const tell = watch(connection, request, note);
    const [account, end] = begin(connection, client);
    let status = 200;
    let isEnded = false;
    const finish = (isWhole: boolean): void => {
      if (isEnded) return;
      isEnded = true;
      socket.off('close', cut);
      tell(status, isWhole);
      end();
      over();
    };
    const cut = (): void => finish(false);
    socket.once('close', cut);
    void questions.answer(question, { ...request, address, client, note }).then((answer) => {
      if (isEnded) return;
      if (!socket.writable) return cut();
      status = answer.status;
      sendPieces(socket, answer, account, finish);
    });
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
      if (answer === undefined) {
        const question = questions.find(target);
        if (question === undefined) return false;
        answerQuestion(connection, { target, headers }, question, over);
        return true;
      }
      if (observers.length === 0) {
        send(connection, answer, headers, over);
        return true;
      }
      const note = new NodeRequestNote(undefined);
      note.operation = answer.operation;
      const tell = watch(connection, { target, headers }, note);
      send(connection, answer, headers, () => {
        // A write that fails at once is told before the socket is destroyed for it.
        tell(answer.status, !socket.destroyed && socket.errored === null);
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
