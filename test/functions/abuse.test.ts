import { once } from 'node:events';
import { connect, Socket } from 'node:net';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { chooseLimits } from '../../functions/node/limits.ts';
import { createPlaces } from '../../functions/node/places.ts';
import { packageRecord } from '../support/published.ts';
import { fakeSearch, startTestServer, type TestServer } from '../support/test-server.ts';
import { openConnections } from '../support/wire.ts';

const known = '/v2/jailbreak/package/com.example.one';
const sockets: Socket[] = [];
let server: TestServer | undefined;
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close();
  server = undefined;
});
const start = async (options: Parameters<typeof startTestServer>[0] = {}) => {
  // However slow the machine, no connection is closed for having said nothing yet, unless a test is about that.
  const limits = { headersTimeout: 300_000, requestTimeout: 300_000, ...options.limits };
  server = await startTestServer({ ...options, limits });
  return server;
};

/** A connection from an address of loopback, which counts as a client of its own. */
const openFrom = async (port: number, localAddress: string): Promise<Socket> => {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined);
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
};
const isClosed = (socket: Socket) => socket.destroyed || socket.readableEnded;
const ask = (socket: Socket, path = known) => socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
const isLinux = process.platform === 'linux';

/** An index whose multi answers are of about 5 MB. */
const heavySearch = () => {
  const record = JSON.stringify({ ...packageRecord('com.example.one'), description: 'x'.repeat(5_000_000) });
  let asked = 0;
  return {
    asked: () => asked,
    search: {
      ...fakeSearch(['com.example.one']),
      latest: async () => {
        asked++;
        return { count: 1, pieces: [record] };
      },
    },
  };
};
const multi = '/v2/jailbreak/package/multi?ids=com.example.one';

describe.runIf(isLinux)('H8 the connections of one client', () => {
  it('are not more than so many: for one more the one that is idle longest gives way', async () => {
    const { port, refusals } = await start({ limits: { clientConnections: 5 } });
    const first = await openFrom(port, '127.0.0.2');
    ask(first);
    await once(first, 'data');
    const others = await Promise.all(Array.from({ length: 4 }, () => openFrom(port, '127.0.0.2')));
    // The first has been idle for less time than they since its answer.
    ask(first);
    await once(first, 'data');
    const sixth = await openFrom(port, '127.0.0.2');
    ask(sixth);
    expect(String((await once(sixth, 'data'))[0])).toMatch(/^HTTP\/1\.1 200/);
    for (const socket of others) socket.resume();
    await expect.poll(() => others.filter(isClosed).length).toBe(1);
    expect(isClosed(first)).toBe(false);
    expect(refusals.clientConnections).toBe(1);
    // Others have places of their own.
    const other = await openFrom(port, '127.0.0.3');
    ask(other);
    await once(other, 'data');
    expect(refusals.clientConnections).toBe(1);
  });

  it('give way again once they are answered', async () => {
    const { port } = await start({ limits: { clientConnections: 3 } });
    const answered = await Promise.all(Array.from({ length: 3 }, () => openFrom(port, '127.0.0.2')));
    for (const socket of answered) {
      ask(socket);
      await once(socket, 'data');
    }
    for (let number = 0; number < 3; number++) {
      const next = await openFrom(port, '127.0.0.2');
      ask(next);
      expect(String((await once(next, 'data'))[0])).toMatch(/^HTTP\/1\.1 200/);
    }
    await expect.poll(() => answered.filter(isClosed).length).toBe(3);
  });

  it('with a request under way do not give way; the new one does', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const search = fakeSearch(['com.example.one']);
    let asked = 0;
    const searchPackages: typeof search.searchPackages = async (...question) => {
      asked++;
      await held;
      return search.searchPackages(...question);
    };
    const { port } = await start({
      limits: { clientConnections: 3 },
      overrides: { search: { ...search, searchPackages } },
    });
    const busy = await Promise.all(Array.from({ length: 3 }, () => openFrom(port, '127.0.0.2')));
    for (const socket of busy) ask(socket, '/v2/jailbreak/package/search?q=one');
    await expect.poll(() => asked).toBe(3);
    const late = await openFrom(port, '127.0.0.2');
    late.resume();
    await expect.poll(() => isClosed(late)).toBe(true);
    release();
    for (const socket of busy) expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200/);
  });

  it('do not take the places of others: whoever has the most makes room', async () => {
    const { port, refusals } = await start({ limits: { connections: 20 } });
    const many = await Promise.all(Array.from({ length: 19 }, () => openFrom(port, '127.0.0.2')));
    for (const socket of many) socket.resume();
    for (let number = 0; number < 5; number++) {
      const other = await openFrom(port, `127.0.0.${3 + number}`);
      ask(other);
      expect(String((await once(other, 'data'))[0])).toMatch(/^HTTP\/1\.1 200/);
    }
    expect(refusals.connections).toBe(4);
    expect(refusals.clientConnections).toBe(0);
    expect(many.filter(isClosed).length).toBe(4);
  });

  it('are as many as they like where proxies of our own ask for it', async () => {
    const { port, refusals } = await start({ limits: { clientConnections: 5 }, trustedProxies: 1 });
    const proxied = await Promise.all(Array.from({ length: 30 }, () => openFrom(port, '127.0.0.2')));
    for (const socket of proxied) {
      ask(socket);
      await once(socket, 'data');
    }
    expect(refusals.clientConnections).toBe(0);
  });

  /** Places within these limits, and connections that say when they are closed by somebody. */
  const openPlaces = (limits: Parameters<typeof chooseLimits>[0]) => {
    const places = createPlaces(chooseLimits(limits), { areProxied: false, count: () => {} });
    const closed: string[] = [];
    const take = (client: string, name: string) => {
      const socket = new Socket();
      socket.destroy = () => {
        closed.push(name);
        return socket;
      };
      const place = places.take(socket, client);
      return { place, leave: () => socket.emit('close') };
    };
    return { closed, take };
  };

  it('make room where one that is idle has the most, whoever came first', () => {
    const { closed, take } = openPlaces({ connections: 6 });
    take('192.0.2.1', 'first');
    for (const name of ['a', 'b', 'c']) take('192.0.2.2', name).place?.beginRequest();
    for (const name of ['d', 'e']) take('192.0.2.3', name);
    take('192.0.2.4', 'new');
    expect(closed, 'none of the busy ones, and not the only one').toEqual(['d']);
  });

  it.each(['192.0.2.1', '2001:db8:1:1'])(
    'are counted on where the one that made room was the only one (%s)',
    (client) => {
      const { closed, take } = openPlaces({ clientConnections: 1, siteConnections: 1 });
      take(client, 'first');
      take(client, 'second').place?.beginRequest();
      expect(closed).toEqual(['first']);
      expect(take(client, 'third').place, 'the second is busy').toBeUndefined();
      expect(take('192.0.2.9', 'another').place).toBeDefined();
    },
  );

  it('cannot be given up twice: one that left in the middle of its request makes no room afterwards', () => {
    const { closed, take } = openPlaces({ clientConnections: 2 });
    take('192.0.2.1', 'busy before').place?.beginRequest();
    const gone = take('192.0.2.1', 'gone');
    gone.place?.beginRequest();
    gone.leave();
    gone.place?.endRequest();
    take('192.0.2.1', 'busy').place?.beginRequest();
    expect(take('192.0.2.1', 'one more').place).toBeUndefined();
    expect(closed).toEqual([]);
  });

  it('are those of a network: /64, and /48 for four times as many', () => {
    const counted: [string, string | undefined][] = [];
    const limits = chooseLimits({ clientConnections: 2, siteConnections: 4 });
    const places = createPlaces(limits, { areProxied: false, count: (limit, client) => counted.push([limit, client]) });
    const closed: string[] = [];
    const fake = (name: string) => {
      const socket = { once: () => socket, destroy: () => closed.push(name) } as unknown as Socket;
      return socket;
    };
    const take = (network: string, name: string) => places.take(fake(name), network);
    for (const [network, name] of [
      ['2001:db8:1:1', 'a'],
      ['2001:db8:1:1', 'b'],
      ['2001:db8:1:2', 'c'],
      ['2001:db8:1:3', 'd'],
      ['2001:db8:2:1', 'e'],
    ] as const) {
      expect(take(network, name)).toBeDefined();
    }
    expect(closed).toEqual([]);
    take('2001:db8:1:2', 'f');
    expect(closed).toEqual(['a']);
    take('2001:db8:2:1', 'g');
    take('2001:db8:2:1', 'h');
    expect(closed).toEqual(['a', 'e']);
    expect(counted).toEqual([
      ['siteConnections', '2001:db8:1::/48'],
      ['clientConnections', '2001:db8:2:1'],
    ]);
  });
});

describe.runIf(isLinux)('H8 answers that nobody reads', () => {
  it('hold no more of one client than its bound, and are not made on and on', async () => {
    const { search, asked } = heavySearch();
    const { port, refusals } = await start({
      overrides: { search },
      limits: { clientUnreadBytes: 12e6, readerPatience: 60_000 },
    });
    const readers = await Promise.all(Array.from({ length: 50 }, () => openFrom(port, '127.0.0.2')));
    for (const socket of readers) {
      socket.pause();
      for (let number = 0; number < 4; number++) ask(socket, multi);
    }
    await expect.poll(() => refusals.clientUnreadBytes).toBeGreaterThan(40);
    expect(asked()).toBeLessThan(40);
    // Another client gets its answer whole.
    const person = openConnections(port);
    const { status, body } = await person.send({ method: 'GET', target: multi });
    person.close();
    expect([status, body.length > 5_000_000]).toEqual([200, true]);
  });

  it('make room for another answer to the same client once their readers have not moved for some seconds', async () => {
    /** How the client is answered until the readers have not moved for so long, and once after that. */
    const askBeside = async (readerPatience: number): Promise<{ statuses: number[]; later: () => Promise<number> }> => {
      const { search } = heavySearch();
      const { port } = await start({ overrides: { search }, limits: { clientUnreadBytes: 2e6, readerPatience } });
      const stuck = await openFrom(port, '127.0.0.1');
      stuck.pause();
      const begun = performance.now();
      for (let number = 0; number < 4; number++) ask(stuck, multi);
      const person = openConnections(port);
      onTestFinished(() => person.close());
      const later = async () => (await person.send({ method: 'GET', target: multi })).status;
      const statuses = [];
      do statuses.push(await later());
      while (statuses.at(-1) !== 429 && performance.now() - begun < readerPatience);
      return { statuses, later };
    };
    // On a busy machine a short time is over before anybody is answered.
    for (const readerPatience of [500, 2_000, 8_000, 32_000]) {
      const { statuses, later } = await askBeside(readerPatience);
      if (statuses.at(-1) === 429) {
        await expect.poll(later, { timeout: 2 * readerPatience + 30_000 }).toBe(200);
        return;
      }
      await server?.close();
    }
    expect.unreachable('the client was never refused');
  });

  it('hold no more of all clients than their bound: who stands still gives way', async () => {
    const { search } = heavySearch();
    const { port, refusals } = await start({
      overrides: { search },
      limits: { unreadBytes: 6e6, readerPatience: 500 },
    });
    for (let client = 2; client < 8; client++) {
      const reader = await openFrom(port, `127.0.0.${client}`);
      reader.pause();
      for (let number = 0; number < 4; number++) ask(reader, multi);
    }
    await expect.poll(() => refusals.unreadBytes).toBeGreaterThan(0);
    const person = openConnections(port);
    const received = () =>
      person.send({ method: 'GET', target: multi }).then(
        ({ body }) => body.length,
        () => 0,
      );
    await expect.poll(received).toBeGreaterThan(5_000_000);
    person.close();
  });

  it('end with their connection when the reader has not moved for so long, and a slow one stays', async () => {
    const { search } = heavySearch();
    const { port, refusals } = await start({ overrides: { search }, limits: { readerTimeout: 2_500 } });
    const stuck = await openFrom(port, '127.0.0.2');
    stuck.pause();
    // More than one, so that no buffer of the system takes all of it.
    for (let number = 0; number < 4; number++) ask(stuck, multi);
    const slow = await openFrom(port, '127.0.0.3');
    let received = 0;
    slow.on('data', (chunk: Buffer) => {
      received += chunk.length;
      slow.pause();
      setTimeout(() => slow.resume(), 5);
    });
    ask(slow, multi);
    await expect.poll(() => refusals.readerTimeout).toBe(1);
    stuck.resume();
    await expect.poll(() => isClosed(stuck)).toBe(true);
    expect(isClosed(slow)).toBe(false);
    await expect.poll(() => received).toBeGreaterThan(5_000_000);
  });
});

describe.runIf(isLinux)('H8 clients beside abusers', () => {
  it('are answered while others hold 600 connections, never wait and never read', async () => {
    const { search } = heavySearch();
    const { port, faults } = await start({
      overrides: { search },
      limits: { clientUnreadBytes: 12e6, unreadBytes: 24e6 },
    });
    const before = process.memoryUsage().rss;
    for (let opened = 0; opened < 600; opened += 100) {
      await Promise.all(Array.from({ length: 100 }, () => openFrom(port, '127.0.0.2')));
    }
    const pipelined = 'GET /no/such HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2000);
    for (const read of [true, false, true, false, true, false, true, false]) {
      const socket = await openFrom(port, '127.0.0.3');
      if (read) socket.resume();
      else socket.pause();
      const write = () => {
        while (!socket.destroyed && socket.write(pipelined));
      };
      socket.on('drain', write);
      write();
    }
    for (let number = 0; number < 50; number++) {
      const socket = await openFrom(port, '127.0.0.5');
      socket.pause();
      ask(socket, multi);
    }
    const person = openConnections(port, 1);
    const statuses: number[] = [];
    const begun = performance.now();
    for (let number = 0; number < 40; number++) {
      const target = number % 2 ? known : '/v2/jailbreak/package/search?q=one';
      statuses.push((await person.send({ method: 'GET', target })).status);
    }
    // Abusers and abused share a process and its thread here. What an answer may wait is a matter of the soak; this says
    // that it does not wait for all that was sent ahead of it, which takes minutes.
    expect(performance.now() - begun).toBeLessThan(60_000);
    person.close();
    expect(statuses).toEqual(statuses.map(() => 200));
    expect(process.memoryUsage().rss - before).toBeLessThan(300e6);
    expect(faults).toEqual([]);
  }, 60_000);

  it('are told to wait where too many of their requests are under way behind a proxy, and others are not', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const search = fakeSearch(['com.example.one']);
    const searchPackages: typeof search.searchPackages = async (...question) => {
      await held;
      return search.searchPackages(...question);
    };
    const { port, refusals } = await start({
      limits: { clientRequests: 3 },
      trustedProxies: 1,
      overrides: { search: { ...search, searchPackages } },
    });
    const proxy = openConnections(port, 50);
    const send = (client: string) =>
      proxy.send({
        method: 'GET',
        target: '/v2/jailbreak/package/search?q=one',
        headers: { 'x-forwarded-for': client },
      });
    const many = Array.from({ length: 8 }, () => send('198.51.100.1'));
    const other = send('198.51.100.2');
    await expect.poll(() => refusals.clientRequests).toBe(5);
    release();
    const answers = await Promise.all(many);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429, 429, 429, 429]);
    expect(answers.find(({ status }) => status === 429)?.headers['retry-after']).toBe('1');
    expect((await other).status).toBe(200);
    proxy.close();
  });
});
