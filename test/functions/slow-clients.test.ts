import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { patience } from '../support/patience.ts';
import { longListDocument, packageRecord } from '../support/published.ts';
import { exchange, openSocket, readToEnd } from '../support/raw-http.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';
import { openConnections } from '../support/wire.ts';

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
const quick = { headersTimeout: 400, requestTimeout: 800, timeoutInterval: 50 };
const bodyOf = (answer: string) => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));

/** Writes one byte in each interval until the connection is closed. Resolves to whether it wrote all of them. */
const drip = async (socket: Socket, text: string, interval: number): Promise<boolean> => {
  for (const byte of text) {
    if (socket.destroyed || socket.writableEnded) return false;
    socket.write(byte);
    await sleep(interval);
  }
  return true;
};

describe('H1 slow clients', () => {
  it('get 408 when their headers take too long, and the others do not wait', async () => {
    const { port } = await start({ limits: { ...quick, requestTimeout: patience.timeout } });
    // Over a connection that is there before: on a busy machine a new one may be as late as they are.
    const other = openConnections(port, 1);
    const ask = async () => (await other.send({ method: 'GET', target: known })).status;
    await expect.poll(ask).toBe(200);
    const sockets = await Promise.all(Array.from({ length: 200 }, () => openSocket(port)));
    const answers = sockets.map(readToEnd);
    const head = `GET ${known} HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(200)}`;
    const written = sockets.map((socket) => drip(socket, head, 50));
    for (let asked = 0; asked < 20; asked++) expect(await ask()).toBe(200);
    other.close();
    for (const answer of await Promise.all(answers)) {
      expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
      expect(answer).toMatch(/\r\nConnection: close\r\n/i);
      expect(bodyOf(answer)).toMatchObject({ message: '408 Request Timeout' });
    }
    expect(await Promise.all(written)).not.toContain(true);
  });

  it('get an end when their body takes too long', async () => {
    const { port, address } = await start({ limits: quick });
    const socket = await openSocket(port);
    const answer = readToEnd(socket);
    const head =
      'POST /v2/jailbreak/download/ingest HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n';
    socket.write(head);
    void drip(socket, '['.repeat(999), 50);
    const others = async () => (await fetch(address + known)).status;
    await expect.poll(others).toBe(200);
    expect(await answer).toMatch(/^(HTTP\/1\.1 408 |$)/);
  });

  it('are closed when they say nothing at all', async () => {
    const { port } = await start({ limits: { socketTimeout: 300 } });
    const socket = await openSocket(port);
    expect(await readToEnd(socket)).toBe('');
  });

  it('are logged where they said something, and not for a connection that a browser keeps to spare', async () => {
    const { port, refusals } = await start({ limits: quick });
    const silent = await openSocket(port);
    expect(await readToEnd(silent)).toMatch(/^HTTP\/1\.1 408 /);
    expect(refusals.headersTimeout).toBe(0);
    expect(await exchange(port, `GET ${known} HTTP/1.1\r\n`)).toMatch(/^HTTP\/1\.1 408 /);
    expect(refusals.headersTimeout).toBe(1);
  });
});

describe('H1 oversized requests', () => {
  it('are refused without being read to their end, with a length and without', async () => {
    const { port } = await start();
    const head =
      'POST /v2/jailbreak/download/ingest HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\n';
    const announced = await exchange(port, `${head}Content-Length: 999999999\r\n\r\n[`);
    expect(announced).toMatch(/^HTTP\/1\.1 413 /);
    expect(bodyOf(announced)).toMatchObject({ message: '413 Content Too Large' });

    const socket = await openSocket(port);
    const answer = readToEnd(socket);
    socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
    const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
    let sent = 0;
    while (!socket.destroyed && sent < 2000) {
      sent++;
      if (!socket.write(chunk))
        await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), sleep(100)]);
    }
    expect(await answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(sent, 'the connection was closed long before 125 MiB').toBeLessThan(2000);
  });

  it('leave the connection usable or closed, never in between', async () => {
    const { port } = await start();
    const requests = Array.from(
      { length: 50 },
      (_, index) => `GET ${index % 2 ? known : '/v2/none'} HTTP/1.1\r\nHost: a\r\n`,
    );
    const answer = await exchange(port, `${requests.join('\r\n')}Connection: close\r\n\r\n`);
    const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses).toEqual(requests.map((_, index) => (index % 2 ? '200' : '404')));
  });
});

describe('H2 stopping', () => {
  const large = longListDocument(10_000, packageRecord('com.example.large'));
  const target = '/v2/jailbreak/repository/large/packages';

  it('completes a long download that is under way', async () => {
    const { port, write, close } = await start();
    server = undefined;
    write('v2/jailbreak/repository/large/packages.json', large);
    const socket = await openSocket(port);
    socket.write(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await new Promise((resolve) => socket.once('readable', resolve));
    const closed = close();
    const answer = await readToEnd(socket);
    expect(answer.slice(answer.indexOf('\r\n\r\n') + 4) === large).toBe(true);
    await closed;
  });

  it('closes at once who has not said anything yet', async () => {
    const { port, close } = await start({ limits: { drainTimeout: 600_000, socketTimeout: 600_000 } });
    server = undefined;
    const socket = await openSocket(port);
    const ended = readToEnd(socket);
    // The server has it once it has answered one that came later.
    await fetch(`http://127.0.0.1:${port}/v2/`);
    await close();
    expect(await ended).toBe('');
  }, 60_000);

  it('answers who is connected already, though the server has yet to be given the connection', async () => {
    const { port, close } = await start();
    server = undefined;
    // The system tells clients at once, and the server of one in each round of the event loop.
    const sockets = await Promise.all(Array.from({ length: 40 }, () => openSocket(port)));
    const answers = sockets.map(readToEnd);
    for (const socket of sockets) socket.write(`GET ${known} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await close();
    const statuses = (await Promise.all(answers)).map((answer) => answer.slice(9, 12));
    expect(statuses).toEqual(sockets.map(() => '200'));
  });

  it('tells balancers before, and answers everybody meanwhile, each for the last time', async () => {
    const { port, leave, close } = await start();
    server = undefined;
    const kept = openConnections(port, 1);
    const ask = async (target: string) => {
      const { status, headers } = await kept.send({ method: 'GET', target });
      return [status, headers.connection];
    };
    expect(await ask('/v2/readyz')).toEqual([200, 'keep-alive']);
    const search = '/v2/jailbreak/package/search?q=one';
    for (const target of [known, search]) expect(await ask(target)).toEqual([200, 'keep-alive']);
    leave();
    for (const target of ['/v2/readyz', '/readyz']) expect(await ask(target)).toEqual([503, 'close']);
    for (const target of [known, search, '/v2/livez']) expect(await ask(target)).toEqual([200, 'close']);
    await close();
    kept.close();
    await expect(openSocket(port)).rejects.toThrow('ECONNREFUSED');
  });

  it('cuts who does not read, when the time is over', async () => {
    // Nothing else would cut them within a minute, when the test gives up.
    const { port, write, close } = await start({ limits: { drainTimeout: 300, readerTimeout: 600_000 } });
    server = undefined;
    write('v2/jailbreak/repository/large/packages.json', large);
    const socket = await openSocket(port);
    socket.on('error', () => undefined);
    socket.pause();
    socket.write(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
    // Its answer is under way once another one, asked for later, is there.
    await fetch(`http://127.0.0.1:${port}/v2/`);
    await close();
    socket.destroy();
  }, 60_000);
});
