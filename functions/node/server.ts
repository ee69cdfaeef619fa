import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener, RequestError } from '@hono/node-server';
import type { Hono } from 'hono';
import { ourFault, tooManyAtOnce } from '../../src/contract/errors.ts';
import type { RateLimiter } from '../dependencies.ts';
import type { Bindings, Environment } from '../environment.ts';
import { closeToScripts, errorAnswer, HttpError } from '../http/answers.ts';
import { clientAddress, clientNetwork } from '../http/client-address.ts';
import { isOfGateway } from '../http/request-path.ts';
import { createRooms } from '../http/rooms.ts';
import type { DirectQuestion } from '../questions.ts';
import { accountedAnswers } from './answer-writer.ts';
import type { AnsweredRequest } from './answered-request.ts';
import { prepareClosing } from './closing.ts';
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
import { absolute, escapeTarget, targetBelow } from './request-target.ts';
import { createRounds } from './turns.ts';
import { createUnreadAnswers } from './unread-answers.ts';
import { watchStamp } from './watch-stamp.ts';

/** The most memory, in bytes, for ready documents. */
const readyDocuments = 64 * 2 ** 20;

export interface ServerOptions {
  /** Read for each request, so that it can be replaced. */
  readonly app: Pick<Hono<Environment>, 'fetch'>;
  /** Questions that `app` answers too, by their paths. They are used instead of it for plain requests. */
  readonly questions?: ReadonlyMap<string, DirectQuestion>;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly now: () => Date;
  /** How often a client may ask for computed answers, whether they are cached or not. */
  readonly limiter?: RateLimiter;
  /** The most memory, in bytes, for the cache of computed answers. By default none is kept. */
  readonly answerMemory?: number;
  /** How many proxies of our own are in front. Each appends to X-Forwarded-For. */
  readonly trustedProxies: number;
  /**
   * The path of the public address, read for each request. It is removed if a request has it, so that a proxy in front
   * may keep or remove it.
   */
  readonly basePath?: () => string;
  /**
   * The file that every build replaces last. When it changes, `onChange` is called and ready answers are dropped. Null
   * if `forget` is called instead. If it is left out, the server acts as if it changed every second.
   */
  readonly stamp?: string | null;
  readonly onChange?: () => void;
  /** Limits that differ from the default. */
  readonly limits?: Partial<ServerLimits>;
  /** Called when a limit is met, at a bounded rate. */
  readonly onRefusal?: (event: RefusalEvent) => void;
  /** Called for every request when its answer has ended. */
  readonly onAnswered?: readonly ((answered: AnsweredRequest) => void)[];
  /** Whether every answer names its request. If not, answers from memory do so only if a proxy named the request. */
  readonly namesEveryRequest?: boolean;
}

export interface RunningServer {
  /** The port that it listens on. */
  readonly port: number;
  /** How often each limit was met since the start. */
  readonly refusals: Refusals['counts'];
  /** What it holds at the moment, and where its answers came from since the start. */
  held(): {
    readonly connections: number;
    readonly answers: HotAnswers['answered'];
    readonly bytes: ReturnType<HotAnswers['weights']>;
  };
  /** Drops ready answers, because the published files have changed. */
  forget(): void;
  /**
   * Prepares for `close`: until then everything is still answered, but `/v2/readyz` says 503, so that balancers ask
   * another server, and every answer closes its connection, so that they keep none.
   */
  leave(): void;
  /**
   * Stops: accepts no new connections, completes answers in progress, and cuts what is left after the drain timeout.
   */
  close(): Promise<void>;
}

type Answer = InstanceType<ReturnType<typeof accountedAnswers>>;

/** An open connection. */
interface Door {
  readonly client: string;
  readonly place: Place;
  readonly intake: Intake;
  outgoing: ServerResponse | undefined;
}

/** Starts the server. Rejects if it cannot listen on the address. */
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
  let isLeaving = false;

  // The answer to errors that occur before the app is called; nearly always an invalid address.
  const refuseRequest = (error: unknown): Response => {
    if (error instanceof RequestError) return errorAnswer(new HttpError(400, 'The address is not valid'), now(), 'GET');
    return errorAnswer(new HttpError(500, ourFault[500]), now(), 'GET');
  };

  const clientOf = ({ socket, headers }: IncomingMessage): string => {
    const forwardedFor = headers['x-forwarded-for'];
    return clientAddress(socket.remoteAddress ?? '', forwardedFor?.toString(), trustedProxies);
  };

  // The error for a client that has too many requests in progress or too much unread; undefined if it has not.
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
      if (refused !== undefined) {
        const answer = errorAnswer(refused, now(), request.method);
        return isOfGateway(request.url) ? closeToScripts(answer) : answer;
      }
      const { note } = env.outgoing as Answer;
      const bindings: Bindings = {
        clientAddress: clientOf(incoming),
        ...(note === undefined ? {} : { note }),
        isLeaving,
      };
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
    if (isLeaving) outgoing.shouldKeepAlive = false;
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
    // The length after escaping counts: a "#" becomes three characters.
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
      // Both parts are measured as they arrive. What is left to the parser are trailers.
      maxHeaderSize: limits.requestLine + limits.headers + 1024,
      headersTimeout: limits.headersTimeout,
      requestTimeout: limits.requestTimeout,
      keepAliveTimeout: limits.keepAliveTimeout,
      connectionsCheckingInterval: limits.timeoutInterval,
      // If it is missing, the listener answers, as JSON.
      requireHostHeader: false,
      noDelay: true,
      ServerResponse: accountedAnswers(limits.pieceBytes),
    },
    listener,
  );
  // Node drops further headers. One more shows that there were too many.
  server.maxHeadersCount = limits.headerCount + 1;
  server.timeout = limits.socketTimeout;
  const closeServer = prepareClosing(server, {
    doors,
    rounds,
    isAnswering: () => direct?.isUnderWay === true,
    drainTimeout: limits.drainTimeout,
  });
  server.on('checkExpectation', listener);
  const refuse = answerProtocolErrors(server, {
    now,
    lingerTimeout: limits.lingerTimeout,
    isOfGateway: (target) => isOfGateway(absolute(targetBelow(basePath(), target))),
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

  server.listen(options.port, options.host);
  await once(server, 'listening');
  const change = (): void => {
    hot.clear();
    options.onChange?.();
  };
  const stopWatching = options.stamp === null ? () => {} : watchStamp(options.stamp, change);

  const leave = (): void => {
    isLeaving = true;
    direct?.end();
  };

  const close = async (): Promise<void> => {
    leave();
    stopWatching();
    await closeServer();
    unread.end();
    refusals.end();
  };
  const held = () => ({ connections: doors.size, answers: hot.answered, bytes: hot.weights() });
  return {
    port: (server.address() as AddressInfo).port,
    refusals: refusals.counts,
    held,
    forget: hot.clear,
    leave,
    close,
  };
};
