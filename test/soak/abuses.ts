import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

// What is done to a server on purpose, each from an address of its own, none of them the honest clients'. The numbers
// are those that once stopped or filled a server.

/** Where an abuse is aimed. */
export interface Target {
  readonly host: string;
  readonly port: number;
  /** The path of an answer of several megabytes. */
  readonly largePath: string;
}

/** How often something happened to an abuse, by what it was. */
export type AbuseCounts = Record<string, number>;

/** A running abuse: where it is aimed, from which address, and where it counts. */
interface Abuser {
  readonly target: Target;
  readonly localAddress: string;
  readonly count: (what: string, by?: number) => void;
  /** Where it keeps the connections on which thousands of requests are on their way. */
  readonly flooded: Set<Socket>;
}

/** One abuse; it goes on until its process ends. */
export interface Abuse {
  readonly name: string;
  readonly localAddress: string;
  readonly run: (abuser: Abuser) => Promise<void>;
}

const openSocket = ({ target, localAddress, count }: Abuser): Promise<Socket | undefined> =>
  new Promise((resolve) => {
    const socket = connect({ host: target.host, port: target.port, localAddress });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // Reset or refused by the server is what is looked for; an address that this system does not have is not.
      if (error.code === 'EADDRNOTAVAIL' || error.code === 'EINVAL') throw error;
    });
    socket.once('connect', () => {
      count('connections');
      resolve(socket);
    });
    socket.once('close', () => {
      count('closed by the server');
      resolve(undefined);
    });
  });

/** Keeps so many connections open, each used as `use` says, opening no more than so many a second. */
const keepOpen = async (
  abuser: Abuser,
  { connections, everyMs }: { connections: number; everyMs: number },
  use: (socket: Socket) => void,
): Promise<never> => {
  let open = 0;
  for (;;) {
    if (open < connections) {
      open++;
      void openSocket(abuser).then((socket) => {
        if (socket === undefined) {
          open--;
          return;
        }
        socket.once('close', () => open--);
        use(socket);
      });
    }
    await sleep(everyMs);
  }
};

const body = (fields: Record<string, string>): string => {
  const json = JSON.stringify(fields);
  return `Content-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`;
};

const token = 'a'.repeat(43);
const requests: readonly string[] = [
  `GET /v2/account HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  `POST /v2/refresh HTTP/1.1\r\nHost: a\r\n${body({ auth_token: token, payment_secret: token, refresh_token: token })}`,
  'GET /v2/jailbreak/package/com.unknown.x HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /no/such/page HTTP/1.1\r\nHost: a\r\n\r\n',
];

/** As much of one request, again and again, as comes in one piece. */
const pieceOf = (request: string): Buffer => Buffer.from(request.repeat(Math.ceil(65_536 / request.length)));
const pieces = requests.map(pieceOf);

const answerLine = Buffer.from('HTTP/1.1 ');

const countAnswers = (socket: Socket, count: Abuser['count']): void => {
  socket.on('data', (chunk: Buffer) => {
    for (let at = chunk.indexOf(answerLine); at >= 0; at = chunk.indexOf(answerLine, at + 1)) {
      count(`answers ${chunk.toString('latin1', at + 9, at + 12)}`);
    }
  });
};

/** Sends request after request without ever waiting for an answer. */
const pipeline = ({ count, flooded }: Abuser, doesRead: boolean): ((socket: Socket) => void) => {
  let next = 0;
  return (socket) => {
    const piece = pieces[next++ % pieces.length] ?? Buffer.alloc(0);
    if (doesRead) countAnswers(socket, count);
    else socket.pause();
    const write = (): void => {
      while (!socket.destroyed && socket.write(piece)) count('bytes sent', piece.length);
    };
    socket.on('drain', write);
    flooded.add(socket);
    socket.once('close', () => flooded.delete(socket));
    write();
  };
};

/** Every abuse. */
export const abuses: readonly Abuse[] = [
  {
    name: 'idle connections',
    localAddress: '127.0.0.2',
    run: (abuser) => keepOpen(abuser, { connections: 4096, everyMs: 5 }, () => {}),
  },
  {
    name: 'pipelining, not reading',
    localAddress: '127.0.0.3',
    run: (abuser) => keepOpen(abuser, { connections: 8, everyMs: 50 }, pipeline(abuser, false)),
  },
  {
    name: 'pipelining, never waiting',
    localAddress: '127.0.0.4',
    run: (abuser) => keepOpen(abuser, { connections: 8, everyMs: 50 }, pipeline(abuser, true)),
  },
  {
    name: 'readers that do not read',
    localAddress: '127.0.0.5',
    run: (abuser) =>
      keepOpen(abuser, { connections: 400, everyMs: 50 }, (socket) => {
        socket.pause();
        const request = `GET ${abuser.target.largePath} HTTP/1.1\r\nHost: a\r\n\r\n`;
        socket.write(request.repeat(4));
      }),
  },
  {
    name: 'flood of /v2/authenticate',
    localAddress: '127.0.0.6',
    run: (abuser) => {
      const fields = { callback: 'sileo://authentication_success', udid: token.slice(0, 40), model: 'iPhone10,6' };
      const request = `POST /v2/authenticate HTTP/1.1\r\nHost: a\r\n${body(fields)}`;
      return keepOpen(abuser, { connections: 8, everyMs: 50 }, (socket) => {
        countAnswers(socket, abuser.count);
        socket.on('data', () => socket.write(request));
        socket.write(request);
      });
    },
  },
];
