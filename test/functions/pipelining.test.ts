import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { longListDocument, packageRecord } from '../support/published.ts';
import { exchange, openSocket, readToEnd } from '../support/raw-http.ts';
import { fakeSearch, startTestServer, type TestServer } from '../support/test-server.ts';

const known = '/v2/jailbreak/package/com.example.one';
let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});
const start = async (options: Parameters<typeof startTestServer>[0] = {}) => {
  server = await startTestServer(options);
  return server;
};

/** A search that is answered when it is let. */
const heldSearch = () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let asked = 0;
  const search = fakeSearch(['com.example.one']);
  return {
    asked: () => asked,
    release: () => release(),
    overrides: {
      search: {
        ...search,
        searchPackages: async (...question: Parameters<typeof search.searchPackages>) => {
          asked++;
          await held;
          return search.searchPackages(...question);
        },
      },
    },
  };
};
const search = 'GET /v2/jailbreak/package/search?q=one HTTP/1.1\r\nHost: a\r\n\r\n';

/** The answers in what came on a connection; each must end where its own length says and the next begins. */
const splitAnswers = (received: string) => {
  const answers: { status: number; body: string }[] = [];
  let rest = received;
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n') + 4;
    const head = rest.slice(0, end);
    expect(head).toMatch(/^HTTP\/1\.1 \d{3} [\s\S]*\r\n\r\n$/);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    answers.push({ status: Number(head.slice(9, 12)), body: rest.slice(end, end + length) });
    rest = rest.slice(end + length);
  }
  return answers;
};

describe('H9 what follows an answer that is under way', () => {
  it.each([
    ['a bad host', 'GET / HTTP/1.1\r\nHost: a/b\r\n\r\n', 400],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['two hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n', 400],
    ['a tunnel', 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n', 400],
    ['no HTTP', 'rubbish\r\n\r\n', 400],
    ['a control character', 'GET / HTTP/1.1\r\nHost: a\r\nX: \x01\r\n\r\n', 400],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', 400],
    ['an address without end', `GET /${'a'.repeat(80_000)}`, 414],
    ['large headers', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(33_000)}\r\n\r\n`, 431],
    ['many headers', `GET / HTTP/1.1\r\nHost: a\r\n${'X: a\r\n'.repeat(300)}\r\n`, 431],
  ])('%s is answered after it, never into it', async (_what, second, status) => {
    const { overrides, release, asked } = heldSearch();
    const { port, faults } = await start({ overrides });
    const socket = await openSocket(port);
    const received = readToEnd(socket);
    socket.write(search + second, 'latin1');
    await expect.poll(asked).toBe(1);
    // Headers of the first answer are sent only now, whole, before anything of the second.
    release();
    const answers = splitAnswers(await received);
    expect(answers.map((answer) => answer.status)).toEqual([200, status]);
    expect(JSON.parse(answers[0]?.body ?? '')).toMatchObject({ message: '200 Successful', count: 1 });
    expect(JSON.parse(answers[1]?.body ?? '').message).toMatch(new RegExp(`^${status} `));
    expect(faults).toEqual([]);
  });

  it('nor is a request told what is wrong with the rest of its body, in the middle of its answer', async () => {
    const { port, write } = await start();
    const large = longListDocument(10_000, packageRecord('com.example.large'));
    write('v2/jailbreak/repository/large/packages.json', large);
    const socket = await openSocket(port);
    const request = 'GET /v2/jailbreak/repository/large/packages HTTP/1.1\r\nHost: a\r\n';
    socket.write(`${request}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n`);
    await once(socket, 'readable');
    socket.write('no chunk at all\r\n');
    const received = readToEnd(socket);
    socket.resume();
    const body = (await received).split('\r\n\r\n')[1] ?? '';
    expect(large.startsWith(body)).toBe(true);
    expect(body.length).toBeLessThan(large.length);
  });

  it.each([
    ['is wrong', 'no chunk at all\r\n'],
    ['never comes', ''],
  ])('nor after it, where the rest of its body %s', async (_what, rest) => {
    const { port } = await start({ limits: { requestTimeout: 600, headersTimeout: 300, timeoutInterval: 50 } });
    const socket = await openSocket(port);
    const received = readToEnd(socket);
    socket.write(`GET ${known} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n`);
    await once(socket, 'data');
    socket.write(rest);
    // A proxy would take it for the answer to the next request, whoever sent that.
    expect(splitAnswers(await received).map(({ status }) => status)).toEqual([200]);
  });

  it('waits while a large document is being read, and then gets its answer', async () => {
    const { port, write } = await start();
    const large = longListDocument(10_000, packageRecord('com.example.large'));
    write('v2/jailbreak/repository/large/packages.json', large);
    const socket = await openSocket(port);
    socket.pause();
    const request = 'GET /v2/jailbreak/repository/large/packages HTTP/1.1\r\nHost: a\r\n\r\n';
    socket.write(`${request}GET / HTTP/1.1\r\nHost: b c\r\n\r\n`);
    await new Promise((resolve) => setImmediate(resolve));
    const received = readToEnd(socket);
    socket.resume();
    const [first, second] = splitAnswers(await received);
    expect(first?.body === large).toBe(true);
    expect(second?.status).toBe(400);
  });
});

describe('H8 requests that a client sends ahead', () => {
  it('do not begin in a chunked body, which arrives as it was sent, however long and in whatever letters', async () => {
    const { port } = await start();
    const unknown = Array.from({ length: 200 }, (_, index) => ({
      package_id: `org.example.n${index}`,
      package_version: 'é'.repeat(100),
    }));
    const body = Buffer.from(JSON.stringify([{ package_id: 'com.example.one', package_version: '1.0' }, ...unknown]));
    expect(body.length).toBeGreaterThan(40_000);
    const half = body.length >> 1;
    const chunks = [body.subarray(0, half), body.subarray(half), Buffer.alloc(0)].map(
      (chunk) => `${chunk.length.toString(16)}\r\n${chunk.toString('latin1')}\r\n`,
    );
    const head =
      'POST /v2/jailbreak/download/ingest HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    const next = `GET ${known} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
    const socket = await openSocket(port);
    const received = readToEnd(socket);
    socket.write(`${head}${chunks.join('')}${next}`, 'latin1');
    const answers = splitAnswers(await received);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(JSON.parse(answers[0]?.body ?? '')).toMatchObject({ count: 1 });
  });

  it('are read one at a time, and all of them answered in order', async () => {
    const { overrides, release, asked } = heldSearch();
    const { port } = await start({ overrides });
    const received = exchange(
      port,
      `${search.repeat(40)}${search.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')}`,
    );
    await expect.poll(asked).toBe(1);
    // Others are served meanwhile; whatever was to be read of this connection has been.
    expect((await fetch(`http://127.0.0.1:${port}${known}`)).status).toBe(200);
    expect(asked()).toBe(1);
    release();
    const answers = splitAnswers(await received);
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 41 }, () => 200));
    expect(asked()).toBe(41);
  });

  it('with bodies too, of a length and in chunks, however they are parted', async () => {
    const { port } = await start();
    const body = JSON.stringify([{ package_id: 'com.example.one', package_version: '1.0' }]);
    const head = 'POST /v2/jailbreak/download/ingest HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
    const plain = `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
    const half = body.length >> 1;
    const chunked =
      `${head}Transfer-Encoding: chunked\r\n\r\n${half.toString(16)}\r\n${body.slice(0, half)}\r\n` +
      `${(body.length - half).toString(16)}\r\n${body.slice(half)}\r\n0\r\n\r\n`;
    const get = `GET ${known} HTTP/1.1\r\nHost: a\r\n\r\n`;
    const last = get.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
    const all = plain + chunked + get + chunked + plain + last;
    const expected = [200, 200, 200, 200, 200, 200];
    for (const size of [all.length, 1, 7, 64]) {
      const socket = await openSocket(port);
      socket.setNoDelay(true);
      const received = readToEnd(socket);
      for (let at = 0; at < all.length; at += size) {
        if (!socket.write(all.slice(at, at + size))) await once(socket, 'drain');
        if (size < 10) await new Promise((resolve) => setImmediate(resolve));
      }
      expect(
        splitAnswers(await received).map(({ status }) => status),
        `in pieces of ${size}`,
      ).toEqual(expected);
    }
  });

  it('are answered to the last though the client has ended its side', async () => {
    const { port } = await start();
    const socket = await openSocket(port);
    const received = readToEnd(socket);
    socket.end(`GET ${known} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(5));
    expect(splitAnswers(await received).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });

  it('stop being taken: who never waits can send no more than the buffers in between hold', async () => {
    const { overrides, release } = heldSearch();
    const { port } = await start({ overrides });
    const socket = await openSocket(port);
    socket.on('error', () => undefined);
    const sent = await sendUntilStuck(socket, search.repeat(500));
    // What a connection of loopback buffers is some megabytes; without a bound this would go on for as long as it is let.
    expect(sent).toBeLessThan(32e6);
    socket.destroy();
    release();
  });

  it('that are refused are not followed by any other', async () => {
    const { overrides, release, asked } = heldSearch();
    const { port } = await start({ overrides });
    release();
    const answers = splitAnswers(await exchange(port, `GET / HTTP/1.1\r\nHost: /\r\n\r\n${search.repeat(3)}`));
    expect(answers.map(({ status }) => status)).toEqual([400]);
    expect(asked()).toBe(0);
  });
});

/** Writes until nothing more is taken for a while; returns how many bytes were. */
const sendUntilStuck = async (socket: Socket, text: string): Promise<number> => {
  for (;;) {
    if (socket.write(text)) continue;
    const drained = await Promise.race([
      once(socket, 'drain').then(() => true),
      new Promise<false>((resolve) => setTimeout(() => resolve(false), 300)),
    ]);
    if (!drained || socket.bytesWritten > 64e6) return socket.bytesWritten - socket.writableLength;
  }
};
