import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorSchema } from '../../src/contract/errors.ts';
import { expectThat, Failure } from './tally.ts';
import { ask, type Kind, pick, read, type Visitor } from './visitor.ts';

// What well-behaved clients do not send: bad requests, oversized ones, slow readers and writers, connections cut.

const api = '/v2/jailbreak';

const badRequests: readonly [path: string, status: number, method?: string][] = [
  [`${api}/package/search`, 400],
  [`${api}/package/search?q=a`, 400],
  [`${api}/package/search?q=ab&limit=9999`, 400],
  [`${api}/package/search?q=ab&q=cd`, 400],
  [`${api}/package/multi`, 400],
  [`${api}/repository/ranking?rank=9`, 400],
  [`${api}/package/%ff`, 400],
  [`${api}/package/%00`, 400],
  [`${api}/package/multi?ids=a`, 405, 'POST'],
  [`${api}/package/search?q=ab`, 405, 'DELETE'],
  [`${api}/download/ingest`, 405, 'GET'],
];

const sendBad = async (visitor: Visitor): Promise<void> => {
  const [path, status, method = 'GET'] = pick(badRequests);
  const answer = await ask(visitor, path, [status], { method });
  read(`${method} ${path}`, answer, errorSchema);
};

const open = async ({ client, kind }: Visitor): Promise<Socket> => {
  const socket = connect(Number(client.address.port), client.address.hostname);
  socket.on('error', () => {});
  await once(socket, 'connect');
  client.note(kind);
  return socket;
};

/** Everything until the connection ends, in order or not; a Failure where it does not within half a minute. */
const receive = (socket: Socket): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    const late = setTimeout(() => {
      reject(new Failure('a connection did not end for half a minute'));
      socket.destroy();
    }, 30_000);
    socket.setEncoding('latin1').on('data', (piece: string) => {
      text += piece;
    });
    socket.once('close', () => {
      clearTimeout(late);
      resolve(text);
    });
  });

const oversized: readonly [what: string, request: string, statuses: readonly number[]][] = [
  ['no HTTP', 'what is this\r\n\r\n', [400]],
  ['no host', 'GET /v2/ HTTP/1.1\r\n\r\n', [400]],
  ['an endless address', `GET /${'a'.repeat(200_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, [414]],
  ['endless headers', `GET /v2/ HTTP/1.1\r\nHost: x\r\n${`X: ${'a'.repeat(1000)}\r\n`.repeat(200)}\r\n`, [431]],
];

const sendOversized = async (visitor: Visitor): Promise<void> => {
  const [what, request, statuses] = pick(oversized);
  const socket = await open(visitor);
  const received = receive(socket);
  socket.write(request);
  const text = await received;
  const status = Number(text.slice(9, 12));
  // Who is still sending when the connection ends may never read the answer.
  const isAnswered = statuses.includes(status) || (text === '' && request.length > 100_000);
  expectThat(isAnswered, `${what} is answered ${status || 'nothing'} instead of ${statuses.join(' or ')}`);
};

const cut = async (visitor: Visitor): Promise<void> => {
  const socket = await open(visitor);
  const path = `${api}/repository/${visitor.known.stableRepository}/packages`;
  const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
  const isWhole = Math.random() < 0.7;
  socket.write(isWhole ? request : request.slice(0, Math.floor(Math.random() * request.length)));
  if (isWhole) await Promise.race([once(socket, 'data'), sleep(200)]);
  else await sleep(Math.random() * 50);
  if (Math.random() < 0.5) socket.resetAndDestroy();
  else socket.destroy();
};

const readSlowly = async (visitor: Visitor): Promise<void> => {
  const socket = await open(visitor);
  socket.write(
    `GET ${api}/repository/${visitor.known.stableRepository}/packages HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  );
  await once(socket, 'readable');
  await sleep(1000 + Math.random() * 3000);
  const text = await receive(socket);
  const head = text.indexOf('\r\n\r\n');
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, head))?.[1]);
  const received = text.length - head - 4;
  expectThat(
    text.startsWith('HTTP/1.1 200') && received === length,
    `a slow reader got ${received} of ${length} bytes`,
  );
};

const writeSlowly = async (visitor: Visitor): Promise<void> => {
  const socket = await open(visitor);
  const received = receive(socket);
  for (const piece of ['GET /v2/ HT', 'TP/1.1\r\nHo', 'st: x\r\nConnection: cl', 'ose\r\n\r\n']) {
    socket.write(piece);
    await sleep(Math.random() * 800);
  }
  const text = await received;
  expectThat(text.startsWith('HTTP/1.1 200'), `a slow writer is answered ${text.slice(0, 60)}`);
};

/** Each kind of request that is not as it should be. */
export const abuseKinds: readonly Kind[] = [
  { name: 'bad requests', weight: 4, run: sendBad },
  { name: 'no HTTP, oversized', weight: 1, run: sendOversized },
  { name: 'cut by the client', weight: 3, run: cut },
  { name: 'slow readers', weight: 1, run: readSlowly },
  { name: 'slow writers', weight: 1, run: writeSlowly },
];
