import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { KeptConnection, openReady, plainGet, startReadyServer } from '../support/kept-connection.ts';
import { listDocument, longListDocument, packageRecord } from '../support/published.ts';
import { exchange, openSocket, readToEnd } from '../support/raw-http.ts';
import { fakeSearch, startTestServer, type TestServer } from '../support/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const bodyOf = (answer: string) => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as Record<string, string>;
const known = '/v2/jailbreak/package/com.example.one';

describe('H1 malformed requests', () => {
  it.each([
    ['garbage', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
    ['an unknown method', 'FETCH / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a bad version', 'GET / HTTP/9.9\r\nHost: a\r\n\r\n'],
    ['a header without name', 'GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n'],
    ['a control character in a header', 'GET / HTTP/1.1\r\nHost: a\r\nX: a\x00b\r\n\r\n'],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['no host', `GET ${known} HTTP/1.1\r\n\r\n`],
    ['a host of two words', `GET ${known} HTTP/1.1\r\nHost: a b\r\n\r\n`],
    ['a host with a path', `GET ${known} HTTP/1.1\r\nHost: evil.test/x\r\n\r\n`],
    ['a host outside ASCII', `GET ${known} HTTP/1.0\r\nHost: \xfc\r\n\r\n`],
    ['half a host', `GET ${known} HTTP/1.1\r\nHost: [::1\r\n\r\n`],
    ['a tunnel', 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n'],
  ])('%s is answered 400 and the connection closed', async (what, request) => {
    const answer = await exchange(server.port, request);
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toMatch(/\r\nConnection: close\r\n/i);
    const error = what.includes('host')
      ? 'The request must name one host, and a port of at most 65535'
      : 'The request is not valid HTTP';
    expect(bodyOf(answer)).toMatchObject({ message: '400 Bad Request', error });
  });

  it.each(['gzip, chunked', 'identity, chunked', 'x;a="chunked", chunked'])(
    'H9 a body with the transfer coding %s is answered 501, and nothing after it is taken for a request',
    async (coding) => {
      const report = '[{"package_id":"com.example.one","package_version":"1.0"}]';
      const head = 'POST /v2/jailbreak/download/ingest HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
      const body = `${report.length.toString(16)}\r\n${report}\r\n0\r\n\r\n`;
      const next = `GET ${known} HTTP/1.1\r\nHost: a\r\n\r\n`;
      const answer = await exchange(server.port, `${head}Transfer-Encoding: ${coding}\r\n\r\n${body}${next}`);
      expect(answer).toMatch(/^HTTP\/1\.1 501 Not Implemented\r\n[\s\S]*\r\nConnection: close\r\n/);
      expect(answer.split('HTTP/1.1')).toHaveLength(2);
      const error = 'The body must come with no transfer coding but chunked (Transfer-Encoding)';
      expect(bodyOf(answer)).toMatchObject({ message: '501 Not Implemented', error });
      const last = `${head}Connection: close\r\nTransfer-Encoding: Chunked \r\n\r\n${body}`;
      expect(await exchange(server.port, last)).toMatch(/^HTTP\/1\.1 200 /);
    },
  );

  it('H4 a refused HEAD has no body', async () => {
    for (const request of ['HEAD / HTTP/1.1\r\n\r\n', 'HEAD / HTTP/1.1\r\nHost: a\r\nX: \x01\r\n\r\n']) {
      expect(await exchange(server.port, request)).toMatch(/^HTTP\/1\.1 400 [\s\S]*\r\n\r\n$/);
    }
  });

  it.each([
    ['a long address', `GET /v2/${'a'.repeat(73_800)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`, 414],
    ['an endless address', `GET /v2/${'a'.repeat(400_000)}`, 414],
    ['large headers', `GET / HTTP/1.1\r\nHost: a\r\n${`X-Filler: ${'a'.repeat(8000)}\r\n`.repeat(20)}\r\n`, 431],
  ])('%s is refused', async (_what, request, status) => {
    const answer = await exchange(server.port, request);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(Object.keys(bodyOf(answer))).toEqual(['message', 'error', 'date']);
  });

  it('a target that is no address is 400', async () => {
    for (const target of ['*', 'v2/', 'http://', 'http://a b/']) {
      const answer = await exchange(server.port, `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      expect(answer, target).toMatch(/^HTTP\/1\.1 400 /);
      expect(bodyOf(answer).message).toBe('400 Bad Request');
    }
  });

  // The first answer is the app's, the others come from memory.
  it.each([
    ...['', 'A.test', 'a_b.test:80', '[::1]:8080', '1.1:8080', '1.1:80', 'a:', 'a:65535'].map((host) => [host, 200]),
    ...['a:65536', 'a:99999', ':', ':80', '[:::]', '[1:2]'].map((host) => [host, 400]),
  ])('a request to the host "%s" has one answer, whoever gives it: %d', async (host, status) => {
    const fresh = encodeURIComponent(host);
    const targets = [`${known}?x=${fresh}`, `/v2/jailbreak/package/search?q=com.example+${fresh}`];
    const answers: string[] = [];
    for (const line of targets.flatMap((target) => [`GET ${target}`, `HEAD ${target}`, `GET ${target}`])) {
      answers.push(await exchange(server.port, `${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`));
    }
    expect(answers.map((answer) => answer.slice(0, 12))).toEqual(answers.map(() => `HTTP/1.1 ${status}`));
  });

  it('what follows a good request on its connection cannot mix with its answer', async () => {
    const answer = await exchange(server.port, `GET ${known} HTTP/1.1\r\nHost: a\r\n\r\nrubbish\r\n\r\n`);
    expect(answer.match(/HTTP\/1\.1 \d+/g)?.[0]).toBe('HTTP/1.1 200');
    const body = listDocument([packageRecord('com.example.one')]);
    expect(answer.split('HTTP/1.1 400')[0]?.endsWith(body) || !answer.includes('400')).toBe(true);
  });

  it('goes on answering after all that', async () => {
    expect((await fetch(server.address + known)).status).toBe(200);
    expect(server.faults).toEqual([]);
  });
});

describe('addresses that were not encoded', () => {
  it('H1 are read byte for byte', async () => {
    const target = '/v2/jailbreak/repository/safety?uris=https://Ex.test/Ca%CC%81fe+1/,https://b.test/"{x}"#y,%';
    const request = `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
    const answer = Buffer.from(await exchange(server.port, request), 'latin1').toString();
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)).data).toEqual([
      { uri: 'https://Ex.test/Ca\u0301fe+1/', safe: true },
      { uri: 'https://b.test/"{x}"#y', safe: true },
      { uri: '%', safe: false },
    ]);
  });
});

describe('H1 addresses in UTF-8 that were not encoded', () => {
  const get = async (target: string) => {
    const bytes = Buffer.from(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`).toString('latin1');
    const answer = Buffer.from(await exchange(server.port, bytes), 'latin1').toString();
    return { status: Number(answer.slice(9, 12)), body: JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) };
  };

  it('are read as UTF-8, in queries and in paths', async () => {
    const safety = await get('/v2/jailbreak/repository/safety?uris=https://ちくわ.test/é,https://汉化.test/');
    expect(safety.body.data.map(({ uri }: { uri: string }) => uri)).toEqual([
      'https://ちくわ.test/é',
      'https://汉化.test/',
    ]);
    expect((await get('/v2/jailbreak/package/search?q=ちくわ')).status).toBe(200);
    expect((await get('/v2/jailbreak/package/汉化补丁')).status).toBe(404);
  });

  it('are refused where they are not, in a sentence that says what to encode', async () => {
    const latin = await exchange(
      server.port,
      'GET /v2/jailbreak/package/search?q=\xe9t\xe9 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
    expect(latin).toMatch(/^HTTP\/1\.1 400 /);
    expect(bodyOf(latin).error).toBe("Query parameter 'q' must be percent-encoded UTF-8");
    for (const target of ['/v2/jailbreak/package/search?q=a b', '/v2/jailbreak/package/search?q=\t']) {
      const { status, body } = await get(target);
      expect([status, body.error]).toEqual([
        400,
        'The address holds a character that must be percent-encoded, such as a blank (%20)',
      ]);
    }
  });
});

describe('H1 the limits of a request', () => {
  const line = (bytes: number) => `GET /${'a'.repeat(bytes - 'GET / HTTP/1.1\r'.length)} HTTP/1.1\r\n`;
  const headers = (bytes: number) => {
    const fixed = 'Host: a\r\nConnection: close\r\nX: \r\n\r\n';
    return `Host: a\r\nConnection: close\r\nX: ${'a'.repeat(bytes - fixed.length)}\r\n\r\n`;
  };
  it.each([
    ['a line of 72 KB and headers of 32 KB', line(73_728) + headers(32_768), 400, undefined],
    ['a line of one byte more', line(73_729) + headers(100), 414, 'requestLine'],
    ['headers of one byte more', line(100) + headers(32_769), 431, 'headers'],
    ['200 headers', `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${'X: a\r\n'.repeat(198)}\r\n`, 200, undefined],
    [
      'one header more',
      `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${'X: a\r\n'.repeat(199)}\r\n`,
      431,
      'headerCount',
    ],
  ] as const)('%s', async (_what, request, status, limit) => {
    const before = { ...server.refusals };
    const answer = await exchange(server.port, request);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const met = Object.entries(server.refusals).filter(([name, count]) => count > before[name as keyof typeof before]);
    expect(met.map(([name]) => name)).toEqual(limit === undefined ? [] : [limit]);
  });

  it('are told to a client that goes on sending, instead of a reset connection', async () => {
    const socket = await openSocket(server.port);
    const answer = readToEnd(socket);
    for (let sent = 0; sent < 40 && !socket.destroyed; sent++) {
      socket.write(`GET /${'a'.repeat(65_536)}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    socket.end();
    expect(await answer).toMatch(/^HTTP\/1\.1 414 /);
  });
});

it('H1 what follows a refused request is taken and thrown away, however much it is', async () => {
  const { port, close } = await startTestServer({ limits: { lingerTimeout: 20_000 } });
  onTestFinished(close);
  const socket = await openSocket(port);
  const received = readToEnd(socket);
  socket.write('GET / HTTP/1.1\r\nHost: /\r\n\r\n');
  // More than all buffers in between hold.
  const sent = new Promise<Error | null | undefined>((resolve) => socket.write(Buffer.alloc(32e6), resolve));
  socket.end();
  expect(await received).toMatch(/^HTTP\/1\.1 400 /);
  expect(await sent).toBeFalsy();
  expect(socket.bytesWritten).toBeGreaterThan(32e6);
});

describe('H1 slow readers', () => {
  it('cost bounded memory, and the others do not wait', async () => {
    const large = longListDocument(20_000, packageRecord('com.example.large'));
    server.write('v2/jailbreak/repository/large/packages.json', large);
    const target = '/v2/jailbreak/repository/large/packages';
    await fetch(server.address + target, { method: 'HEAD' });
    const before = process.memoryUsage();
    const sockets = await Promise.all(Array.from({ length: 20 }, () => openSocket(server.port)));
    for (const socket of sockets) {
      socket.pause();
      socket.write(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
    }
    // While others are answered, the server has the time to read far ahead for those that do not read.
    for (let turn = 0; turn < 200; turn++) expect((await fetch(server.address + known)).status).toBe(200);
    const after = process.memoryUsage();
    const grown = after.rss + after.external - before.rss - before.external;
    // Held whole, twenty of them would take twenty times the document, and each count for both. What else this process
    // does is among it, and when it collects its garbage is its own affair.
    expect(grown).toBeLessThan(10 * large.length);
    expect((await fetch(server.address + known)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  it('a large document arrives whole, plain and in each coding', async () => {
    const large = longListDocument(2000, packageRecord('com.example.large'));
    server.write('v2/jailbreak/repository/large/packages.json', large);
    const etags = new Set<string | null>();
    for (const encoding of ['identity', 'gzip', 'br', 'zstd']) {
      const target = `${server.address}/v2/jailbreak/repository/large/packages`;
      const answer = await fetch(target, { headers: { 'accept-encoding': encoding } });
      expect(answer.headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding);
      expect(answer.headers.get('vary')).toContain('Accept-Encoding');
      expect((await answer.text()) === large, encoding).toBe(true);
      etags.add(answer.headers.get('etag'));
    }
    expect(etags.size).toBe(4);
  });
});

describe('H2 stopping', () => {
  it('completes answers under way, refuses new connections and ends', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let arrive = () => {};
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    let missing = 2;
    const search = fakeSearch([]);
    const stopping = await startTestServer({
      overrides: {
        search: {
          ...search,
          searchPackages: async (...question) => {
            if (--missing === 0) arrive();
            await held;
            return search.searchPackages(...question);
          },
        },
      },
    });
    const idle = await openSocket(stopping.port);
    const idleEnd = readToEnd(idle);
    const underWay = fetch(`${stopping.address}/v2/jailbreak/package/search?q=one`);
    // Of what this one sends ahead the next is answered, and says that it is the last.
    const ahead = await openSocket(stopping.port);
    const answers = readToEnd(ahead);
    for (const target of ['/v2/jailbreak/package/search?q=two', '/livez', '/livez'])
      ahead.write(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await arrived;
    const closed = stopping.close();
    await idleEnd;
    await expect(openSocket(stopping.port)).rejects.toThrow(/ECONNREFUSED/);
    release();
    expect((await underWay).status).toBe(200);
    const lines = String(await answers).match(/HTTP\/1.1 \d+|Connection: [^\r]*/g);
    expect(lines).toEqual(['HTTP/1.1 200', 'Connection: keep-alive', 'HTTP/1.1 200', 'Connection: close']);
    const begun = Date.now();
    await closed;
    // Connections that nobody uses would stay for more than a minute.
    expect(Date.now() - begun).toBeLessThan(30_000);
  });

  it('answers what it has received when it is told to stop, and says that it is the last', async () => {
    const stopping = await startReadyServer();
    const used = await Promise.all(Array.from({ length: 20 }, () => openReady(stopping)));
    const fresh = await Promise.all(Array.from({ length: 5 }, () => KeptConnection.open(stopping.port)));
    await expect.poll(() => stopping.held().connections).toBe(25);
    // It reads these after this turn of the event loop, in which it is told to stop.
    const asked = [...used, ...fresh].map((kept, at) => kept.ask(plainGet(at % 2 === 0 ? known : '/livez')));
    const closed = stopping.close();
    for (const answer of await Promise.all(asked)) {
      expect(answer).toMatch(/^HTTP\/1\.1 200 /);
      expect(answer).toContain('\r\nConnection: close\r\n');
    }
    await closed;
  });
});
