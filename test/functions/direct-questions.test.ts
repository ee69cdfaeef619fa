import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Unavailable } from '../../functions/dependencies.ts';
import { createRateLimiter } from '../../functions/http/rate-limiter.ts';
import type { AnsweredRequest } from '../../functions/node/answered-request.ts';
import { createDirectAnswers } from '../../functions/node/direct-answers.ts';
import {
  beginClosing,
  countDirect,
  plainGet as get,
  KeptConnection,
  known,
  passTurns,
  startReadyServer,
} from '../support/kept-connection.ts';
import { packageRecord } from '../support/published.ts';
import { openSocket, readToEnd } from '../support/raw-http.ts';
import { fakeSearch, type TestServer } from '../support/test-server.ts';

// Questions are answered past the parser, on a connection on which something was asked before.

const search = '/v2/jailbreak/package/search';
const multi = '/v2/jailbreak/package/multi';
const one = `${search}?q=com.example`;
const ids = ['com.example.one', 'com.example.two'];

afterEach(() => void vi.restoreAllMocks());

/** Its answers are the same at any time: what is compressed hides the date. */
const start = ({ overrides, ...options }: Parameters<typeof startReadyServer>[0] = {}): Promise<TestServer> =>
  startReadyServer({ overrides: { now: () => new Date('2026-11-20T12:00:00Z'), ...overrides }, ...options });

const openKept = async ({ port }: TestServer): Promise<KeptConnection> => {
  const kept = await KeptConnection.open(port);
  expect(await kept.ask(get(known))).toMatch(/^HTTP\/1\.1 200 /);
  return kept;
};

/** An index whose searches end when they are told to. */
const startHeld = async (options: Parameters<typeof start>[0] = {}) => {
  const held: { end: () => void; fail: (error: Error) => void }[] = [];
  const found = fakeSearch(ids);
  const searchPackages: typeof found.searchPackages = (...question) =>
    new Promise((resolve, reject) => {
      held.push({ end: () => resolve(found.searchPackages(...question)), fail: reject });
    });
  const running = await start({ overrides: { search: { ...found, searchPackages } }, ...options });
  return { running, held, kept: await openKept(running) };
};

describe('H1 questions that are answered directly', () => {
  const targets = [
    one,
    `${search}?q=com.example&limit=1`,
    `${search}?limit=1&page=2&q=com`,
    `${search}?q=nothing`,
    `${search}?q=%63om+ex&section=Tweaks&architecture=iphoneos-arm64`,
    `${search}?q=%E5%85%A8%F0%9F%98%80&price=Free`,
    `${search}?%71=com&x=1&&=&page=1`,
    `${search}?q="com"<>'\\^\`{|}`,
    `${search}?q=a?b=c/../d`,
    `${search}?q=%zz%`,
    `${multi}?ids=com.example.two,none,com.example.one`,
    `${multi}?ids=${Array.from({ length: 300 }, (_, index) => `com.example.${index}`).join(',')}`,
  ];
  const wrong = [
    search,
    `${search}?`,
    `${search}?q=`,
    `${search}?q=a&q=b`,
    `${search}?q=%ff`,
    `${search}?q=%00`,
    `${search}?q=a&limit=0`,
    `${search}?q=a&limit=101`,
    `${search}?q=a&page=x`,
    `${search}?q=${'a'.repeat(3000)}`,
    multi,
    `${multi}?ids=${Array.from({ length: 2001 }, (_, index) => index.toString(36)).join(',')}`,
    `${multi}?ids=a&priority=none`,
  ];
  const headers = ['', 'Accept-Encoding: zstd, br\r\n', 'If-None-Match: *\r\nRange: bytes=0-3\r\nCookie: a=b\r\n'];

  it.each([...targets, ...wrong].map((target) => [target.slice(0, 80), target]))(
    'have the bytes of the app: %s',
    async (_, target) => {
      const running = await start();
      const kept = await openKept(running);
      for (const lines of headers) {
        // The first request of a connection goes to the parser.
        const parsed = await (await KeptConnection.open(running.port)).ask(get(target, lines));
        const direct = countDirect();
        expect(await kept.ask(get(target, lines))).toBe(parsed);
        expect(direct.of(1)).toBe(1);
        expect(parsed).toMatch(wrong.includes(target) ? /^HTTP\/1\.1 400 / : /^HTTP\/1\.1 200 OK\r\n/);
        vi.restoreAllMocks();
      }
      expect(running.faults).toEqual([]);
    },
  );

  it('are compressed where a client takes that', async () => {
    const many = Array.from({ length: 30 }, (_, index) => `com.example.${index}`);
    const running = await start({ overrides: { search: fakeSearch(many) } });
    const kept = await openKept(running);
    const direct = countDirect();
    expect(await kept.ask(get(one, 'Accept-Encoding: gzip\r\n'))).toMatch(/\r\nContent-Encoding: gzip\r\n/i);
    expect(await kept.ask(get(one))).toMatch(/^(?:(?!\r\ncontent-encoding)[\s\S])*"com\.example\.9"/i);
    expect(direct.of(2)).toBe(2);
  });

  it('are named, each otherwise, as the app’s are', async () => {
    const { port } = await start();
    const socket = await openSocket(port);
    const received = readToEnd(socket);
    for (const lines of ['', '', 'Connection: close\r\n']) {
      socket.write(get(one, lines));
      // In pieces of their own.
      await sleep(50);
    }
    const names = (await received).match(/\r\nX-Request-Id: [\da-f]{24}(?=\r\n)/g);
    expect(new Set(names).size).toBe(3);
  });

  it.each([
    ['HEAD', `HEAD ${one} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['another method', `POST ${one} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`],
    ['OPTIONS', `OPTIONS ${one} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['an encoded path', get(one.replace('search', 's%65arch'))],
    ['a path with a slash at its end', get(one.replace('?', '/?'))],
    ['a path that begins otherwise', get(one.replace('/v2', ''))],
    ['two slashes', get(`/${one}`)],
    ['segments that lead back', get(one.replace('/package', '/package/../package'))],
    ['a fragment', get(`${one}#x`)],
    ['all of an address', get(`http://a${one}`)],
    ['a host that the URL standard changes', get(one).replace('Host: a', 'Host: A')],
    ['no name of a host', get(one).replace('Host: a', 'Host:')],
    ['a connection that ends', get(one, 'Connection: close\r\n')],
  ])('are the app’s alone, and alike, with %s', async (_, request) => {
    const running = await start();
    const kept = await openKept(running);
    const lone = await KeptConnection.open(running.port);
    const parsed = await lone.ask(request);
    const direct = countDirect();
    expect(await kept.ask(request)).toBe(parsed);
    expect(direct.of(1)).toBeLessThanOrEqual(0);
  });

  it('come in the order of what was asked, whoever answers', async () => {
    const running = await start();
    const kept = await openKept(running);
    const mixed = [one, known, `${search}?q=a&q=b`, `${multi}?ids=com.example.two`, '/v2/livez', '/v2/none'];
    const asked = Array.from({ length: 90 }, (_, index) => mixed[index % mixed.length] ?? '');
    const awaited: (string | undefined)[] = [];
    for (const target of mixed) awaited.push(await (await KeptConnection.open(running.port)).ask(get(target)));
    kept.socket.write(asked.map((target) => get(target)).join(''));
    for (const [index, target] of asked.entries()) {
      expect(await kept.next(), `${index}: ${target}`).toBe(awaited[index % mixed.length]);
    }
  });

  it('are read in any number of pieces', async () => {
    const kept = await openKept(await start());
    const request = get(one, 'Accept: */*\r\n');
    const whole = await kept.ask(request);
    for (let at = 1; at < request.length; at += 3) {
      kept.socket.write(request.slice(0, at));
      await new Promise((resolve) => setImmediate(resolve));
      expect(await kept.ask(request.slice(at)), `cut at ${at}`).toBe(whole);
    }
  });

  it('are found below the path of the public address', async () => {
    const { port } = await start({ basePath: () => '/below' });
    const parsed = await (await KeptConnection.open(port)).ask(get(`/below${one}`));
    const kept = await KeptConnection.open(port);
    await kept.ask(get(known));
    const direct = countDirect();
    expect(await kept.ask(get(`/below${one}`))).toBe(parsed);
    expect(direct.of(1)).toBe(1);
  });
});

describe('H1 what goes wrong with a question that is answered directly', () => {
  it.each([
    ['an index that does not answer', new Unavailable('away'), 503],
    ['a fault of ours', new TypeError('a fault'), 503],
  ])('is answered and reported as by the app: %s', async (_, error, status) => {
    const searchPackages = () => Promise.reject(error);
    const running = await start({ overrides: { search: { ...fakeSearch(ids), searchPackages } } });
    const parsed = await (await KeptConnection.open(running.port)).ask(get(one));
    const kept = await openKept(running);
    const direct = countDirect();
    expect(await kept.ask(get(one))).toBe(parsed);
    expect(direct.of(1)).toBe(1);
    expect(parsed).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(running.faults).toHaveLength(2);
    expect(running.faults[1]).toEqual(running.faults[0]);
  });

  it('is one fault of ours, where the app itself fails', async () => {
    let isWell = true;
    const publicAddress = () => {
      if (isWell) return 'http://index.test';
      throw new TypeError('a fault');
    };
    const running = await start({ overrides: { publicAddress } });
    const kept = await openKept(running);
    isWell = false;
    const parsed = await (await KeptConnection.open(running.port)).ask(get(one));
    expect(await kept.ask(get(one))).toBe(parsed);
    expect(parsed).toMatch(/^HTTP\/1\.1 500 /);
    expect(running.faults).toHaveLength(2);
  });
});

describe('H8 limits of questions that are answered directly', () => {
  it('hold a client to its rate, whoever answers', async () => {
    const limiter = createRateLimiter({ rate: 0.001, burst: 4, now: () => new Date(0) });
    const running = await start({ overrides: { limiter }, answerMemory: 2 ** 20 });
    const kept = await openKept(running);
    const direct = countDirect();
    // What is kept counts too.
    for (const target of [one, one, multi, `${search}?q=x`]) await kept.ask(get(target));
    const refused = await kept.ask(get(one));
    expect(direct.of(5)).toBe(5);
    expect(refused).toMatch(/^HTTP\/1\.1 429 [\s\S]*\r\nRetry-After: 1000\r\n/);
    expect(await (await KeptConnection.open(running.port)).ask(get(one))).toBe(refused);
  });

  it('are those of the client that a proxy names', async () => {
    const limiter = createRateLimiter({ rate: 0.001, burst: 1, now: () => new Date(0) });
    const kept = await openKept(await start({ overrides: { limiter }, trustedProxies: 1 }));
    const from = (client: string) => get(one, `X-Forwarded-For: ${client}\r\n`);
    expect(await kept.ask(from('192.0.2.7'))).toMatch(/^HTTP\/1\.1 200 /);
    expect(await kept.ask(from('192.0.2.7'))).toMatch(/^HTTP\/1\.1 429 /);
    expect(await kept.ask(from('192.0.2.8'))).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('count requests that are under way, until they are answered or given up', async () => {
    const { running, held, kept } = await startHeld({ limits: { clientRequests: 2 } });
    const others = [await openKept(running), await openKept(running)];
    for (const { socket } of others) socket.write(get(one));
    await expect.poll(() => held.length).toBe(2);
    const refused = await kept.ask(get(one));
    expect(refused).toMatch(/^HTTP\/1\.1 429 [\s\S]*Too many requests at once/);
    expect(await (await KeptConnection.open(running.port)).ask(get(one))).toBe(refused);
    // Who goes away makes room, though the answer is still being made.
    others[0]?.socket.destroy();
    await expect.poll(() => running.held().connections).toBe(3);
    kept.socket.write(get(one));
    await expect.poll(() => held.length).toBe(3);
    for (const { end } of held) end();
    expect(await kept.next()).toMatch(/^HTTP\/1\.1 200 /);
    expect(await others[1]?.next()).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('H8 readers of questions that are answered directly', () => {
  const text = 'all of a long description '.repeat(2000);
  const many = Array.from({ length: 100 }, (_, index) => `com.example.${index}`);
  const startLong = async (options: Parameters<typeof start>[0] = {}) => {
    const records = many.map((id) => JSON.stringify({ ...packageRecord(id), description: text }));
    const all = { records: { count: many.length, pieces: [records.join(',')] }, more: false, last: 1 };
    const searchPackages = async () => all;
    const running = await start({ overrides: { search: { ...fakeSearch(ids), searchPackages } }, ...options });
    return { running, kept: await openKept(running) };
  };

  it('get each of them whole, however late they take it', async () => {
    const { running, kept } = await startLong();
    const other = await KeptConnection.open(running.port);
    const parsed = await other.ask(get(one));
    const direct = countDirect();
    kept.socket.pause();
    for (let asked = 0; asked < 3; asked++) kept.socket.write(get(one));
    await expect.poll(() => running.held().answers.app).toBe(3);
    await passTurns(other);
    // One after the other: the second waits until the first was taken.
    expect(running.held().answers.app).toBe(3);
    kept.socket.resume();
    for (let asked = 0; asked < 3; asked++) expect((await kept.next()) === parsed).toBe(true);
    expect(direct.of(3)).toBe(3);
  });

  it('are cut when they stand still', async () => {
    const { running, kept } = await startLong({ limits: { readerTimeout: 300 } });
    kept.socket.pause();
    kept.socket.write(get(one));
    await expect.poll(() => running.refusals.readerTimeout).toBe(1);
    await expect.poll(() => running.held().connections).toBe(0);
  });

  it('have theirs before the server ends', async () => {
    const { running, held, kept } = await startHeld();
    kept.socket.write(get(one));
    await expect.poll(() => held.length).toBe(1);
    const { closed, lookForIdle } = await beginClosing(running);
    for (let time = 0; time < 3; time++) lookForIdle();
    held[0]?.end();
    expect(await kept.next()).toMatch(/^HTTP\/1\.1 200 /);
    await closed;
    await expect.poll(() => kept.isOver).toBe(true);
  });

  it('who went away leave nothing behind', async () => {
    const seen: AnsweredRequest[] = [];
    const { running, held, kept } = await startHeld({ onAnswered: [(answered) => void seen.push(answered)] });
    const other = await openKept(running);
    kept.socket.write(get(one));
    await expect.poll(() => held.length).toBe(1);
    kept.socket.destroy();
    await expect.poll(() => running.held().connections).toBe(1);
    await expect.poll(() => seen.filter(({ isWhole }) => !isWhole).length).toBe(1);
    held[0]?.end();
    other.socket.write(get(one));
    await expect.poll(() => held.length).toBe(2);
    held[1]?.fail(new Unavailable('away'));
    expect(await other.next()).toMatch(/^HTTP\/1\.1 503 /);
    // Two documents before.
    await expect
      .poll(() => seen.map(({ status, note }) => [status, note.operation]))
      .toEqual([
        [200, 'package'],
        [200, 'package'],
        [200, 'packageSearch'],
        [503, 'packageSearch'],
      ]);
    expect(running.faults).toHaveLength(1);
  });

  it('who end their side get what the app would give them', async () => {
    const { running, held, kept } = await startHeld();
    const [lone, other] = [await KeptConnection.open(running.port), await openKept(running)];
    for (const { socket } of [kept, lone]) socket.end(get(one));
    await expect.poll(() => held.length).toBe(2);
    await passTurns(other);
    for (const { end } of held) end();
    expect(await kept.next()).toBe(await lone.next());
  });
});

describe('H8 a connection on which questions are answered directly', () => {
  it('is listened to no more for each of them', async () => {
    const warnings: string[] = [];
    const listen = ({ name }: Error) => void warnings.push(name);
    process.on('warning', listen);
    onTestFinished(() => void process.off('warning', listen));
    const kept = await openKept(await start());
    for (let asked = 0; asked < 30; asked++) await kept.ask(get(one));
    expect(warnings).toEqual([]);
  });

  /** A question on a connection whose reader takes each piece when it is let, and what is told to the accounts. */
  const askPiecewise = async () => {
    const told: string[] = [];
    const taken: ((error?: Error) => void)[] = [];
    const note = (what: string) => () => void told.push(what);
    const socket = Object.assign(new EventEmitter(), {
      writable: true,
      destroyed: false,
      remoteAddress: '192.0.2.1',
      cork: () => {},
      uncork: () => {},
      write: (_: unknown, done: unknown) => {
        if (typeof done === 'function') taken.push(done as () => void);
      },
    });
    const answer = { status: 200, head: 'HTTP/1.1 200 OK\r\n\r\n', body: new Uint8Array(25) };
    const direct = createDirectAnswers({
      hot: { find: () => undefined },
      questions: {
        find: () => ({ operation: 'packageSearch', answer: () => Promise.reject(new Error('not asked')) }),
        answer: async () => answer,
      },
      limits: { headerCount: 100, pieceBytes: 10 },
      unread: {
        open: () => ({
          add: (count) => told.push(`unread ${count}`),
          take: (count) => told.push(`read ${count}`),
          close: note('all read'),
        }),
      },
      underWay: { add: note('under way'), remove: note('over') },
      observers: [],
      basePath: () => '',
      trustedProxies: 0,
    });
    const place = { beginRequest: note('begun'), endRequest: note('ended') };
    const connection = { socket: socket as unknown as Socket, client: '192.0.2.1', place };
    expect(direct.toConnection(connection)(Buffer.from(get(one)), note('next'))).toBe(true);
    expect(direct.isUnderWay).toBe(true);
    await vi.waitUntil(() => taken.length === 1);
    expect(told.splice(0).sort()).toEqual(['begun', 'under way', 'unread 25']);
    return { direct, socket, taken, told };
  };

  it('has an account of what its reader takes, piece by piece', async () => {
    const { direct, socket, taken, told } = await askPiecewise();
    taken[0]?.();
    taken[1]?.();
    expect(told.splice(0)).toEqual(['read 10', 'read 10']);
    taken[2]?.();
    expect(told.splice(0).sort()).toEqual(['all read', 'ended', 'next', 'over', 'read 5']);
    expect(direct.isUnderWay).toBe(false);
    socket.emit('close');
    expect(told).toEqual([]);
  });

  it.each([undefined, new Error('of a write that was cancelled')])(
    'closes its account once if the connection ends before what is written to it: %s',
    async (error) => {
      const { direct, socket, taken, told } = await askPiecewise();
      Object.assign(socket, { writable: false, destroyed: true });
      socket.emit('close');
      expect(told.splice(0).sort()).toEqual(['all read', 'ended', 'next', 'over']);
      taken[0]?.(error);
      expect(told).toEqual(['read 10']);
      expect(taken).toHaveLength(1);
      expect(direct.isUnderWay).toBe(false);
    },
  );
});

describe('questions that are answered directly and kept', () => {
  it('are given again as the app gives them, to both', async () => {
    const found = fakeSearch(ids);
    const searchPackages = vi.fn(found.searchPackages);
    const overrides = { search: { ...found, searchPackages } };
    const running = await start({ overrides, answerMemory: 2 ** 20 });
    const kept = await openKept(running);
    const bodyOf = (answer = '') => answer.slice(answer.indexOf('\r\n\r\n'));
    await kept.ask(get(one));
    // Asked for a second time, it is kept.
    const first = await kept.ask(get(one));
    const direct = countDirect();
    const again = await kept.ask(get(one));
    expect(direct.of(1)).toBe(1);
    const parsed = await (await KeptConnection.open(running.port)).ask(get(one));
    expect(again).toBe(parsed);
    expect(bodyOf(again)).toBe(bodyOf(first));
    expect(searchPackages).toHaveBeenCalledTimes(2);
    expect(running.held().answers).toMatchObject({ computed: 2 });
    // In another coding it is another answer, and nobody may keep what somebody has installed.
    await kept.ask(get(one, 'Accept-Encoding: gzip\r\n'));
    expect(searchPackages).toHaveBeenCalledTimes(3);
    for (let asked = 0; asked < 3; asked++) await kept.ask(get(`${multi}?ids=com.example.one`));
    expect(running.held().answers).toMatchObject({ computed: 2 });
    running.write('../state/generation.json', 'second');
    await expect
      .poll(async () => {
        await kept.ask(get(one));
        return searchPackages.mock.calls.length;
      })
      .toBe(4);
  });
});

describe('H12 questions that are answered directly', () => {
  it('are told to who watches, like others', async () => {
    const seen: AnsweredRequest[] = [];
    const running = await start({ onAnswered: [(answered) => void seen.push(answered)], trustedProxies: 1 });
    const headers = 'X-Forwarded-For: 192.0.2.7\r\nUser-Agent: some program\r\n';
    const lone = await KeptConnection.open(running.port);
    for (const target of [one, one, search]) await lone.ask(get(target, headers));
    await lone.ask(get(search, `${headers}Connection: close\r\n`));
    await expect.poll(() => seen.length).toBe(4);
    const told = seen.map(({ note, client, milliseconds, ...rest }) => ({
      ...rest,
      isTimed: milliseconds >= 0,
      operation: note.operation,
      client: client(),
    }));
    const [parsed, direct, refused, parsedRefusal] = told;
    expect(direct).toEqual(parsed);
    expect(direct).toMatchObject({ target: one, operation: 'packageSearch', status: 200, isWhole: true });
    const { bytes: _bytes, ...rest } = { ...parsedRefusal };
    expect(refused).toMatchObject(rest);
    expect(refused).toMatchObject({ status: 400, operation: 'packageSearch', client: '192.0.2.7' });
  });

  it('are told as what they are where they are kept too', async () => {
    const seen: AnsweredRequest[] = [];
    const running = await start({ onAnswered: [(answered) => void seen.push(answered)], answerMemory: 2 ** 20 });
    const kept = await openKept(running);
    for (let asked = 0; asked < 3; asked++) await kept.ask(get(one));
    expect(running.held().answers.computed).toBe(1);
    await expect
      .poll(() => seen.map(({ note }) => note.operation))
      .toEqual(['package', 'packageSearch', 'packageSearch', 'packageSearch']);
  });

  it('go to the app where every answer is to be named', async () => {
    const kept = await openKept(await start({ namesEveryRequest: true }));
    const direct = countDirect();
    expect(await kept.ask(get(one))).toMatch(/^HTTP\/1\.1 200 /);
    expect(direct.of(1)).toBe(0);
  });
});
