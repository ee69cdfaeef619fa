import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ErrorStatus, errorBody } from '../../src/contract/errors.ts';

// What is wrong before there is a request: the answer is written straight to the connection, which is then closed,
// because what follows on it cannot be told from the rest of what was wrong.

const sentences: Partial<Record<ErrorStatus, string>> = {
  400: 'The request is not valid HTTP',
  408: 'The request took too long to arrive',
  414: 'The address of the request is too long',
  431: 'The headers of the request are too large',
};

const answerText = (status: ErrorStatus, now: Date, method?: string): string => {
  const body = JSON.stringify(errorBody(status, sentences[status] ?? '', now));
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Date: ${now.toUTCString()}`,
    'Cache-Control: no-store',
    'Access-Control-Allow-Origin: *',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
    '',
    method === 'HEAD' ? '' : body,
  ].join('\r\n');
};

// An overflow in the first line is the address's; the parser does not say, but every header follows a line break.
const overflowStatus = (packet: Buffer | undefined): ErrorStatus => (packet?.includes('\r\n') ? 431 : 414);

const statusOf = (error: NodeJS.ErrnoException & { rawPacket?: Buffer }): ErrorStatus => {
  if (error.code === 'HPE_HEADER_OVERFLOW') return overflowStatus(error.rawPacket);
  return error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
};

// A name or an address, and a port. Whatever else a client writes there (a path, a name outside ASCII) would be read
// as a part of the address that is asked for.
const validHost = /^(?:[\w.~-]*|\[[\da-f:.]+\])(?::\d*)?$/i;

/** Whether a request names its host as it must (RFC 9112, section 3.2); one of HTTP/1.0 need not. */
export const namesHost = ({ headers: { host }, httpVersion }: IncomingMessage): boolean =>
  host === undefined ? httpVersion !== '1.1' : validHost.test(host);

/** Refuses a request whose host is none. */
export const refuseHost = ({ socket, method }: IncomingMessage, now: Date): void => {
  socket.end(answerText(400, now, method), () => socket.destroy());
};

/** Knows which connections are in the middle of an answer. */
export interface AnswersUnderWay {
  /** Called with every request that is not answered at once. */
  add(incoming: IncomingMessage, outgoing: ServerResponse): void;
}

/** Has a server answer requests that its parser refuses, in our words and as JSON (decisions, section 3). */
export const answerProtocolErrors = (server: Server, now: () => Date): AnswersUnderWay => {
  const answering = new WeakMap<Duplex, number>();
  const change = (socket: Duplex, by: number) => answering.set(socket, (answering.get(socket) ?? 0) + by);

  server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) => {
    // An error in the middle of an answer would be read as a part of that answer.
    if (error.code === 'ECONNRESET' || !socket.writable || (answering.get(socket) ?? 0) > 0) {
      socket.destroy();
      return;
    }
    const method = error.rawPacket?.subarray(0, 5).toString('latin1').trim();
    socket.end(answerText(statusOf(error), now(), method), () => socket.destroy());
  });

  server.on('connect', (_request, socket) => {
    socket.end(answerText(400, now()), () => socket.destroy());
  });

  return {
    add: ({ socket }, outgoing) => {
      change(socket, 1);
      outgoing.once('close', () => change(socket, -1));
    },
  };
};
