import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { AnsweredRequest } from '../../functions/node/answered-request.ts';
import { createDirectAnswers } from '../../functions/node/direct-answers.ts';
import { ReadyBytes } from '../../functions/node/ready-bytes.ts';
import { timesFrom } from '../support/longer-runs.ts';
import { listDocument, packageRecord, publish } from '../support/published.ts';
import { openSocket, readToEnd } from '../support/raw-http.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

// A document that is ready is answered past the parser, on a connection on which something was asked before.

const one = '/v2/jailbreak/package/com.example.one';
const two = '/v2/jailbreak/package/com.example.two';
const get = (target: string, headers = '') => `GET ${target} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;

/** Documents whose answers no reader takes at once: the system holds some megabytes for it. */
const long = Array.from({ length: 40 }, (_, index) => `com.example.long${index}`);
const pathOf = (id: string) => `/v2/jailbreak/package/${id}`;
const text = Array.from({ length: 58_000 }, (_, index) => String.fromCharCode(97 + ((index * index) % 26))).join('');

let server: TestServer | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close();
  server = undefined;
  vi.restoreAllMocks();
});

const start = async (options: Parameters<typeof startTestServer>[0] = {}) => {
  const published = publish(['com.example.one', 'com.example.two']);
  // Without a stamp nothing is ready for longer than a second.
  published.write('../state/generation.json', 'first');
  server = await startTestServer({ published, ...options });
  return server;
};

/** A connection that stays open: what comes on it, answer by answer, with a date that is always the same. */
class Kept {
  readonly socket: Socket;
  #received = '';
  #isOver = false;

  constructor(socket: Socket) {
    this.socket = socket;
    sockets.push(socket);
    socket.setEncoding('latin1');
    socket.on('data', (piece: string) => {
      this.#received += piece;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#isOver = true;
    });
  }

  static async open(port: number): Promise<Kept> {
    return new Kept(await openSocket(port));
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The next answer; undefined where the connection was closed before one came. */
  async next(isBodiless = false): Promise<string | undefined> {
    let end: number | undefined;
    await vi.waitUntil(
      () => {
        const head = this.#received.indexOf('\r\n\r\n') + 4;
        const length = Number(
          isBodiless ? 0 : (/\r\ncontent-length: (\d+)/i.exec(this.#received.slice(0, head))?.[1] ?? 0),
        );
        if (head >= 4 && this.#received.length >= head + length) end = head + length;
        return end !== undefined || this.#isOver;
      },
      { timeout: 60_000, interval: 2 },
    );
    if (end === undefined) return undefined;
    const answer = this.#received.slice(0, end);
    this.#received = this.#received.slice(end);
    return answer
      .replace(/\r\ndate: [^\r]+/i, '\r\nDate: now')
      .replace(/\r\nx-request-id: [^\r]+/i, '')
      .replace(/"date":"[^"]+"/, '"date":""');
  }

  ask(request: string): Promise<string | undefined> {
    this.socket.write(request, 'latin1');
    return this.next(request.startsWith('HEAD '));
  }
}

/** What was answered past the parser, of what is asked within. */
const countDirect = () => {
  const written = vi.spyOn(ServerResponse.prototype, 'writeHead');
  return {
    /** How many of this many were. */
    of: (asked: number) => asked - written.mock.calls.length,
    again: () => void written.mockClear(),
  };
};

/** A connection on which these targets have been asked for, so that they are ready. */
const openReady = async ({ port }: TestServer, targets = [one]): Promise<Kept> => {
  const kept = await Kept.open(port);
  for (const target of targets) expect(await kept.ask(get(target))).toMatch(/^HTTP\/1\.1 200 /);
  return kept;
};

describe('H1 direct answers', () => {
  it.each([
    ['as it is', ''],
    ['compressed', 'Accept-Encoding: gzip, deflate\r\n'],
    ['known already', 'If-None-Match: *\r\n'],
    ['with other headers', 'accept: */*\r\nUser-Agent:  some program/1.0 \r\nX-Empty:\r\nConnection: Keep-Alive\r\n'],
  ])('are those of the parser, byte for byte: %s', async (_, headers) => {
    const running = await start();
    const other = await Kept.open(running.port);
    await other.ask(get(two));
    const fresh = await other.ask(get(one, headers));
    await other.ask(get(one, headers.replace(/^If-None-Match.*\r\n/, '')));
    // The first request of a connection goes to the parser.
    const parsed = await (await Kept.open(running.port)).ask(get(one, headers));
    const direct = countDirect();
    expect(await other.ask(get(one, headers))).toBe(parsed);
    expect(await other.ask(get(one, headers))).toBe(parsed);
    expect(direct.of(2)).toBe(2);
    expect(parsed?.split('\r\n').sort()).toEqual(fresh?.split('\r\n').sort());
    expect(parsed).toMatch(headers.startsWith('If') ? /^HTTP\/1\.1 304 / : /^HTTP\/1\.1 200 OK\r\n/);
  });

  it('tell the time of each', async () => {
    const kept = await openReady(await start());
    const dates: string[] = [];
    vi.spyOn(Date, 'now')
      .mockReturnValueOnce(Date.UTC(2026, 8, 9))
      .mockReturnValue(Date.UTC(2026, 10, 22, 1, 2, 3));
    kept.socket.on('data', (piece: string) => dates.push(/\r\nDate: ([^\r]+)/.exec(piece)?.[1] ?? ''));
    await kept.ask(get(one));
    await kept.ask(get(one));
    expect(dates.slice(-1)).toEqual(['Sun, 22 Nov 2026 01:02:03 GMT']);
  });

  it('are given with the headers in any number of pieces', async () => {
    const kept = await openReady(await start());
    const whole = await kept.ask(get(one));
    const request = get(one, 'Accept: */*\r\n');
    for (let at = 1; at < request.length; at++) {
      kept.socket.write(request.slice(0, at));
      await new Promise((resolve) => setImmediate(resolve));
      expect(await kept.ask(request.slice(at)), `cut at ${at}`).toBe(whole);
    }
  });

  it('come in the order of what was asked, whoever answers', async () => {
    const kept = await openReady(await start(), [one, two]);
    const targets = Array.from(
      { length: 60 },
      (_, index) => [one, two, '/v2/jailbreak/package/none', `${one}?x=${index}`][index % 4] ?? '',
    );
    kept.socket.write(targets.map((target) => get(target)).join(''));
    for (const target of targets) {
      const answer = await kept.next();
      if (target.endsWith('none')) expect(answer).toMatch(/^HTTP\/1\.1 404 /);
      else expect(answer).toContain(`"package_id":"${target.slice(target.lastIndexOf('/') + 1).replace(/\?.*/, '')}"`);
    }
  });

  it('come on many connections at once, each in its turn', async () => {
    const running = await start();
    const kept = await Promise.all(Array.from({ length: 120 }, () => openReady(running)));
    const direct = countDirect();
    for (let round = 0; round < 4; round++) {
      // All of it is there when the server looks: more than one turn.
      const answers = await Promise.all(kept.map((each) => each.ask(get(one))));
      expect(new Set(answers).size).toBe(1);
    }
    expect(direct.of(480)).toBe(480);
  });

  it('are found below the path of the public address', async () => {
    const { port } = await start({ basePath: () => '/below' });
    const kept = await Kept.open(port);
    const parsed = await kept.ask(get(`/below${one}`));
    const direct = countDirect();
    expect(await kept.ask(get(`/below${one}`))).toBe(parsed);
    expect(await kept.ask(get(one))).toBe(parsed);
    expect(direct.of(2)).toBe(2);
  });

  it('follow a build', async () => {
    const running = await start();
    const kept = await openReady(running);
    expect(await kept.ask(get(one))).toContain('"version":"1.0"');
    running.write(
      'v2/jailbreak/package/com.example.one.json',
      listDocument([packageRecord('com.example.one', 'sample', '2.0')]),
    );
    running.write('../state/generation.json', 'second');
    await expect.poll(() => kept.ask(get(one))).toContain('"version":"2.0"');
  });
});

describe('H9 what is not plain', () => {
  const crooked: [what: string, request: string][] = [
    ['a body', `GET ${one} HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc`],
    ['a length of none', get(one, 'Content-Length: 0\r\n')],
    ['a chunked body', `${get(one, 'Transfer-Encoding: chunked\r\n')}0\r\n\r\n`],
    ['another coding', `${get(one, 'Transfer-Encoding: gzip, chunked\r\n')}0\r\n\r\n`],
    ['a connection that ends', get(one, 'Connection: close\r\n')],
    ['a change of protocol', get(one, 'Connection: Upgrade\r\nUpgrade: h2c\r\n')],
    ['an expectation', get(one, 'Expect: 100-continue\r\n')],
    ['two hosts', get(one, 'Host: b\r\n')],
    ['two hosts of one name', get(one, 'hOST: a\r\n')],
    ['no host', `GET ${one} HTTP/1.1\r\nAccept: */*\r\n\r\n`],
    ['a host that is none', `GET ${one} HTTP/1.1\r\nHost: a/b\r\n\r\n`],
    ['an older version', `GET ${one} HTTP/1.0\r\nHost: a\r\n\r\n`],
    ['a newer version', `GET ${one} HTTP/1.2\r\nHost: a\r\n\r\n`],
    ['another method', `HEAD ${one} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['a method of small letters', `get ${one} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['all of an address', get(`http://a${one}`)],
    ['a blank in the address', get(`${one} x`)],
    ['two blanks', `GET  ${one} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['a tab', `GET\t${one} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['a fragment', get(`${one}#x`)],
    ['an address outside ASCII', get(`${one}\xe4`)],
    ['lines that end otherwise', get(one).replaceAll('\r\n', '\n')],
    ['one line that ends otherwise', `GET ${one} HTTP/1.1\nHost: a\r\n\r\n`],
    ['a line that ends early', get(one, 'X: a\rb\r\n')],
    ['a feed of lines within', get(one, 'X: a\nY: b\r\n')],
    ['a folded header', get(one, 'X: a\r\n b\r\n')],
    ['a blank before a colon', get(one, 'X : a\r\n')],
    ['a header without a name', get(one, ': a\r\n')],
    ['a line without a colon', get(one, 'nonsense\r\n')],
    ['a byte that is none', get(one, 'X: a\x00b\r\n')],
    ['a value outside ASCII', get(one, 'X: \xe4\r\n')],
    ['a name outside ASCII', get(one, 'X\xe4: a\r\n')],
    ['a coding twice', get(one, 'Accept-Encoding: gzip\r\nAccept-Encoding: br\r\n')],
    ['a tag twice', get(one, 'If-None-Match: "a"\r\nIf-None-Match: *\r\n')],
    ['names of an object', get(one, '__proto__: a\r\nconstructor: b\r\n')],
    ['an empty line before it', `\r\n${get(one)}`],
    ['too many headers', get(one, 'X: a\r\n'.repeat(300))],
    ['headers that are too large', get(one, `X: ${'a'.repeat(70_000)}\r\n`)],
    ['an address that is too long', get(`${one}?${'a'.repeat(70_000)}`)],
  ];

  it('is a head of which a part has come', async () => {
    const running = await start();
    const kept = await openReady(running);
    const lone = await Kept.open(running.port);
    for (const { socket } of [kept, lone]) {
      socket.write(`GET ${two} HTTP/1.1\r\nHost: a\r\nX: `);
      await sleep(50);
    }
    const answer = await kept.ask(get(one));
    // What came last was the value of a header, and the others of its lines headers: two hosts.
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(await lone.ask(get(one))).toBe(answer);
  });

  it('is a head beyond the bounds', async () => {
    const running = await start({ limits: { headers: 300, requestLine: 200 } });
    const kept = await openReady(running);
    expect(await kept.ask(get(one, `X: ${'x'.repeat(400)}\r\n`))).toMatch(/^HTTP\/1\.1 431 /);
  });

  it('is a document longer than a piece of an answer', async () => {
    const kept = await openReady(await start({ limits: { pieceBytes: 1000 } }));
    const direct = countDirect();
    expect(await kept.ask(get(one))).toMatch(/^HTTP\/1\.1 200 /);
    expect(direct.of(1)).toBe(0);
  });

  it.each(crooked)('is left to the parser, or read as it reads it: %s', async (_, request) => {
    const running = await start();
    const kept = await openReady(running);
    // The parser alone has the first request of a connection.
    const lone = await Kept.open(running.port);
    const awaited = await lone.ask(request);
    expect(await kept.ask(request)).toBe(awaited);
    // Whether the connection can be asked again is the same too; what was sent is read to its end.
    const [again, loneAgain] = await Promise.all([kept.ask(get(one)), lone.ask(get(one))]);
    expect(again).toBe(loneAgain);
  });
});

describe('H9 any request', () => {
  // What a parser of requests stumbles over, in a request that is plain but for it.
  const odd = [
    '\r',
    '\n',
    '\r\n',
    '\r\n\r\n',
    ' ',
    '\t',
    ':',
    '\0',
    '\x7f',
    '\x80',
    '\xff',
    '#',
    '?',
    ',',
    '/',
    'Host: a\r\n',
    'Content-Length: 5\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Connection: close\r\n',
    'If-None-Match: *\r\n',
    'Accept-Encoding: gzip\r\n',
    'GET ',
    '/1.1',
    'é',
  ];
  const plain = [
    '',
    'Accept-Encoding: gzip\r\n',
    'If-None-Match: "x"\r\nUser-Agent: a\r\n',
    'Connection: keep-alive\r\n',
  ].map((headers) => get(one, headers));
  const changed = fc
    .record({
      request: fc.constantFrom(...plain),
      changes: fc.array(fc.record({ at: fc.nat(160), removed: fc.nat(3), added: fc.constantFrom('', ...odd) }), {
        minLength: 1,
        maxLength: 3,
      }),
    })
    .map(({ request, changes }) =>
      changes.reduce((text, { at, removed, added }) => text.slice(0, at) + added + text.slice(at + removed), request),
    );
  // All that comes for some bytes and a last request, which what is wrong may swallow, but for what is always another.
  const last = get('/v2/jailbreak/package/none', 'Connection: close\r\n');
  const answersTo = async (port: number, sent: string): Promise<string> => {
    const socket = await openSocket(port);
    const received = readToEnd(socket);
    socket.write(sent + last, 'latin1');
    const text = await received;
    return text.replaceAll(/\r\n(?:date|x-request-id): [^\r]+/gi, '').replaceAll(/"date":"[^"]+"/g, '');
  };

  it('is answered as by the parser, whatever it holds', async () => {
    // What does not end is over soon.
    const { port } = await start({ limits: { headersTimeout: 1000, requestTimeout: 1000, timeoutInterval: 50 } });
    for (const request of plain) await answersTo(port, request);
    const both = await answersTo(port, get(one));
    const first = both.slice(0, both.indexOf('HTTP/1.1 404'));
    const runs = timesFrom('DEBDEX_TEST_SEQUENCES', 250);
    await fc.assert(
      fc.asyncProperty(changed, async (request) => {
        const [parsed, direct] = await Promise.all([answersTo(port, request), answersTo(port, get(one) + request)]);
        expect(direct).toBe(first + parsed);
      }),
      { numRuns: runs },
    );
  });
});

describe('H8 readers of direct answers', () => {
  const startLong = async (options: Parameters<typeof startTestServer>[0] = {}) => {
    const running = await start(options);
    for (const id of long) {
      running.write(`${pathOf(id).slice(1)}.json`, listDocument([{ ...packageRecord(id), description: text }]));
    }
    const kept = await openReady(running, long.map(pathOf));
    return { running, kept };
  };
  const askMuch = (kept: Kept, times: number) => {
    for (let time = 0; time < times; time++) kept.socket.write(long.map((id) => get(pathOf(id))).join(''));
  };

  it('get each of them whole, however late they take it', async () => {
    const { running, kept } = await startLong();
    kept.socket.pause();
    const direct = countDirect();
    askMuch(kept, 5);
    await expect.poll(() => running.held().answers.documents).toBeGreaterThan(10);
    const stalled = running.held().answers.documents;
    // Who does not read is not answered on.
    expect(stalled).toBeLessThan(200);
    kept.socket.resume();
    for (let asked = 0; asked < 200; asked++) {
      const answer = await kept.next();
      expect(answer?.slice(answer.indexOf('\r\n\r\n') + 4)).toContain(`"package_id":"${long[asked % long.length]}"`);
      expect(answer).toContain(text);
    }
    expect(direct.of(200)).toBe(200);
  });

  it('are cut when they stand still', async () => {
    const { running, kept } = await startLong({ limits: { readerTimeout: 300 } });
    kept.socket.pause();
    askMuch(kept, 5);
    await expect.poll(() => running.refusals.readerTimeout).toBe(1);
    await expect.poll(() => running.held().connections).toBe(0);
  });

  it('have theirs before the server ends', async () => {
    const { running, kept } = await startLong();
    kept.socket.pause();
    askMuch(kept, 5);
    await expect.poll(() => running.held().answers.documents).toBeGreaterThan(10);
    const before = running.held().answers.documents;
    const closed = running.close();
    server = undefined;
    // Longer than the server looks for idle connections.
    await sleep(200);
    kept.socket.resume();
    let whole = 0;
    for (let answer = await kept.next(); answer !== undefined; answer = await kept.next()) {
      expect(answer).toContain(text);
      whole++;
      if (/\r\nconnection: close\r\n/i.test(answer)) break;
    }
    await closed;
    expect(whole).toBeGreaterThanOrEqual(before);
  });

  it('keep their connection longer than a first request may take, and lose it when it is idle', async () => {
    const limits = { headersTimeout: 300, requestTimeout: 300, timeoutInterval: 20, keepAliveTimeout: 1500 };
    const running = await start({ limits });
    await openReady(running);
    const kept = await Kept.open(running.port);
    const direct = countDirect();
    // The parser is given the first request, though its answer is ready: its time would otherwise go on.
    await kept.ask(get(one));
    expect(direct.of(1)).toBe(0);
    direct.again();
    const begun = performance.now();
    let asked = 0;
    while (performance.now() - begun < 900) {
      expect(await kept.ask(get(one))).toMatch(/^HTTP\/1\.1 200 /);
      asked++;
      await sleep(100);
    }
    expect(direct.of(asked)).toBe(asked);
    expect(kept.isOver).toBe(false);
    await expect.poll(() => kept.isOver).toBe(true);
  });
});

describe('H8 connections that are answered directly', () => {
  it('are not the first to make room for others', async () => {
    const running = await start({ limits: { clientConnections: 2 } });
    const first = await openReady(running);
    const second = await Kept.open(running.port);
    await second.ask(get(one));
    const direct = countDirect();
    await first.ask(get(one));
    expect(direct.of(1)).toBe(1);
    const third = await Kept.open(running.port);
    expect(await third.ask(get(one))).toMatch(/^HTTP\/1\.1 200 /);
    await expect.poll(() => second.isOver).toBe(true);
    expect(await first.ask(get(one))).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('the accounts of direct answers', () => {
  it('are kept while a reader has yet to take one, and closed when it has', () => {
    const kept: string[] = [];
    const note = (what: string) => () => void kept.push(what);
    let taken = () => {};
    const socket = { writable: true, destroyed: false, writableLength: 0, bytesWritten: 0, remoteAddress: '192.0.2.1' };
    const write = (bytes: Uint8Array | string, callback?: () => void) => {
      if (callback === undefined) socket.writableLength = bytes.length;
      else taken = callback;
    };
    const bytes = new ReadyBytes(200, [], Buffer.from('body'), 65_000);
    const direct = createDirectAnswers({
      hot: { find: () => ({ status: 200, operation: undefined, bytes }) },
      limits: { headerCount: 100 },
      unread: {
        open: (client) => ({
          add: (count) => kept.push(`unread ${count} of ${client}`),
          take: () => {},
          close: note('read'),
        }),
      },
      underWay: { add: (client) => kept.push(`under way ${client}`), remove: (client) => kept.push(`over ${client}`) },
      observers: [],
      basePath: () => '',
      trustedProxies: 1,
    });
    const place = { beginRequest: note('begun'), endRequest: note('ended') };
    const connection = { socket: Object.assign(socket, { write }) as unknown as Socket, client: '192.0.2.1', place };
    const now = vi.spyOn(Date, 'now').mockReturnValue(Date.UTC(2026, 8, 9));
    const answer = direct.toConnection(connection);
    const request = Buffer.from(get(one, 'X-Forwarded-For: 192.0.2.7\r\n'));
    expect(answer(request, note('next'))).toBe(true);
    const sent = bytes.take();
    const length = sent.length;
    expect(kept.splice(0).sort()).toEqual(['begun', 'under way 192.0.2.7', `unread ${length} of 192.0.2.7`]);
    expect(direct.isUnderWay).toBe(true);
    // What is being sent is nobody else's.
    now.mockReturnValue(Date.UTC(2026, 8, 10));
    expect(bytes.take()).not.toBe(sent);
    taken();
    expect(kept.splice(0).sort()).toEqual(['ended', 'next', 'over 192.0.2.7', 'read']);
    expect(direct.isUnderWay).toBe(false);
    direct.end();
    expect(answer(request, note('next'))).toBe(false);
    expect(kept).toEqual([]);
  });
});

describe('bytes of ready answers', () => {
  it('stay as they are while they are being sent', () => {
    const now = vi.spyOn(Date, 'now').mockReturnValue(Date.UTC(2026, 8, 9));
    const ready = new ReadyBytes(200, ['A', 'b'], Buffer.from('body'), 65_000);
    const lent = ready.take();
    const before = lent.toString();
    expect(before).toBe(
      'HTTP/1.1 200 OK\r\nA: b\r\nDate: Wed, 09 Sep 2026 00:00:00 GMT\r\n' +
        'Connection: keep-alive\r\nKeep-Alive: timeout=65\r\n\r\nbody',
    );
    ready.lend();
    now.mockReturnValue(Date.UTC(2026, 8, 10));
    expect(ready.take().toString()).toContain('Thu, 10 Sep 2026');
    expect(lent.toString()).toBe(before);
    expect(Buffer.from(ready.body).toString()).toBe('body');
    const own = ready.take();
    now.mockReturnValue(Date.UTC(2026, 8, 11));
    // What nobody holds is not made anew.
    expect(ready.take()).toBe(own);
  });
});

describe('H12 direct answers', () => {
  it('are told to who watches, like others', async () => {
    const seen: AnsweredRequest[] = [];
    const running = await start({ onAnswered: [(answered) => void seen.push(answered)], trustedProxies: 1 });
    const kept = await openReady(running);
    const direct = countDirect();
    const headers = 'X-Forwarded-For: 192.0.2.7\r\nUser-Agent: some program\r\n';
    const answer = await kept.ask(get(one, headers));
    await kept.ask(get(one, `If-None-Match: *\r\n${headers}`));
    await expect.poll(() => seen.length).toBe(3);
    expect(direct.of(2)).toBe(2);
    const told = seen.map(({ note, client, ...rest }) => ({ ...rest, operation: note.operation, client: client() }));
    const [parsed, found, notModified] = told;
    expect(found).toEqual({
      method: 'GET',
      target: one,
      userAgent: 'some program',
      status: 200,
      isWhole: true,
      milliseconds: expect.any(Number),
      // What comes from the app names its request.
      bytes: (parsed?.bytes ?? 0) - 'X-Request-Id: 012345678901234567890123\r\n'.length,
      operation: 'package',
      client: '192.0.2.7',
    });
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(notModified).toMatchObject({ status: 304, isWhole: true, operation: 'package' });
    expect(notModified?.bytes).toBeLessThan(parsed?.bytes ?? 0);
  });

  it('leave to the parser what a proxy of ours named, which gives the name back', async () => {
    const { port } = await start({ trustedProxies: 1 });
    const socket = await openSocket(port);
    const received = readToEnd(socket);
    for (const headers of ['', 'X-Request-Id: abc-1\r\n', 'X-Request-Id: abc-2\r\nConnection: close\r\n']) {
      socket.write(get(one, headers));
      // In pieces of their own.
      await sleep(50);
    }
    expect((await received).match(/x-request-id: abc-\d\r\n/gi)).toHaveLength(2);
  });
});
