import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener, RequestError } from '@hono/node-server';
import type { Hono } from 'hono';
import { tooManyAtOnce } from '../../src/contract/errors.ts';
import type { RateLimiter } from '../dependencies.ts';
import type { Bindings, Environment } from '../environment.ts';
import { errorAnswer, HttpError } from '../http/answers.ts';
import { clientAddress, clientNetwork } from '../http/client-address.ts';
import { createRooms } from '../http/rooms.ts';
import type { DirectQuestion } from '../questions.ts';
import { accountedAnswers } from './answer-writer.ts';
import type { AnsweredRequest } from './answered-request.ts';
import { createDirectAnswers } from './direct-answers.ts';
import { createDirectQuestions } from './direct-questions.ts';
import { createHotAnswers, type HotAnswers } from './hot-answers.ts';
import { Intake } from './intake.ts';
import { chooseLimits, type ServerLimits } from './limits.ts';
import { createRefusals, type RefusalEvent, type Refusals } from './met-limits.ts';
import { createPlaces, type Place } from './places.ts';
import { answerProtocolErrors, isReadable, namesHost } from './protocol-errors.ts';
import { createRequestCounts } from './request-counts.ts';
import { NodeRequestNote, requestIdHeader } from './request-note.ts';
import { escapeTarget, targetBelow } from './request-target.ts';
import { createRounds } from './turns.ts';
import { createUnreadAnswers } from './unread-answers.ts';
import { watchStamp } from './watch-stamp.ts';

/** The most memory, in bytes, for documents kept ready to be sent. */
const readyDocuments = 64 * 2 ** 20;

export interface ServerOptions {
  /** Asked anew for each request, so that another may take its place. */
  readonly app: Pick<Hono<Environment>, 'fetch'>;
  /** What `app` answers too, by the paths at which it does; asked in its place where a request is plain. */
  readonly questions?: ReadonlyMap<string, DirectQuestion>;
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
  /**
   * The path of the public address, asked anew for each request: it is taken off where a request brings it, so that a
   * proxy in front may keep it or take it off by itself.
   */
  readonly basePath?: () => string;
  /**
   * The file that every build replaces last: when it changes, `onChange` is called and ready answers are dropped. Null
   * where `forget` is called instead; without either, it is as though it changed every second.
   */
  readonly stamp?: string | null;
  readonly onChange?: () => void;
  /** Other limits than the usual ones. */
  readonly limits?: Partial<ServerLimits>;
  /** Told which limits are met, at a bounded rate. */
  readonly onRefusal?: (event: RefusalEvent) => void;
  /** Told of every request when its answer is over. */
  readonly onAnswered?: readonly ((answered: AnsweredRequest) => void)[];
  /** Whether every answer names its request; else those that come from memory do only where a proxy named it. */
  readonly namesEveryRequest?: boolean;
}

export interface RunningServer {
  /** The port it listens on. */
  readonly port: number;
  /** How often each limit was met since the start. */
  readonly refusals: Refusals['counts'];
  /** What it holds at the moment, and where its answers came from since the start. */
  held(): {
    readonly connections: number;
    readonly answers: HotAnswers['answered'];
    readonly bytes: ReturnType<HotAnswers['weights']>;
  };
  /** Drops ready answers, because others are given from now on. */
  forget(): void;
  /** Stops: no new connections, answers in flight complete, and whatever is left after the drain timeout is cut. */
  close(): Promise<void>;
}

type Answer = InstanceType<ReturnType<typeof accountedAnswers>>;

/** What is known of an open connection. */
interface Door {
  readonly client: string;
  readonly place: Place;
  readonly intake: Intake;
  outgoing: ServerResponse | undefined;
}

/** Starts the server. Rejects where the address cannot be listened on. */
export const startServer = async (options: ServerOptions): Promise<RunningServer> => {
  const { app, now, trustedProxies } = options;
  const limits = chooseLimits(options.limits);
  const basePath = options.basePath ?? (() => '');
  const { pieceBytes, keepAliveTimeout } = limits;
  const hot = createHotAnswers({
    documents: readyDocuments,
    computed: options.answerMemory ?? 0,
    pieceBytes,
    keepAliveTimeout,
  });
  const refusals = createRefusals(limits, { now, tell: options.onRefusal ?? (() => {}) });
  const places = createPlaces(limits, { areProxied: trustedProxies > 0, count: refusals.count });
  const unread = createUnreadAnswers(limits, refusals.count);
  const underWay = createRequestCounts();
  const rounds = createRounds();
  const isProxied = trustedProxies > 0;
  const rooms = createRooms({
    all: limits.longHeads,
    each: isProxied ? Number.POSITIVE_INFINITY : limits.clientLongHeads,
  });
  const doors = new Map<Socket, Door>();
  let draining = false;

  // What goes wrong before the app is asked: an address that is none, for the most part.
  const refuseRequest = (error: unknown): Response => {
    if (error instanceof RequestError) return errorAnswer(new HttpError(400, 'The address is not valid'), now(), 'GET');
    return errorAnswer(new HttpError(500, 'Something went wrong on our side'), now(), 'GET');
  };

  const clientOf = ({ socket, headers }: IncomingMessage): string => {
    const forwardedFor = headers['x-forwarded-for'];
    return clientAddress(socket.remoteAddress ?? '', forwardedFor?.toString(), trustedProxies);
  };

  // What a client has too much of for another request to be answered.
  const findExcess = (client: string): HttpError | undefined => {
    if (underWay.of(client) > limits.clientRequests) {
      refusals.count('clientRequests', client);
      return new HttpError(429, tooManyAtOnce, { 'Retry-After': '1' });
    }
    if (unread.admits(client)) return undefined;
    return new HttpError(429, 'Too many answers that were not read: try again when they are', { 'Retry-After': '5' });
  };

  const answerByApp = getRequestListener(
    (request, env) => {
      const incoming = env.incoming as IncomingMessage;
      const refused = findExcess(clientNetwork(clientOf(incoming)));
      if (refused !== undefined) return errorAnswer(refused, now(), request.method);
      const { note } = env.outgoing as Answer;
      const bindings: Bindings = { clientAddress: clientOf(incoming), ...(note === undefined ? {} : { note }) };
      return app.fetch(request, bindings);
    },
    { hostname: 'localhost', errorHandler: refuseRequest },
  );

  const observers = options.onAnswered ?? [];
  const tellAnswered = (began: number, before: number, incoming: IncomingMessage, outgoing: Answer): void => {
    const { note } = outgoing;
    if (observers.length === 0 || note === undefined) return;
    const answered: AnsweredRequest = {
      note,
      method: incoming.method ?? '',
      target: incoming.url ?? '',
      userAgent: incoming.headers['user-agent'],
      status: outgoing.statusCode,
      isWhole: outgoing.writableFinished,
      milliseconds: performance.now() - began,
      bytes: incoming.socket.bytesWritten - before,
      client: () => clientOf(incoming),
    };
    for (const tell of observers) tell(answered);
  };

  const begin = (door: Door, incoming: IncomingMessage, outgoing: Answer): void => {
    const { socket } = incoming;
    const client = trustedProxies === 0 ? door.client : clientNetwork(clientOf(incoming));
    const account = unread.open(client, socket);
    outgoing.account = account;
    outgoing.note = new NodeRequestNote(trustedProxies > 0 ? incoming.headers['x-request-id'] : undefined);
    const began = observers.length === 0 ? 0 : performance.now();
    const before = socket.bytesWritten;
    door.outgoing = outgoing;
    door.place.beginRequest();
    underWay.add(client);
    outgoing.once('close', () => {
      account.close();
      tellAnswered(began, before, incoming, outgoing);
      underWay.remove(client);
      door.outgoing = undefined;
      door.place.endRequest();
    });
    door.intake.begin(incoming, outgoing);
  };

  const nameRequest = (outgoing: Answer): void => {
    if (outgoing.note !== undefined) outgoing.setHeader(requestIdHeader, outgoing.note.id);
  };

  const listener = (incoming: IncomingMessage, outgoing: Answer): void => {
    const { socket, method } = incoming;
    const door = doors.get(socket);
    if (door === undefined) {
      socket.destroy();
      return;
    }
    if (draining) outgoing.shouldKeepAlive = false;
    if (!namesHost(incoming)) {
      refuse(socket, { status: 400, method, sentence: 'The request must name one host, and a port of at most 65535' });
      return;
    }
    if (!isReadable(incoming)) {
      refuse(socket, { status: 501, method });
      return;
    }
    if (incoming.rawHeaders.length > 2 * limits.headerCount) {
      refusals.count('headerCount', door.client);
      refuse(socket, { status: 431, method });
      return;
    }
    incoming.url = targetBelow(basePath(), incoming.url ?? '');
    // Counted as it is going to be read: a "#" becomes three characters.
    const target = escapeTarget(incoming.url);
    if (target.length > limits.requestLine) {
      refusals.count('requestLine', door.client);
      refuse(socket, { status: 414, method });
      return;
    }
    begin(door, incoming, outgoing);
    if (outgoing.note?.given !== undefined || options.namesEveryRequest) nameRequest(outgoing);
    if (hot.answer(incoming, outgoing, () => (options.limiter?.take(clientOf(incoming)) ?? 0) === 0)) return;
    incoming.url = target;
    nameRequest(outgoing);
    hot.observe(incoming, outgoing);
    void answerByApp(incoming, outgoing);
  };

  const { limiter } = options;
  const questions = createDirectQuestions({
    questions: options.questions ?? new Map(),
    hot,
    limits,
    limiter,
    findExcess,
    now,
  });
  const direct = options.namesEveryRequest
    ? undefined
    : createDirectAnswers({ hot, questions, limits, unread, underWay, observers, basePath, trustedProxies });

  const server = createServer(
    {
      // Both are measured as they come; what is left to the parser are trailers.
      maxHeaderSize: limits.requestLine + limits.headers + 1024,
      headersTimeout: limits.headersTimeout,
      requestTimeout: limits.requestTimeout,
      keepAliveTimeout: limits.keepAliveTimeout,
      connectionsCheckingInterval: limits.timeoutInterval,
      // Its absence is answered here, as JSON.
      requireHostHeader: false,
      noDelay: true,
      ServerResponse: accountedAnswers(limits.pieceBytes),
    },
    listener,
  );
  // Node drops what is beyond that; one more tells that there were too many.
  server.maxHeadersCount = limits.headerCount + 1;
  server.timeout = limits.socketTimeout;
  const closeIdle = server.closeIdleConnections.bind(server);
  // Connections that are answered directly look idle to it; it is also called when the server ends.
  server.closeIdleConnections = () => {
    if (direct?.isUnderWay !== true) closeIdle();
  };
  server.on('checkExpectation', listener);
  const refuse = answerProtocolErrors(server, {
    now,
    lingerTimeout: limits.lingerTimeout,
    lineOf: (socket) => doors.get(socket),
    count: (limit, socket) => refusals.count(limit, doors.get(socket)?.client),
  });

  server.on('connection', (socket) => {
    rounds.hurry();
    const client = clientNetwork(socket.remoteAddress ?? '');
    const place = places.take(socket, client);
    if (place === undefined) {
      socket.destroy();
      return;
    }
    const room = rooms.open(client);
    const takeRoom = (bytes: number): boolean => {
      try {
        room.take(bytes);
        return true;
      } catch (error) {
        const { status, message, headers } = error as HttpError;
        refusals.count(status === 429 ? 'clientLongHeads' : 'longHeads', client);
        refuse(socket, { status, sentence: message, headers });
        return false;
      }
    };
    const intake = new Intake(socket, {
      bounds: limits,
      takeRoom,
      giveRoom: room.give,
      ...(direct === undefined ? {} : { answerDirectly: direct.toConnection({ socket, client, place }) }),
      takeTurn: (work) => rounds.take(client, work),
      onExceeded: (bound) => {
        refusals.count(bound, client);
        refuse(socket, { status: bound === 'headers' ? 431 : 414 });
      },
    });
    doors.set(socket, { client, place, intake, outgoing: undefined });
    socket.once('close', () => doors.delete(socket));
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const change = (): void => {
    hot.clear();
    options.onChange?.();
  };
  const stopWatching = options.stamp === null ? () => {} : watchStamp(options.stamp, change);

  const close = async (): Promise<void> => {
    draining = true;
    direct?.end();
    stopWatching();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // Node counts a connection on which nothing was asked yet as busy.
    for (const socket of doors.keys()) if (socket.bytesRead === 0) socket.destroy();
    // A connection becomes idle when its answer is complete.
    const sweep = setInterval(() => server.closeIdleConnections(), 50);
    const cut = setTimeout(() => server.closeAllConnections(), limits.drainTimeout);
    await closed;
    clearInterval(sweep);
    clearTimeout(cut);
    unread.end();
    refusals.end();
  };
  const held = () => ({ connections: doors.size, answers: hot.answered, bytes: hot.weights() });
  return { port: (server.address() as AddressInfo).port, refusals: refusals.counts, held, forget: hot.clear, close };
};
