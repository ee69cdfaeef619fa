import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type ErrorStatus, errorBody, unreadable } from '../../src/contract/errors.ts';
import type { Intake } from './intake.ts';
import type { RefusingLimit } from './met-limits.ts';

// Errors that occur before there is a request. The answer is written directly to the connection, which is then closed,
// because nothing that follows on it can be told from the rest of the faulty request. Requests are read one at a time,
// so no other answer is in progress, except that to a request whose body is faulty.

const sentences: Partial<Record<ErrorStatus, string>> = unreadable;

const unencoded = 'The address holds a character that must be percent-encoded, such as a blank (%20)';

/** A refusal of a request. */
interface Refusal {
  readonly status: ErrorStatus;
  readonly sentence?: string;
  readonly method?: string | undefined;
  /** Such as `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const answerText = (
  { status, sentence = sentences[status] ?? '', method, headers = {} }: Refusal,
  isOpen: boolean,
  now: Date,
): string => {
  const body = JSON.stringify(errorBody(status, sentence, now));
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Date: ${now.toUTCString()}`,
    'Cache-Control: no-store',
    ...(isOpen ? ['Access-Control-Allow-Origin: *'] : []),
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
  // A blank in the address ends it for the parser, which then misses the version.
  const isAddress = error.code === 'HPE_INVALID_URL' || error.reason?.startsWith('Expected HTTP/');
  return { status: 400, method, ...(isAddress ? { sentence: unencoded } : {}) };
};

// A name or an address, and a port. Anything else there (a path, a name outside ASCII) would be read as a part of the
// address that is requested.
const validHost = /^(?:[\w.~-]+|\[[\da-f:.]+\])(?::\d*)?$/i;

/**
 * The host in a Host header, as the URL standard writes it ("a" for "A:80" and "a:"); undefined if it is no host: a
 * port above 65535, a port alone, brackets around something that is no address. It may be empty (RFC 9112, section
 * 3.2).
 */
const parseHost = (host: string): string | undefined => {
  if (host === '') return '';
  return validHost.test(host) ? URL.parse(`http://${host}`)?.host : undefined;
};

// Hosts that the URL standard leaves as they are, so that an address with such a host is always valid.
const plainHost = /^([a-z\d._-]+)(?::\d{1,5})?$/;

/** A quick check for the hosts that most requests name. False for some valid ones. */
export const isPlainHost = (host: string): boolean => {
  const name = plainHost.exec(host)?.[1];
  return name !== undefined && URL.parse(`http://${host}`)?.hostname === name;
};

/**
 * Whether a request names one host, as it must (RFC 9112, section 3.2); with HTTP/1.0 it need not. Rewrites the host as
 * the URL standard does, so that every reader of the request sees the same.
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
 * Whether the body of a request has no transfer coding except chunked, which is the only one read here: of any other,
 * only the outermost layer would be decoded (RFC 9112, section 6.1).
 */
export const isReadable = ({ headers: { 'transfer-encoding': coding } }: IncomingMessage): boolean =>
  coding === undefined || coding.trim().toLowerCase() === 'chunked';

/** A connection, and the answer in progress on it. */
export interface Line {
  readonly intake: Intake;
  readonly outgoing: ServerResponse | undefined;
}

/** Refuses what arrived on a connection, and everything after it. */
export type Refuse = (socket: Socket, refusal: Refusal) => void;

/**
 * Answers requests that the server's parser refuses, as JSON in our own words (decisions, section 3). A refused client
 * may still be sending. Its data is discarded for `lingerTimeout` milliseconds: if a connection is closed with unread
 * bytes it is reset, and the client never sees the answer. Returns a function that refuses other requests in the same
 * way.
 */
export const answerProtocolErrors = (
  server: Server,
  {
    now,
    lingerTimeout,
    isOfGateway,
    lineOf,
    count,
  }: {
    now: () => Date;
    lingerTimeout: number;
    /** Whether the gateway answers this target. */
    isOfGateway: (target: string) => boolean;
    lineOf: (socket: Socket) => Line | undefined;
    count: (limit: RefusingLimit, socket: Socket) => void;
  },
): Refuse => {
  const refuse: Refuse = (socket, refusal) => {
    const line = lineOf(socket);
    // During an answer this text would be read as a part of it; after an answer, as the answer to a request that has
    // not been sent yet, and a proxy may send that one for somebody else.
    if (!socket.writable || line?.outgoing?.headersSent === true || line?.intake.isAnsweredBeforeItsEnd === true) {
      socket.destroy();
      return;
    }
    line?.intake.discard();
    // As of everything else at the gateway's addresses.
    const isOpen = !isOfGateway(line?.intake.target ?? '');
    socket.end(answerText(refusal, isOpen, now()));
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
    // Browsers keep connections to spare. The log would name a person who asked for nothing (src/contract/kept.ts).
    if (refusal.status === 408 && socket.bytesRead > 0) count('headersTimeout', socket);
    if (refusal.status === 431) count('headers', socket);
    refuse(socket, refusal);
  });

  server.on('connect', (_request, socket) => refuse(socket as Socket, { status: 400 }));

  return refuse;
};
