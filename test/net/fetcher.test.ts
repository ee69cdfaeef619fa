import { getEventListeners, once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFetcher, type Fetcher } from '../../src/net/fetcher.ts';
import { NetworkError, toNetworkError } from '../../src/net/network-error.ts';
import type { ResolveName } from '../../src/net/resolver.ts';
import { composeUserAgent } from '../../src/net/user-agent.ts';
import { OriginServer } from '../support/origin-server.ts';

let origin: OriginServer;
let fetcher: Fetcher;
const megabyte = 1_000_000;

type Limits = NonNullable<Parameters<typeof createFetcher>[0]>['limits'];

/** The fetcher has these limits from now on. */
const limit = async (limits: Limits): Promise<void> => {
  await fetcher?.close();
  fetcher = createFetcher({
    allowPrivateNetworks: ['127.0.0.1'],
    userAgent: composeUserAgent('1.2.3', 'https://debdex.example/about'),
    limits: { minBytesPerSecond: 1000, ...limits },
  });
};

beforeEach(async () => {
  origin = await OriginServer.start();
  // So much that nobody meets them whom a busy machine keeps waiting.
  await limit({ headersMs: 60_000, graceMs: 60_000, totalMs: 60_000 });
});

afterEach(async () => {
  await fetcher.close();
  await origin.stop();
});

const at = (path: string): URL => new URL(origin.uri() + path);

const read = async (url: URL, options: Partial<Parameters<Fetcher['fetch']>[1]> = {}) => {
  const result = await fetcher.fetch(url, { maxBytes: megabyte, ...options });
  const chunks: Uint8Array[] = [];
  for await (const chunk of result.body) chunks.push(chunk);
  return { ...result, text: Buffer.concat(chunks).toString() };
};

const codeOf = async (promise: Promise<unknown>): Promise<string> => {
  try {
    await promise;
    return 'no error';
  } catch (error) {
    return error instanceof NetworkError ? error.code : `not a NetworkError: ${error}`;
  }
};

/** A server that counts what connects to it and says nothing, at this port or a free one. */
const listenSilently = async (
  address: string,
  wanted = 0,
): Promise<{ server: Server; connections: () => number; port: number }> => {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.on('error', () => {});
    socket.destroy();
  });
  server.listen(wanted, address);
  await once(server, 'listening');
  const bound = server.address();
  return { server, connections: () => connections, port: typeof bound === 'object' && bound ? bound.port : 0 };
};

describe('requests', () => {
  it('C6: carry name, version and contact, validators, and ask for no transfer compression', async () => {
    origin.put('/Release', 'Origin: x\n');
    const first = await read(at('/Release'));
    expect(first).toMatchObject({ status: 200, text: 'Origin: x\n', framed: true });
    const { etag, lastModified } = first;
    const second = await read(at('/Release'), { etag, lastModified });
    expect(second).toMatchObject({ status: 304, text: '' });
    expect(origin.requests.map(({ headers }) => headers)).toMatchObject([
      { 'user-agent': 'Debdex/1.2.3 (+https://debdex.example/about)', 'accept-encoding': 'identity' },
      { 'if-none-match': etag, 'if-modified-since': lastModified },
    ]);
  });

  it('leave a contact out that would break the header', () => {
    for (const contact of ['a b', 'x)', '(x', 'a\r\nb: c', 'é'])
      expect(composeUserAgent('1', contact)).toBe('Debdex/1');
  });

  it('C6: are at most two at once per host, over at most two connections', async () => {
    origin.latencyMs = 20;
    for (let file = 0; file < 20; file++) origin.put(`/${file}`, 'x'.repeat(1000));
    await Promise.all(Array.from({ length: 20 }, (_, file) => read(at(`/${file}`))));
    expect(origin.requests).toHaveLength(20);
    expect(origin.greatestOpen).toBe(2);
  });

  it('C6: keep to two connections also where bodies are given up or origins hang up', async () => {
    origin.break('/cut', { kind: 'cut', after: 10 });
    origin.break('/page', { kind: 'status', status: 404, body: 'x'.repeat(300_000) });
    origin.put('/cut', 'x'.repeat(5000));
    origin.put('/long', 'x'.repeat(5 * megabyte));
    const asked = Array.from({ length: 24 }, (_, index) =>
      read(at(['/cut', '/page', '/long', '/none'][index % 4] ?? '')),
    );
    const settled = await Promise.allSettled(asked);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(12);
    expect(origin.greatestOpen).toBeLessThanOrEqual(3);
  });

  it('give their turn back when a body is discarded or left early', async () => {
    origin.put('/long', 'x'.repeat(megabyte));
    for (let round = 0; round < 6; round++) {
      const result = await fetcher.fetch(at('/long'), { maxBytes: megabyte });
      if (round % 2 === 0) await result.discard();
      else for await (const _ of result.body) break;
    }
    expect((await read(at('/long'))).text).toHaveLength(megabyte);
  });

  it('end when the caller gives up, before, during and after the headers', async () => {
    origin.break('/silent', { kind: 'silent' });
    origin.break('/endless', { kind: 'endless' });
    expect(await codeOf(read(at('/silent'), { signal: AbortSignal.abort() }))).toBe('aborted');
    expect(await codeOf(read(at('/silent'), { signal: AbortSignal.timeout(50) }))).toBe('aborted');
    expect(await codeOf(read(at('/endless'), { signal: AbortSignal.timeout(50), maxBytes: 2 ** 40 }))).toBe('aborted');
  });
});

describe('addresses that are not public', () => {
  it.each([
    'http://127.0.0.1',
    'http://0x7f.1',
    'http://0177.0.0.1',
    'http://2130706433',
    'http://127.1',
    'http://[::1]',
    'http://[::ffff:127.0.0.1]',
    'http://[::ffff:7f00:1]',
    'http://[64:ff9b::7f00:1]',
    'http://10.0.0.1',
    'http://169.254.169.254',
    'http://0.0.0.0',
    'http://localhost',
    'https://127.0.0.1',
  ])('C1: no connection is made to %s', async (uri) => {
    const strict = createFetcher({ allowPrivateNetworks: false });
    const url = new URL(uri);
    url.port = String(origin.port);
    expect(await codeOf(strict.fetch(url, { maxBytes: 1 }))).toBe('address-refused');
    await strict.close();
    expect(origin.greatestOpen).toBe(0);
  });

  it('C1: a name is refused that resolves to such addresses alone, and one that resolves anew gains nothing', async () => {
    const { server, connections, port } = await listenSilently('127.0.0.2');
    const answers = ['127.0.0.1', '127.0.0.2', '127.0.0.2'];
    const asked: string[] = [];
    const resolve: ResolveName = async (hostname) => {
      asked.push(hostname);
      return [{ address: answers[asked.length - 1] ?? '127.0.0.2', family: 4 }];
    };
    const rebinding = createFetcher({ allowPrivateNetworks: ['127.0.0.1'], resolve });
    const ask = () => codeOf(rebinding.fetch(new URL(`http://rebind.example:${port}/`), { maxBytes: 1 }));
    // Allowed at first: nothing listens there at this port. One resolution for each connection, and none besides.
    expect(await ask()).toBe('connection');
    expect(await ask()).toBe('address-refused');
    expect(asked).toHaveLength(2);
    await rebinding.close();
    server.close();
    expect(connections()).toBe(0);
  });

  it('C1: a host that the operator names leads to itself, wherever that is, and to no other inside', async () => {
    const { server, connections } = await listenSilently('127.0.0.2');
    const inside: Readonly<Record<string, string>> = { 'index.example': '127.0.0.1', 'a.example': '127.0.0.2' };
    const resolve: ResolveName = async (host) => [{ address: inside[host.replace(/\.$/, '')] ?? '', family: 4 }];
    const following = createFetcher({ allowPrivateNetworks: { host: 'index.example' }, resolve });
    const ask = async (location: string): Promise<string> => {
      origin.break('/moved', { kind: 'redirect', location });
      return codeOf(following.fetch(new URL(`http://index.example:${origin.port}/moved`), { maxBytes: 1 }));
    };
    origin.put('/there', '');
    expect(await ask('/there')).toBe('no error');
    expect(await ask(`http://index.example.:${origin.port}/there`)).toBe('no error');
    for (const host of ['a.example', '127.0.0.2', '127.0.0.1', '[::ffff:127.0.0.2]']) {
      expect(await ask(`http://${host}:8080/`), host).toBe('address-refused');
    }
    await following.close();
    server.close();
    expect(connections()).toBe(0);
  });

  it('C1: of several addresses only the allowed ones are connected to', async () => {
    const { server, connections } = await listenSilently('127.0.0.2', origin.port);
    origin.put('/Release', 'x');
    const resolve: ResolveName = async () => [
      { address: '127.0.0.2', family: 4 },
      { address: '::1', family: 6 },
      { address: '127.0.0.1', family: 4 },
    ];
    const mixed = createFetcher({ allowPrivateNetworks: ['127.0.0.1'], resolve });
    const result = await mixed.fetch(new URL(`http://mixed.example:${origin.port}/Release`), { maxBytes: 10 });
    expect(result.status).toBe(200);
    await result.discard();
    await mixed.close();
    server.close();
    expect(connections()).toBe(0);
  });

  it('C1: a redirect to one is not followed, whatever its notation', async () => {
    const { server, connections } = await listenSilently('127.0.0.2');
    const { port } = server.address() as { port: number };
    for (const host of ['127.0.0.2', '0x7f.2', '127.2', '017700000002', '[::ffff:127.0.0.2]']) {
      origin.break('/Release', { kind: 'redirect', location: `http://${host}:8080/` });
      expect(await codeOf(read(at('/Release'))), host).toBe('address-refused');
      origin.break('/Release', { kind: 'redirect', location: `http://${host}:${port}/` });
      expect(await codeOf(read(at('/Release'))), host).toBe('port-refused');
    }
    server.close();
    expect(connections()).toBe(0);
  });
});

describe('redirects', () => {
  it('C1: five are followed and a sixth is not', async () => {
    for (let hop = 1; hop <= 6; hop++) origin.break(`/${hop}`, { kind: 'redirect', location: `/${hop + 1}` });
    origin.put('/7', 'end');
    let requests = 0;
    const onRequest = () => requests++;
    expect(await read(at('/2'), { onRequest })).toMatchObject({ text: 'end', url: at('/7') });
    expect(requests).toBe(6);
    expect(await codeOf(read(at('/1')))).toBe('redirects');
    origin.break('/loop', { kind: 'redirect', location: '/loop' });
    expect(await codeOf(read(at('/loop')))).toBe('redirects');
  });

  it.each([
    ['file:///etc/passwd', 'scheme-refused'],
    ['gopher://127.0.0.1:70/', 'scheme-refused'],
    ['http://127.0.0.1:22/', 'port-refused'],
    ['http://user:word@127.0.0.1:8080/', 'redirect-unreadable'],
    ['http://:word@127.0.0.1:8080/', 'redirect-unreadable'],
    ['http://[', 'redirect-unreadable'],
  ])('C1: to %s is not followed', async (location, code) => {
    origin.break('/Release', { kind: 'redirect', location });
    expect(await codeOf(read(at('/Release')))).toBe(code);
  });

  it('C8: that cannot be read is told as it came, or as without an address', async () => {
    const path = at('/Release');
    origin.break('/Release', { kind: 'redirect', location: 'http://[' });
    await expect(read(path)).rejects.toThrow(`${path} redirects to "http://["`);
    origin.break('/Release', { kind: 'status', status: 302 });
    await expect(read(path)).rejects.toThrow(`${path} redirects without saying where`);
  });

  it.each([301, 302, 303, 307, 308])('status %i is one, and loses the fragment', async (status) => {
    origin.break('/Release', { kind: 'redirect', status, location: '/moved#part' });
    origin.put('/moved', 'here');
    const { text, url } = await read(at('/Release'));
    expect([text, url.href]).toEqual(['here', at('/moved').href]);
  });
});

describe('redirects of several kinds', () => {
  it('C6: take what is for an origin alone to no other one, and back to it', async () => {
    const elsewhere = at('/elsewhere');
    elsewhere.hostname = 'localhost';
    origin.break('/Release', { kind: 'redirect', location: '/moved' });
    origin.break('/moved', { kind: 'redirect', location: elsewhere.href });
    origin.break('/elsewhere', { kind: 'redirect', location: at('/end').href });
    origin.put('/end', 'here');
    await read(at('/Release'), { headers: { 'x-machine': 'iPhone10,1' } });
    expect(origin.requests.map(({ path, headers }) => [path, headers['x-machine']])).toEqual([
      ['/Release', 'iPhone10,1'],
      ['/moved', 'iPhone10,1'],
      ['/elsewhere', undefined],
      ['/end', 'iPhone10,1'],
    ]);
  });

  it('are permanent as far as all before them are', async () => {
    origin.put('/end', 'here');
    origin.break('/moved', { kind: 'redirect', status: 301, location: '/end' });
    origin.break('/moved-twice', { kind: 'redirect', status: 308, location: '/moved' });
    origin.break('/for-now', { kind: 'redirect', status: 302, location: '/moved' });
    origin.break('/moved-then-for-now', { kind: 'redirect', status: 301, location: '/for-now' });
    const led = async (path: string) => (await read(at(path))).permanentUrl.pathname;
    expect(await led('/moved-twice')).toBe('/end');
    expect(await led('/for-now')).toBe('/for-now');
    expect(await led('/moved-then-for-now')).toBe('/for-now');
  });

  it('C2: have the time of one request, all together', async () => {
    for (let hop = 1; hop <= 5; hop++) origin.break(`/${hop}`, { kind: 'redirect', location: `/${hop + 1}` });
    origin.put('/6', 'end');
    origin.latencyMs = 400;
    await limit({ headersMs: 60_000, graceMs: 60_000, totalMs: 1500 });
    expect(await codeOf(read(at('/1')))).toBe('too-slow');
  });
});

describe('who gives up', () => {
  it('is not waited for until there is a connection, and leaves nothing behind where all went well', async () => {
    const begun = Promise.withResolvers<void>();
    let isOver = false;
    // Ends by the clock of names alone.
    const resolve: ResolveName = (_, signal) =>
      new Promise((_resolve, reject) => {
        begun.resolve();
        signal.addEventListener('abort', () => {
          isOver = true;
          reject(signal.reason);
        });
      });
    const slow = createFetcher({ allowPrivateNetworks: true, resolve, limits: { lookupMs: 20_000 } });
    const leaving = new AbortController();
    const asked = codeOf(slow.fetch(new URL('http://slow.example/'), { maxBytes: 1, signal: leaving.signal }));
    await begun.promise;
    leaving.abort();
    expect([await asked, isOver]).toEqual(['aborted', false]);
    await slow.close();

    origin.put('/Release', 'x');
    const { signal } = new AbortController();
    expect((await read(at('/Release'), { signal })).text).toBe('x');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('is no name that was resolved: the next gets its turn', async () => {
    const resolve: ResolveName = async () => {
      throw new NetworkError('dns', 'no such name');
    };
    const one = createFetcher({ allowPrivateNetworks: true, resolve, limits: { lookupsAtOnce: 1, lookupWaitMs: 500 } });
    for (const name of ['a', 'b', 'c']) {
      expect(await codeOf(one.fetch(new URL(`http://${name}.example/`), { maxBytes: 1 }))).toBe('dns');
    }
    await one.close();
  });
});

describe('origins that misbehave', () => {
  it('C2: a body over the limit stops there, announced or not', async () => {
    origin.put('/long', 'x'.repeat(2 * megabyte));
    origin.break('/endless', { kind: 'endless' });
    expect(await codeOf(read(at('/long')))).toBe('too-large');
    expect(await codeOf(read(at('/endless')))).toBe('too-large');
    origin.put('/exact', 'x'.repeat(megabyte));
    expect((await read(at('/exact'))).text).toHaveLength(megabyte);
  });

  it('C2: slow bodies, slow headers and silence end', async () => {
    // All of it would have arrived after eight seconds; each wait by itself is far from what is forgiven.
    origin.put('/slow', 'x'.repeat(160));
    origin.break('/slow', { kind: 'slow', intervalMs: 50 });
    origin.break('/slow-headers', { kind: 'slow-headers', intervalMs: 50 });
    origin.break('/silent', { kind: 'silent' });
    await limit({ headersMs: 60_000, graceMs: 1500 });
    expect(await codeOf(read(at('/slow')))).toBe('too-slow');
    await limit({ headersMs: 400 });
    const codes = await Promise.all(['/slow-headers', '/silent'].map((path) => codeOf(read(at(path)))));
    expect(codes).toEqual(['timeout', 'timeout']);
  });

  it('C2: a fast beginning does not pay for a slow rest', async () => {
    origin.put('/file', 'x'.repeat(500_000));
    origin.break('/file', { kind: 'stall', after: 499_999 });
    await limit({ headersMs: 60_000, graceMs: 300, totalMs: 3000 });
    // Not by the limit of the whole request, which is too slow as well.
    await expect(read(at('/file'))).rejects.toMatchObject({
      code: 'too-slow',
      message: expect.stringContaining('bytes per second'),
    });
  });

  it('C2: a slow reader is not taken for a slow origin', async () => {
    origin.put('/file', 'x'.repeat(400_000));
    await limit({ headersMs: 60_000, graceMs: 300, totalMs: 30_000 });
    const result = await fetcher.fetch(at('/file'), { maxBytes: megabyte });
    let size = 0;
    for await (const chunk of result.body) {
      size += chunk.length;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(size).toBe(400_000);
  });

  it('C2: a connection that does not come about in time names its limit', async () => {
    // It never says a word of TLS.
    const mute = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const hasty = createFetcher({ allowPrivateNetworks: ['127.0.0.0/8'], limits: { connectMs: 50 } });
    const { port } = mute.address() as AddressInfo;
    await expect(hasty.fetch(new URL(`https://127.0.0.1:${port}/`), { maxBytes: 1 })).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('limit connectMs: 50 milliseconds'),
    });
    await hasty.close();
    mute.close();
  });

  it('C2: a silent address before one that refuses names no limit, because none is met', async () => {
    // Its thread stands still, so nothing is taken out of its queue, and what no longer fits there is not answered.
    const held = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(
      `const { parentPort, workerData } = require('node:worker_threads');
       const server = require('node:net').createServer();
       server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
         parentPort.postMessage(server.address().port);
         Atomics.wait(workerData, 0, 0);
         server.close();
       });`,
      { eval: true, workerData: held },
    );
    const [port] = await once(worker, 'message');
    const queued = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}));
    await Promise.race(queued.map((socket) => once(socket, 'connect')));
    const resolve: ResolveName = async () => [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ];
    const patient = createFetcher({ allowPrivateNetworks: ['127.0.0.1', '::1'], resolve });
    await expect(patient.fetch(new URL(`http://both.example:${port}/`), { maxBytes: 1 })).rejects.toMatchObject({
      code: 'timeout',
      message: expect.not.stringContaining('limit connectMs'),
    });
    await patient.close();
    for (const socket of queued) socket.destroy();
    Atomics.store(held, 0, 1);
    Atomics.notify(held, 0);
    await once(worker, 'exit');
  });

  it('C2: giant headers are refused', async () => {
    origin.break('/Release', { kind: 'giant-headers', bytes: 100_000 });
    await expect(read(at('/Release'))).rejects.toMatchObject({
      code: 'headers-too-large',
      message: expect.stringContaining('limit headerBytes: 32,768 bytes'),
    });
    origin.break('/Release', { kind: 'giant-headers', bytes: 30_000 });
    expect(await codeOf(read(at('/Release')))).toBe('no error');
  });

  it.each([
    ['few bytes of body', `${'1;'.padEnd(15_000, 'x')}\r\n.\r\n`],
    ['none', '1;'.padEnd(15_000, 'x')],
  ])('C2: what frames a body, with %s in it, is limited', async (_, piece) => {
    let sent = 0;
    const wordy = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
        const more = () => {
          while (!socket.destroyed && socket.write(piece)) sent += piece.length;
        };
        socket.on('drain', more);
        more();
      });
    }).listen(0, '127.0.0.1');
    await once(wordy, 'listening');
    const { port } = wordy.address() as AddressInfo;
    await expect(read(new URL(`http://127.0.0.1:${port}/`))).rejects.toMatchObject({
      code: 'protocol',
      message: expect.stringContaining('limit framingBytes: 1,048,576 bytes'),
    });
    // What the system holds for both is more than that, and far from what a minute brings.
    expect(sent).toBeLessThan(50 * megabyte);
    wordy.close();
  });

  it('C2: a body may come byte by byte, beside a long one, and after many others', async () => {
    const crumbs = createServer((socket) => {
      socket.on('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
        socket.write(`${'1\r\n.\r\n'.repeat(megabyte)}0\r\n\r\n`);
      });
    }).listen(0, '127.0.0.1');
    await once(crumbs, 'listening');
    const { port } = crumbs.address() as AddressInfo;
    for (let round = 0; round < 3; round++) {
      const { text, framed } = await read(new URL(`http://127.0.0.1:${port}/`));
      expect([text.length, framed]).toEqual([megabyte, true]);
    }
    crumbs.close();
  });

  it('V4: a body that ends before its announced length is truncated, at whatever byte', async () => {
    origin.put('/file', 'x'.repeat(1000));
    for (const after of [0, 1, 500, 999]) {
      origin.break('/file', { kind: 'cut', after });
      expect(await codeOf(read(at('/file'))), `${after}`).toBe('truncated');
    }
  });

  it('V4: a body without a length says so', async () => {
    origin.put('/file', 'x'.repeat(1000));
    origin.break('/file', { kind: 'unframed' });
    expect(await read(at('/file'))).toMatchObject({ framed: false, text: 'x'.repeat(1000) });
  });

  it('C8: what is no HTTP, a reset and a closed port have names', async () => {
    origin.break('/no-http', { kind: 'no-http', text: 'SSH-2.0-OpenSSH_9.2\r\n' });
    origin.break('/reset', { kind: 'reset' });
    expect(await codeOf(read(at('/no-http')))).toBe('protocol');
    expect(await codeOf(read(at('/reset')))).toBe('connection');
    const { server, port } = await listenSilently('127.0.0.1');
    server.close();
    await once(server, 'close');
    expect(await codeOf(read(new URL(`http://127.0.0.1:${port}/`)))).toBe('connection');
    expect(await codeOf(read(new URL(`https://127.0.0.1:${origin.port}/`)))).toBe('tls');
  });

  it('C8: a name that does not resolve has a name, and whether it is worth asking again', async () => {
    const failing = (code: string) =>
      createFetcher({
        allowPrivateNetworks: false,
        resolve: (hostname) => Promise.reject(Object.assign(new Error(hostname), { code })),
      });
    for (const [code, transient] of [
      ['ENOTFOUND', false],
      ['EAI_AGAIN', true],
    ] as const) {
      const error = await failing(code)
        .fetch(new URL('http://gone.example/'), { maxBytes: 1 })
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'dns', transient });
    }
  });

  it('C8: of several addresses one that the origin refuses says more than one that this machine has no way to', () => {
    const failed = (...codes: string[]) =>
      new AggregateError(codes.map((code) => Object.assign(new Error(code), { code })));
    expect(toNetworkError(failed('ENETUNREACH', 'ECONNREFUSED'), false).code).toBe('connection');
    expect(toNetworkError(failed('ETIMEDOUT', 'EADDRNOTAVAIL'), false).code).toBe('timeout');
    expect(toNetworkError(failed('ENETUNREACH', 'EHOSTUNREACH'), false).code).toBe('connection');
    expect(toNetworkError(failed('ENETUNREACH', 'ENETUNREACH'), false).code).toBe('no-network');
  });

  it('validators that do not fit a header are dropped', async () => {
    origin.break('/Release', { kind: 'body', body: 'x', headers: { etag: `"${'x'.repeat(600)}"` } });
    expect(await read(at('/Release'))).toMatchObject({ etag: null });
  });
});
