import { statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener, RequestError } from '@hono/node-server';
import type { Hono } from 'hono';
import { errorAnswer, HttpError } from './answers.ts';
import { clientAddress } from './client-address.ts';
import type { RateLimiter } from './dependencies.ts';
import type { Bindings, Environment } from './environment.ts';
import { createHotAnswers } from './node/hot-answers.ts';
import { answerProtocolErrors, namesHost, refuseHost } from './node/protocol-errors.ts';

/** Limits of the server. They bound what one client can hold: connections, bytes before an answer, and time. */
const usualLimits = {
  /** Request line and headers together, in bytes. A multi lookup needs 64 KiB for its line alone. */
  headerBytes: 128 * 1024,
  /** The address alone, in characters: 64 KiB of request line, with room for how one counts. */
  addressLength: 66_000,
  /** Headers of one request; node drops what comes after. */
  headerCount: 200,
  /** Milliseconds for all headers to arrive, and for the whole request. */
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  /** How often, in milliseconds, these two are looked after. */
  timeoutInterval: 2000,
  /** Milliseconds an idle connection stays open: longer than the 60 s of common proxies, which may reuse it. */
  keepAliveTimeout: 65_000,
  /** Milliseconds without a byte in either direction after which a connection is closed: slow readers end here. */
  socketTimeout: 70_000,
  /** Connections at once; further ones are closed as they come. */
  connections: 4096,
  /** Milliseconds that answers in flight get to complete when the server stops. */
  drainTimeout: 6_000,
};
export type ServerLimits = Readonly<typeof usualLimits>;

/** How often, in milliseconds, a change of what is published is looked for. */
const stampInterval = 250;

/** The most memory, in bytes, for documents kept ready to be sent. */
const readyDocuments = 64 * 2 ** 20;

export interface ServerOptions {
  /** Asked anew for each request, so that another may take its place. */
  readonly app: Pick<Hono<Environment>, 'fetch'>;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly now: () => Date;
  /** How often a client may ask for what is computed, kept or not. */
  readonly limiter?: RateLimiter;
  /** The most memory, in bytes, for computed answers that are kept; none is kept by default. */
  readonly answerMemory?: number;
  /** Proxies of our own in front, each of which adds to X-Forwarded-For. */
  readonly trustedProxies: number;
  /** The file that every build replaces last: when it changes, `onChange` is called and ready answers are dropped. */
  readonly stamp?: string;
  readonly onChange?: () => void;
  /** Other limits than the usual ones. */
  readonly limits?: Partial<ServerLimits>;
}

export interface RunningServer {
  /** The port it listens on. */
  readonly port: number;
  /** Stops: no new connections, answers in flight complete, and whatever is left after the drain timeout is cut. */
  close(): Promise<void>;
}

// The state of the stamp as one text; one that is not there has a state too.
const readStamp = (file: string): string => {
  try {
    const { ino, mtimeNs, size } = statSync(file, { bigint: true });
    return `${ino}-${mtimeNs}-${size}`;
  } catch {
    return '';
  }
};

// Some clients send addresses of repositories without percent-encoding. A "#" has no meaning in a request, and would
// end the address for all that read it as a URL.
const escapeTarget = (target: string): string => target.replaceAll('#', '%23');

// With a stamp that never changes answers are kept for good, so without one they are kept for this many rounds.
const roundsWithoutStamp = 4;

/** Calls `onChange` whenever the stamp has changed; without one, every second. Returns what ends that. */
const watchStamp = (file: string | undefined, onChange: () => void): (() => void) => {
  let seen = file === undefined ? '' : readStamp(file);
  let rounds = 0;
  const timer = setInterval(() => {
    const state = file === undefined ? '' : readStamp(file);
    rounds = state === '' ? rounds + 1 : 0;
    if (state === seen && rounds < roundsWithoutStamp) return;
    seen = state;
    rounds = 0;
    onChange();
  }, stampInterval);
  timer.unref();
  return () => clearInterval(timer);
};

/** Starts the server. Rejects where the address cannot be listened on. */
export const startServer = async (options: ServerOptions): Promise<RunningServer> => {
  const { app, now } = options;
  const limits: ServerLimits = { ...usualLimits, ...options.limits };
  const hot = createHotAnswers({ documents: readyDocuments, computed: options.answerMemory ?? 0 });
  let draining = false;

  // What goes wrong before the app is asked: an address that is none, for the most part.
  const refuse = (error: unknown): Response => {
    if (error instanceof RequestError) return errorAnswer(new HttpError(400, 'The address is not valid'), now(), 'GET');
    return errorAnswer(new HttpError(500, 'Something went wrong on our side'), now(), 'GET');
  };

  const clientOf = ({ socket, headers }: IncomingMessage): string => {
    const forwardedFor = headers['x-forwarded-for'];
    return clientAddress(socket.remoteAddress ?? '', forwardedFor?.toString(), options.trustedProxies);
  };

  const answerByApp = getRequestListener(
    (request, env) => {
      const incoming = env.incoming as IncomingMessage;
      if ((incoming.url ?? '').length > limits.addressLength) {
        return errorAnswer(new HttpError(414, 'The address of the request is too long'), now(), request.method);
      }
      const remember = hot.recorder(incoming);
      const keep = hot.keeper(incoming);
      const bindings: Bindings = {
        clientAddress: clientOf(incoming),
        ...(remember ? { remember } : {}),
        ...(keep ? { keep } : {}),
      };
      return app.fetch(request, bindings);
    },
    { hostname: 'localhost', errorHandler: refuse },
  );

  const listener = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (draining) outgoing.shouldKeepAlive = false;
    if (!namesHost(incoming)) {
      refuseHost(incoming, now());
      return;
    }
    if (hot.answer(incoming, outgoing, () => (options.limiter?.take(clientOf(incoming)) ?? 0) === 0)) return;
    underWay.add(incoming, outgoing);
    incoming.url = escapeTarget(incoming.url ?? '');
    void answerByApp(incoming, outgoing);
  };

  const server = createServer(
    {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersTimeout,
      requestTimeout: limits.requestTimeout,
      keepAliveTimeout: limits.keepAliveTimeout,
      connectionsCheckingInterval: limits.timeoutInterval,
      // Its absence is answered here, as JSON.
      requireHostHeader: false,
      noDelay: true,
    },
    listener,
  );
  server.maxConnections = limits.connections;
  server.maxHeadersCount = limits.headerCount;
  server.timeout = limits.socketTimeout;
  server.on('checkExpectation', listener);
  const underWay = answerProtocolErrors(server, now);

  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const stopWatching = watchStamp(options.stamp, () => {
    hot.clear();
    options.onChange?.();
  });

  const close = async (): Promise<void> => {
    draining = true;
    stopWatching();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // Node counts a connection on which nothing was asked yet as busy.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    // A connection becomes idle when its answer is complete.
    const sweep = setInterval(() => server.closeIdleConnections(), 50);
    const cut = setTimeout(() => server.closeAllConnections(), limits.drainTimeout);
    await closed;
    clearInterval(sweep);
    clearTimeout(cut);
  };
  return { port: (server.address() as AddressInfo).port, close };
};
