import { rmSync } from 'node:fs';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createDocuments } from '../../functions/node/document-files.ts';
import { createHotAnswers } from '../../functions/node/hot-answers.ts';
import { listDocument, packageRecord, publish } from '../support/published.ts';
import { exchange } from '../support/raw-http.ts';
import { fakeSearch, startTestServer, type TestServer } from '../support/test-server.ts';

// Answers that are ready take another way through the server than the first time. Both must answer alike.

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const ask = async (line: string, headers: string): Promise<string> => {
  const answer = await exchange(server.port, `${line} HTTP/1.1\r\nHost: a\r\n${headers}Connection: close\r\n\r\n`);
  const end = answer.indexOf('\r\n\r\n');
  const [status, ...fields] = answer.slice(0, end).split('\r\n');
  const sorted = fields
    .filter((field) => !/^(?:date|x-request-id):/i.test(field))
    .map((field) => field.replace(/^[^:]+/, (name) => name.toLowerCase()));
  const body = answer.slice(end + 4).replace(/"date":"[^"]+"/, '');
  return [status, ...sorted.sort(), body].join('\n');
};

// One of each kind of answer is asked for with every header; what is told by an address alone, with those that choose.
const kinds = [
  '/v2/jailbreak/package/com.example.one',
  '/jailbreak/package/com.example.one',
  '/v2/jailbreak/package/none',
  '/',
];
const others = [
  '/v2/jailbreak/package/com.example.one.json',
  '/v2/jailbreak/package/com.example.one?x=1',
  '/v2/jailbreak/repository/sample/packages',
  '/v2',
  '/v2/',
  '/privacy/',
  '/assets/page.B4x9.css',
  '/v2/jailbreak/package/%ff',
];

// What makes nothing ready is asked for first, so that its first answer is the app's: conditions, and all but GET.
const choosing = ['If-None-Match: *\r\n', '', 'Accept-Encoding: gzip\r\n'];
const every = [
  ...choosing,
  'Accept-Encoding: gzip, br, zstd\r\n',
  'Accept-Encoding: br;q=0.1, gzip\r\n',
  'Accept-Encoding: gzip;q=0, *;q=0\r\n',
  'Accept-Encoding: br\r\nAccept-Encoding: gzip;q=0.5\r\n',
  'If-None-Match: "other"\r\n',
  'Accept: text/html\r\n',
  'Range: bytes=0-1\r\n',
];

describe('ready answers', () => {
  it.each([
    ['of each kind, with every header', kinds, every],
    ['at any other address', others, choosing],
  ])('are those of the app, for every request: %s', async (_, targets, headers) => {
    for (const target of targets) {
      for (const header of headers) {
        const methods = header === '' ? ['POST', 'OPTIONS', 'HEAD', 'GET'] : ['HEAD', 'GET'];
        const fresh = new Map<string, string>();
        for (const method of methods) fresh.set(method, await ask(`${method} ${target}`, header));
        for (const [method, answer] of fresh) {
          expect(await ask(`${method} ${target}`, header), `${method} ${target} with ${header}`).toBe(answer);
        }
      }
    }
  });

  it('answer 304 to whoever has the variant it would get', async () => {
    const target = 'GET /v2/jailbreak/package/com.example.one';
    for (const encoding of ['identity', 'gzip', 'zstd']) {
      const accept = `Accept-Encoding: ${encoding}\r\n`;
      const etag = /^etag: (.*)$/m.exec(await ask(target, accept))?.[1];
      const known = await ask(target, `${accept}If-None-Match: "x", W/${etag}\r\n`);
      // With what says of whom it may be kept (RFC 9110, section 15.4.5).
      expect(known).toMatch(/^HTTP\/1\.1 304 .*\netag: .*\nvary: accept-encoding\n/is);
      expect(await ask(target, `Accept-Encoding: br\r\nIf-None-Match: ${etag}\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
    }
  });

  it('are not of an address that was hidden in the name of the host', async () => {
    // URL reads numbers and names outside ASCII as longer ones, so a path behind them may fill what they lack.
    const hidden = [
      { target: '/v2/jailbreak/package/com.example.two', host: '1/v2/?x' },
      {
        target: '/jailbreak/package/com.example.two',
        host: `${'\xfc.'.repeat(7)}\xfc/v2/jailbreak/package/com.example.one?abcdefghij`,
      },
    ];
    for (const { target, host } of hidden) {
      await exchange(server.port, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      expect(await ask(`GET ${target}`, ''), host).toContain('"package_id":"com.example.two"');
    }
  });

  it('follow a build, without a request that fails', async () => {
    const target = `${server.address}/v2/jailbreak/package/com.example.two`;
    let rebuilt = false;
    const seen: string[] = [];
    const askOnce = async () => {
      const answer = await fetch(target);
      expect(answer.status).toBe(200);
      seen.push(((await answer.json()) as { data: { version: string }[] }).data[0]?.version ?? '');
    };
    await askOnce();
    const asking = (async () => {
      while (!rebuilt) await askOnce();
    })();
    for (const version of ['2.0', '3.0', '4.0']) {
      server.write(
        'v2/jailbreak/package/com.example.two.json',
        listDocument([packageRecord('com.example.two', 'sample', version)]),
      );
      server.write('../state/generation.json', version);
      await expect.poll(() => seen.at(-1)).toBe(version);
    }
    rebuilt = true;
    await asking;
    expect([...new Set(seen)]).toEqual(['1.0', '2.0', '3.0', '4.0']);
  });

  it('are followed by a file that is gone, and by one that is new', async () => {
    const file = 'v2/jailbreak/package/com.example.new.json';
    const target = `${server.address}/v2/jailbreak/package/com.example.new`;
    expect((await fetch(target)).status).toBe(404);
    server.write(file, listDocument([packageRecord('com.example.new')]));
    expect((await fetch(target)).status).toBe(200);
    expect((await fetch(target)).status).toBe(200);
    rmSync(path.join(server.folder, file));
    server.write('../state/generation.json', 'gone');
    await expect.poll(async () => (await fetch(target)).status).toBe(404);
  });
});

const search = '/v2/jailbreak/package/search?q=com';

describe('kept answers', () => {
  let keeping: TestServer;
  let asked: string[] = [];

  /** A server that keeps searches, and writes down which of them it computes. */
  const start = async (answerMemory: number, limit = Number.POSITIVE_INFINITY) => {
    asked = [];
    let taken = 0;
    const ids = ['com.example.one', 'com.example.two'];
    const index = fakeSearch(ids);
    const published = publish(ids);
    // Without a stamp nothing is kept for longer than a second.
    published.write('../state/generation.json', 'first');
    keeping = await startTestServer({
      answerMemory,
      published,
      overrides: {
        limiter: { take: () => (taken++ < limit ? 0 : 7) },
        search: {
          ...index,
          searchPackages: (q, most, page) => {
            asked.push(`${q} ${most} ${page}`);
            return index.searchPackages(q, most, page);
          },
        },
      },
    });
    return async (target = search, init: RequestInit = {}) => {
      const answer = await fetch(keeping.address + target, init);
      const own = [...answer.headers].filter(
        ([name]) => !['date', 'connection', 'keep-alive', 'x-request-id'].includes(name),
      );
      return { status: answer.status, headers: Object.fromEntries(own), text: await answer.text() };
    };
  };

  afterEach(async () => {
    vi.restoreAllMocks();
    await keeping.close();
  });

  it('are those that were computed, each for its own question and coding', async () => {
    const ask = await start(2 ** 20);
    const askTwice = async (...question: Parameters<typeof ask>) => {
      await ask(...question);
      return ask(...question);
    };
    const kept = await askTwice();
    expect(kept.status).toBe(200);
    expect(await ask()).toEqual(kept);
    expect(await askTwice(`${search}&limit=1`)).not.toEqual(kept);
    expect(await askTwice(`${search}&page=2`)).not.toEqual(kept);
    expect(asked).toEqual(['com 100 1', 'com 100 1', 'com 1 1', 'com 1 1', 'com 100 2', 'com 100 2']);
    const plain = await askTwice(search, { headers: { 'accept-encoding': 'identity' } });
    const packed = await askTwice(search, { headers: { 'accept-encoding': 'gzip' } });
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(plain.headers).not.toHaveProperty('content-encoding');
    const withoutDate = (text: string) => text.replace(/"date":"[^"]+"/, '');
    expect(withoutDate(packed.text)).toBe(withoutDate(plain.text));
    const head = await ask(search, { method: 'HEAD', headers: { 'accept-encoding': 'identity' } });
    expect(head).toEqual({ ...plain, text: '' });
  });

  it('are those to questions that are asked again', async () => {
    const ask = await start(2 ** 20);
    await ask();
    expect(keeping.held().bytes.computed).toBe(0);
    await ask();
    expect(keeping.held().bytes.computed).toBeGreaterThan(0);
    await ask();
    expect(asked).toHaveLength(2);
  });

  it('end with a build', async () => {
    const ask = await start(2 ** 20);
    for (let time = 0; time < 3; time++) await ask();
    expect(asked).toHaveLength(2);
    keeping.write('../state/generation.json', 'next');
    const askAgain = async () => {
      await ask();
      return asked.length;
    };
    await expect.poll(askAgain).toBe(3);
    await ask();
    expect(asked, 'that of the new build is kept').toHaveLength(3);
  });

  it('end after the time that caches are told', async () => {
    const ask = await start(2 ** 20);
    let now = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    await ask();
    await ask();
    now += 29_000;
    await ask();
    expect(asked).toHaveLength(2);
    now += 2000;
    await ask();
    expect(asked).toHaveLength(3);
  });

  it('count for the limit of their client', async () => {
    const ask = await start(2 ** 20, 3);
    for (let time = 0; time < 3; time++) expect((await ask()).status).toBe(200);
    const refused = await ask();
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('7');
    expect(asked, 'the third was kept').toHaveLength(2);
  });

  it('are none where there is no memory for them, and none of a failure', async () => {
    const ask = await start(0);
    for (let time = 0; time < 3; time++) await ask();
    expect(asked).toHaveLength(3);
    await keeping.close();
    const askAgain = await start(2 ** 20);
    for (const target of ['/v2/jailbreak/package/search', `${search}&limit=0`, '/v2/jailbreak/package/multi?ids=a']) {
      const first = await askAgain(target);
      for (let time = 0; time < 2; time++) expect((await askAgain(target)).status).toBe(first.status);
    }
    expect(asked).toEqual([]);
    expect(keeping.held().bytes.computed).toBe(0);
  });
});

describe('an answer that was read before a build and is ready after it', () => {
  const id = 'com.example.one';

  /** A server that holds its first two answers back until the next build is noticed, whatever was read for them. */
  const startHeldBack = async () => {
    const published = publish([id]);
    published.write('../state/generation.json', 'first');
    const noticed = Promise.withResolvers<void>();
    const read = Promise.withResolvers<void>();
    let times = 0;
    const holdBack = async <T>(answer: T): Promise<T> => {
      if (++times === 2) read.resolve();
      await noticed.promise;
      return answer;
    };
    const documents = createDocuments({ folder: published.folder, memory: 2 ** 20 });
    const index = fakeSearch([id]);
    let searched = 0;
    const held = await startTestServer({
      published,
      answerMemory: 2 ** 20,
      onChange: noticed.resolve,
      overrides: {
        documents: { ...documents, read: async (...asked) => holdBack(await documents.read(...asked)) },
        search: {
          ...index,
          // The number of the search stands for the generation that answered it.
          searchPackages: async () =>
            holdBack({
              records: { count: 1, pieces: [JSON.stringify({ version: `${++searched}.0` })] },
              more: false,
              last: 1,
            }),
        },
      },
    });
    onTestFinished(() => held.close());
    const versionOf = async (target: string) => {
      const answer = await fetch(held.address + target);
      expect(answer.status).toBe(200);
      return ((await answer.json()) as { data: { version: string }[] }).data[0]?.version;
    };
    const build = async () => {
      await read.promise;
      held.write(`v2/jailbreak/package/${id}.json`, listDocument([packageRecord(id, 'sample', '2.0')]));
      held.write('../state/generation.json', 'second');
    };
    return { versionOf, build };
  };

  it.each([
    ['a document', `/v2/jailbreak/package/${id}`, ['1.0', '1.0'], ['2.0', '2.0', '2.0']],
    ['a search', search, ['1.0', '2.0'], ['3.0', '4.0', '4.0']],
  ])('is given to those who asked then, and not kept (%s)', async (_, target, before, after) => {
    const { versionOf, build } = await startHeldBack();
    // Only what is asked for twice may be kept.
    const asked = [versionOf(target), versionOf(target)];
    await build();
    expect((await Promise.all(asked)).sort()).toEqual(before);
    // That of the new build is.
    expect([await versionOf(target), await versionOf(target), await versionOf(target)]).toEqual(after);
  });
});

it('H8 what is kept holds nothing of the request but its address', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const hot = createHotAnswers({ documents: 0, computed: 2 ** 24, pieceBytes: 65_536, keepAliveTimeout: 65_000 });
  const body = new Uint8Array(10);
  const times = 1000;
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let asked = 0; asked < times; asked++) {
    // As a request is read: a part of the text of its head.
    const head = Buffer.from(`GET /v2/search?q=${asked} HTTP/1.1\r\nX: ${'x'.repeat(30_000)}`).toString('latin1');
    for (let time = 0; time < 2; time++) {
      const observed: Parameters<typeof hot.observe>[1] = { note: undefined, onWhole: undefined };
      hot.observe({ method: 'GET', url: head.slice(4, head.indexOf(' HTTP')), headers: {} }, observed);
      observed.onWhole?.({
        status: 200,
        headers: { 'Cache-Control': 'public, max-age=600', 'Content-Length': '10' },
        body,
      });
    }
  }
  collect();
  expect(hot.findComputed('/v2/search?q=7', {}, () => true)).toBeDefined();
  // The heads would be thirty megabytes.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(10 * 2 ** 20);
});

it('H8 what is kept of the codings that are asked for is little, however many there are', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const hot = createHotAnswers({ documents: 0, computed: 0, pieceBytes: 65_536, keepAliveTimeout: 65_000 });
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let asked = 0; asked < 2000; asked++) {
    const header = Buffer.from(`gzip;x=${asked}${'x'.repeat(30_000)}`).toString('latin1');
    hot.observe(
      { method: 'GET', url: '/v2/a', headers: { 'accept-encoding': header } },
      { note: undefined, onWhole: undefined },
    );
  }
  collect();
  // All of them would be sixty megabytes.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(20 * 2 ** 20);
  expect(hot.answered.app).toBe(2000);
});

it('H8 what is kept no longer holds memory when the next is kept', () => {
  const hot = createHotAnswers({ documents: 0, computed: 2 ** 20, pieceBytes: 65_536, keepAliveTimeout: 65_000 });
  const clock = vi.spyOn(performance, 'now');
  onTestFinished(() => void vi.restoreAllMocks());
  const keep = (url: string): number => {
    for (let time = 0; time < 2; time++) {
      const observed: Parameters<typeof hot.observe>[1] = { note: undefined, onWhole: undefined };
      hot.observe({ method: 'GET', url, headers: {} }, observed);
      const headers = { 'Cache-Control': 'public, max-age=60', 'Content-Length': '10' };
      observed.onWhole?.({ status: 200, headers, body: new Uint8Array(10) });
    }
    return hot.weights().computed;
  };
  clock.mockReturnValue(1000);
  const one = keep('/v2/search?q=1');
  expect(keep('/v2/search?q=2')).toBe(2 * one);
  clock.mockReturnValue(61_001);
  expect(keep('/v2/search?q=3')).toBe(one);
});

/** Whether an answer with these headers, besides those of what may be kept, is kept when it is given for the second time. */
const isKept = (url: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): boolean => {
  const memory = { documents: 2 ** 20, computed: 2 ** 20 };
  const hot = createHotAnswers({ ...memory, pieceBytes: 65_536, keepAliveTimeout: 65_000 });
  const written = { 'Cache-Control': 'public, max-age=600', 'Content-Length': '10', ...headers };
  for (let time = 0; time < 2; time++) {
    const observed: Parameters<typeof hot.observe>[1] = { note: undefined, onWhole: undefined };
    hot.observe({ method, url, headers: {} }, observed);
    observed.onWhole?.({ status: 200, headers: written, body: new Uint8Array(10) });
  }
  return (hot.find(url, {}) ?? hot.findComputed(url, {}, () => true)) !== undefined;
};

it('H8 no answer is kept at an address longer than any, with a cookie, to another method than GET, or of a file that was asked for with parameters', () => {
  expect([isKept('/v2/a?q=1'), isKept('/v2/b', { ETag: '"b"' })]).toEqual([true, true]);
  expect(isKept(`/v2/a?q=${'x'.repeat(1024)}`)).toBe(false);
  expect(isKept('/v2/c?q=1', { 'Set-Cookie': 'a=b' })).toBe(false);
  expect(isKept('/v2/b?x=1', { ETag: '"b"' })).toBe(false);
  for (const method of ['HEAD', 'POST']) expect(isKept('/v2/a?q=1', {}, method), method).toBe(false);
});

it('H8 no answer is kept that depends on more than the coding, or is not for everybody', () => {
  expect(isKept('/v2/a?q=1', { Vary: 'Accept-Encoding' })).toBe(true);
  expect(isKept('/v2/c?q=1', { Vary: 'Accept-Encoding, Accept' })).toBe(false);
  expect(isKept('/v2/d?q=1', { Vary: '*' })).toBe(false);
  expect(isKept('/v2/e?q=1', { 'Cache-Control': 'private, max-age=600' })).toBe(false);
});
