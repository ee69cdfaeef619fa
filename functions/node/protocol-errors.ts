import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type ErrorStatus, errorBody, unreadable } from '../../src/contract/errors.ts';
import type { Intake } from './intake.ts';
import type { RefusingLimit } from './met-limits.ts';

// What is wrong before there is a request: the answer is written straight to the connection, which is then closed,
// because what follows on it cannot be told from the rest of what was wrong. Requests are read one at a time, so no
// other answer is under way, but for that to the request whose body is wrong.

const sentences: Partial<Record<ErrorStatus, string>> = {
  ...unreadable,
  408: 'The request took too long to arrive',
  501: 'The body must come with no transfer coding but chunked (Transfer-Encoding)',
};

const unencoded = 'The address holds a character that must be percent-encoded, such as a blank (%20)';

/** What is wrong with a request. */
interface Refusal {
  readonly status: ErrorStatus;
  readonly sentence?: string;
  readonly method?: string | undefined;
  /** Such as `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const answerText = (
  { status, sentence = sentences[status] ?? '', method, headers = {} }: Refusal,
  now: Date,
): string => {
  const body = JSON.stringify(errorBody(status, sentence, now));
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Date: ${now.toUTCString()}`,
    'Cache-Control: no-store',
    'Access-Control-Allow-Origin: *',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    method === 'HEAD' ? '' : body,
  ].join('\r\n');
};

type ParserError = NodeJS.ErrnoException & { rawPacket?: Buffer; reason?: string };

const refusalOf = (error: ParserError): Refusal => {
  const method = error.rawPacket?.subarray(0, 5).toString('latin1').trim();
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408, method };
  if (error.code === 'HPE_HEADER_OVERFLOW') return { status: 431, method };
  // A blank ends the address for the parser, which then misses the version.
  const isAddress = error.code === 'HPE_INVALID_URL' || error.reason?.startsWith('Expected HTTP/');
  return { status: 400, method, ...(isAddress ? { sentence: unencoded } : {}) };
};

// A name or an address, and a port. Whatever else a client writes there (a path, a name outside ASCII) would be read
// as a part of the address that is asked for.
const validHost = /^(?:[\w.~-]+|\[[\da-f:.]+\])(?::\d*)?$/i;

/**
 * What a Host header names, as the URL standard writes it ("a" for "A:80" and "a:"); undefined where it is no host: a
 * port above 65535, a port alone, brackets around what is no address. It may be empty (RFC 9112, section 3.2).
 */
const parseHost = (host: string): string | undefined => {
  if (host === '') return '';
  return validHost.test(host) ? URL.parse(`http://${host}`)?.host : undefined;
};

// What the URL standard leaves as it is: an address with such a host is always one.
const plainHost = /^([a-z\d._-]+)(?::\d{1,5})?$/;

/** The same for hosts that most requests name; other good ones may be left out. */
export const isPlainHost = (host: string): boolean => {
  const name = plainHost.exec(host)?.[1];
  return name !== undefined && URL.parse(`http://${host}`)?.hostname === name;
};

/**
 * Whether a request names one host, as it must (RFC 9112, section 3.2); one of HTTP/1.0 need name none. It is left as the
 * URL standard writes it, so that whoever answers, from memory or not, reads the same.
 */
export const namesHost = ({ headers, rawHeaders, httpVersion }: IncomingMessage): boolean => {
  if (headers.host === undefined) return httpVersion !== '1.1';
  let named = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.length === 4 && rawHeaders[index]?.toLowerCase() === 'host') named++;
  }
  const host = parseHost(headers.host);
  if (host === undefined) return false;
  headers.host = host;
  return named === 1;
};

/**
 * Whether the body of a request comes with no transfer coding but chunked, the one that is read here: of another one
 * nothing but the outermost layer would be taken off (RFC 9112, section 6.1).
 */
export const isReadable = ({ headers: { 'transfer-encoding': coding } }: IncomingMessage): boolean =>
  coding === undefined || coding.trim().toLowerCase() === 'chunked';

/** A connection on which requests come, and the answer that is under way. */
export interface Line {
  readonly intake: Intake;
  readonly outgoing: ServerResponse | undefined;
}

/** Refuses what came on a connection, and with it whatever else comes. */
export type Refuse = (socket: Socket, refusal: Refusal) => void;

/**
 * Has a server answer requests that its parser refuses, in our words and as JSON (decisions, section 3). A refused
 * client may still be sending: what comes is thrown away for so many milliseconds, because a connection that is closed
 * on unread bytes is reset, and the client would never read the answer. Returns what refuses others alike.
 */
export const answerProtocolErrors = (
  server: Server,
  {
    now,
    lingerTimeout,
    lineOf,
    count,
  }: {
    now: () => Date;
    lingerTimeout: number;
    lineOf: (socket: Socket) => Line | undefined;
    count: (limit: RefusingLimit, socket: Socket) => void;
  },
): Refuse => {
  const refuse: Refuse = (socket, refusal) => {
    const line = lineOf(socket);
    // In the middle of an answer this would be read as a part of it; and after it, as the answer to a request that has not
    // been sent yet, which a proxy may send for somebody else.
    if (!socket.writable || line?.outgoing?.headersSent === true || line?.intake.isAnsweredBeforeItsEnd === true) {
      socket.destroy();
      return;
    }
    line?.intake.discard();
    socket.end(answerText(refusal, now()));
    const end = setTimeout(() => socket.destroy(), lingerTimeout).unref();
    socket.once('close', () => clearTimeout(end));
  };

  server.on('clientError', (error: ParserError, duplex) => {
    const socket = duplex as Socket;
    if (error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const refusal = refusalOf(error);
    if (refusal.status === 408) count('headersTimeout', socket);
    if (refusal.status === 431) count('headers', socket);
    refuse(socket, refusal);
  });

  server.on('connect', (_request, socket) => refuse(socket as Socket, { status: 400 }));

  return refuse;
};
