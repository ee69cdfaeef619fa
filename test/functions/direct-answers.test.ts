import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { AnsweredRequest } from '../../functions/node/answered-request.ts';
import { createDirectAnswers } from '../../functions/node/direct-answers.ts';
import { ReadyBytes } from '../../functions/node/ready-bytes.ts';
import {
  beginClosing,
  countDirect,
  plainGet as get,
  KeptConnection,
  known as one,
  openReady,
  startReadyServer as start,
  alsoKnown as two,
} from '../support/kept-connection.ts';
import { listDocument, packageRecord } from '../support/published.ts';
import { openSocket, readToEnd } from '../support/raw-http.ts';

/** Documents whose answers no reader takes at once: the system holds some megabytes for it. */
const long = Array.from({ length: 40 }, (_, index) => `com.example.long${index}`);
const pathOf = (id: string) => `/v2/jailbreak/package/${id}`;
const text = Array.from({ length: 58_000 }, (_, index) => String.fromCharCode(97 + ((index * index) % 26))).join('');

afterEach(() => void vi.restoreAllMocks());

describe('H1 direct answers', () => {
  it.each([
    ['as it is', ''],
    ['compressed', 'Accept-Encoding: gzip, deflate\r\n'],
    ['known already', 'If-None-Match: *\r\n'],
    ['with other headers', 'accept: */*\r\nUser-Agent:  some program/1.0 \r\nX-Empty:\r\nConnection: Keep-Alive\r\n'],
  ])('are those of the parser, byte for byte: %s', async (_, headers) => {
    const running = await start();
    const other = await KeptConnection.open(running.port);
    await other.ask(get(two));
    const fresh = await other.ask(get(one, headers));
    await other.ask(get(one, headers.replace(/^If-None-Match.*\r\n/, '')));
    // The first request of a connection goes to the parser.
    const parsed = await (await KeptConnection.open(running.port)).ask(get(one, headers));
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
    const kept = await KeptConnection.open(port);
    const parsed = await kept.ask(get(`/below${one}`));
    const direct = countDirect();
    expect(await kept.ask(get(`/below${one}`))).toBe(parsed);
    expect(await kept.ask(get(one))).toBe(parsed);
    expect(direct.of(2)).toBe(2);
  });

  it('are not given to what is written in a chunked body', async () => {
    const kept = await openReady(await start());
    const chunk = `text\r\n\r\n${get(one)}`;
    const post = 'POST /v2/jailbreak/download/ingest HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
    const body = `${chunk.length.toString(16)}\r\n${chunk}\r\n0\r\n\r\n`;
    // What is in the body is no JSON.
    expect(await kept.ask(post + body)).toMatch(/^HTTP\/1\.1 400 /);
    expect(await kept.ask(get(one))).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('do not end with empty lines, which come before a request of some clients', async () => {
    const kept = await openReady(await start());
    expect(await kept.ask(`\r\n\r\n${get(one)}`)).toMatch(/^HTTP\/1\.1 200 /);
    const direct = countDirect();
    expect(await kept.ask(get(one))).toMatch(/^HTTP\/1\.1 200 /);
    expect(direct.of(1)).toBe(1);
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

describe('H8 readers of direct answers', () => {
  const startLong = async (options: Parameters<typeof start>[0] = {}) => {
    const running = await start(options);
    for (const id of long) {
      running.write(`${pathOf(id).slice(1)}.json`, listDocument([{ ...packageRecord(id), description: text }]));
    }
    const kept = await openReady(running, long.map(pathOf));
    return { running, kept };
  };
  const askMuch = (kept: KeptConnection, times: number) => {
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
    const { closed, lookForIdle } = await beginClosing(running);
    for (let time = 0; time < 3; time++) lookForIdle();
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
    const kept = await KeptConnection.open(running.port);
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
    const second = await KeptConnection.open(running.port);
    await second.ask(get(one));
    const direct = countDirect();
    await first.ask(get(one));
    expect(direct.of(1)).toBe(1);
    const third = await KeptConnection.open(running.port);
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
      questions: { find: () => undefined, answer: () => Promise.reject(new Error('nothing is asked')) },
      limits: { headerCount: 100, pieceBytes: 65_536 },
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

  it('are told to be cut where their reader went before it had all', () => {
    const told: AnsweredRequest[] = [];
    let taken = () => {};
    const socket = { writable: true, destroyed: false, errored: null, writableLength: 9, remoteAddress: '192.0.2.1' };
    const write = (_: unknown, callback?: () => void) => {
      if (callback !== undefined) taken = callback;
    };
    const bytes = new ReadyBytes(200, [], Buffer.from('body'), 65_000);
    const direct = createDirectAnswers({
      hot: { find: () => ({ status: 200, operation: undefined, bytes }) },
      questions: { find: () => undefined, answer: () => Promise.reject(new Error('nothing is asked')) },
      limits: { headerCount: 100, pieceBytes: 65_536 },
      unread: { open: () => ({ add: () => {}, take: () => {}, close: () => {} }) },
      underWay: { add: () => {}, remove: () => {} },
      observers: [(answered) => void told.push(answered)],
      basePath: () => '',
      trustedProxies: 0,
    });
    const place = { beginRequest: () => {}, endRequest: () => {} };
    const connection = { socket: Object.assign(socket, { write }) as unknown as Socket, client: '192.0.2.1', place };
    const answer = direct.toConnection(connection);
    for (const isCut of [false, true]) {
      answer(Buffer.from(get(one)), () => {});
      socket.destroyed = isCut;
      taken();
    }
    expect(told.map(({ isWhole }) => isWhole)).toEqual([true, false]);
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
