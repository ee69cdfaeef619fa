import { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';
import { buildConnector } from 'undici';
import { limits } from '../contract/limits.ts';
import { patience } from './guarded-connector.ts';
import { NetworkError, toNetworkError } from './network-error.ts';
import { createDispatcher, type Proxies } from './proxies.ts';

/** One request to a server that the operator chose. */
export interface Sending {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly origin: string;
  /** Path and query as they are sent. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | Readable | undefined;
  /** The longest time, in milliseconds, from connecting to the end of the answer. */
  readonly timeoutMs: number;
  /** The longest answer that is read, in bytes. */
  readonly answerBytes?: number;
}

/** The complete answer. Header names are in lower case. */
export interface SendResult {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

/** Sends single requests, each once. The caller decides what to retry. */
export interface Sender {
  /** Throws `NetworkError`. */
  send(sending: Sending): Promise<SendResult>;
  close(): Promise<void>;
}

// The longest expected answer: the compressed list of all files of a publication.
const usualAnswerBytes = 512 * 2 ** 20;

const readAll = async (body: AsyncIterable<Buffer>, answerBytes: number): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > answerBytes) throw new NetworkError('too-large', `the answer has more than ${answerBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
};

/**
 * A sender for requests: HTTP/1.1 with undici, to any address that the operator names, on at most `connections`
 * connections, which are kept open.
 */
export const createSender = (options: { connections: number; proxies?: Proxies | undefined }): Sender => {
  const timeout = limits.connectMs;
  const agent = createDispatcher(
    {
      connections: options.connections,
      pipelining: 1,
      allowH2: false,
      // A request has one timeout for all of it.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: buildConnector({ allowH2: false, timeout, ...patience(timeout) }),
    },
    options.proxies,
    { timeout },
  );
  return {
    send: async ({ origin, path, method, headers, body, timeoutMs, answerBytes = usualAnswerBytes }) => {
      // An AbortSignal costs more than everything else for a small request. undici accepts any emitter.
      const signal = new EventEmitter();
      let isOver = false;
      const clock = setTimeout(() => {
        isOver = true;
        signal.emit('abort');
      }, Math.ceil(timeoutMs));
      let reading = false;
      try {
        const response = await agent.request({ origin, path, method, headers, body: body ?? null, signal });
        reading = true;
        const single = Object.entries(response.headers).map(([name, value]) => [
          name,
          Array.isArray(value) ? value.join(', ') : value,
        ]);
        return {
          status: response.statusCode,
          headers: Object.fromEntries(single),
          body: await readAll(response.body, answerBytes),
        };
      } catch (error) {
        if (isOver) {
          const seconds = Math.round(timeoutMs / 1000);
          throw new NetworkError('timeout', `${origin} did not answer within ${seconds} s`, { cause: error });
        }
        throw toNetworkError(error, reading, origin);
      } finally {
        clearTimeout(clock);
      }
    },
    close: () => agent.destroy(),
  };
};
