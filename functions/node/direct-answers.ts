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

// Ready documents are sent without Node's HTTP parser and the objects that it makes of a request, which doubles the
// number of answers a second. Both ways give the same answer, byte for byte, and the parser's way decides: only what it
// has answered before is ready, and requests that are not plain are left to it. Questions to the index are answered in
// the same way, because those objects take more time than finding the answer.

/** What direct answers need. */
export interface DirectAnswersOptions {
  readonly hot: Pick<HotAnswers, 'find'>;
  readonly questions: DirectQuestions;
  readonly limits: Pick<ServerLimits, 'headerCount' | 'pieceBytes'>;
  readonly unread: Pick<UnreadAnswers, 'open'>;
  readonly underWay: Pick<RequestCounts, 'add' | 'remove'>;
  readonly observers: readonly ((answered: AnsweredRequest) => void)[];
  /** The path of the public address, read for each request. */
  readonly basePath: () => string;
  /** How many proxies of our own are in front. */
  readonly trustedProxies: number;
}

/** A connection with direct answers. */
interface Connection {
  readonly socket: Socket;
  /** The network of the peer. */
  readonly client: string;
  readonly place: Place;
}

/** Direct answers for any number of connections. */
export interface DirectAnswers {
  /**
   * Returns the function that answers whole heads of this connection where it can, as `IntakeOptions.answerDirectly`
   * describes.
   */
  toConnection(connection: Connection): (head: Buffer, over: () => void) => boolean;
  /** Whether an answer is being made, or its reader has yet to take it. */
  readonly isUnderWay: boolean;
  /** Stops answering directly. */
  end(): void;
}

/** Direct answers from ready documents, and to questions. */
export const createDirectAnswers = (options: DirectAnswersOptions): DirectAnswers => {
  const { hot, questions, limits, unread, underWay, observers, basePath, trustedProxies } = options;
  const readPlain = createPlainRequests({ headerCount: limits.headerCount, isHost: isPlainHost });
  let pending = 0;
  let isOver = false;

  const addressOf = ({ socket }: Connection, headers: PlainHeaders): string =>
    clientAddress(socket.remoteAddress ?? '', headers['x-forwarded-for'], trustedProxies);
  const clientOf = (connection: Connection, headers: PlainHeaders): string =>
    trustedProxies === 0 ? connection.client : clientNetwork(addressOf(connection, headers));

  // An answer that takes time is accounted for like any other, until the returned function is called.
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
    // Makes this connection the most recently used one.
    place.beginRequest();
    place.endRequest();
    over();
  };

  /** Returns a function that reports the answer that begins now to the observers. */
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

  /**
   * Writes the answer to its connection piece by piece, each when the reader has taken the one before. Calls back once.
   */
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
    // Sends the head and the first piece in one system call.
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
      // An answer to a request that our proxy named must return that name, so it is left to the parser's way.
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
        // A write that fails immediately is reported before the socket is destroyed.
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
