import { Readable } from 'node:stream';
import timers from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { NetworkError } from '../../src/net/network-error.ts';
import type { Sender } from '../../src/net/sender.ts';
import type { LocalFile } from '../../src/uploading/local-publication.ts';
import { S3Client } from '../../src/uploading/s3-client.ts';
import { replaceFunctions } from '../support/replaced-functions.ts';

interface Wait {
  readonly milliseconds: number;
  readonly end: () => void;
}

const waits: Wait[] = [];
const watcher = { tell: () => {} };

const wait = (milliseconds: number, _?: unknown, options?: { readonly signal?: AbortSignal }) =>
  new Promise<void>((end, fail) => {
    options?.signal?.addEventListener('abort', () => fail(options.signal?.reason));
    waits.push({ milliseconds, end });
    watcher.tell();
  });
replaceFunctions(timers, { setTimeout: wait as typeof timers.setTimeout });

/** Resolves when so many wait. */
const waiting = (count: number): Promise<void> =>
  new Promise((resolve) => {
    watcher.tell = () => {
      if (waits.length === count) resolve();
    };
    watcher.tell();
  });

const bucket = {
  name: 'index',
  endpoint: new URL('http://127.0.0.1:9'),
  region: 'us-east-1',
  credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
};
const answer = (status: number, headers = {}) => ({ status, headers, body: Buffer.alloc(0) });

describe('a store that is asked too much', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: new Date('2026-05-02T00:00:00Z') });
    waits.length = 0;
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('P1: is asked nothing by any request until the time that it named is over', async () => {
    const send = vi.fn<Sender['send']>().mockResolvedValue(answer(200));
    send.mockResolvedValueOnce(answer(503, { 'retry-after': '7' }));
    const client = new S3Client(bucket, { send, close: async () => {} });
    const refused = client.request({ method: 'GET', key: 'a' });
    await Promise.race([waiting(1), refused]);
    const other = client.request({ method: 'GET', key: 'b' });
    await Promise.race([waiting(2), other]);
    expect(waits.map(({ milliseconds }) => milliseconds)).toEqual([7000, 7000]);
    expect(send).toHaveBeenCalledTimes(1);

    // A timer that is early does not count.
    vi.advanceTimersByTime(6990);
    // Nor does a clock that is set back a day.
    vi.setSystemTime(Date.now() - 86_400_000);
    for (const { end } of waits.splice(0)) end();
    await Promise.race([waiting(2), refused, other]);
    expect(waits.map(({ milliseconds }) => milliseconds)).toEqual([10, 10]);
    expect(send).toHaveBeenCalledTimes(1);

    vi.advanceTimersByTime(10);
    for (const { end } of waits.splice(0)) end();
    expect((await Promise.all([refused, other])).map(({ status }) => status)).toEqual([200, 200]);
    expect(send).toHaveBeenCalledTimes(3);
  });
});

it('P1: of a store that refuses several requests, none is made before the longest time that it named is over', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: new Date('2026-05-02T00:00:00Z') });
  onTestFinished(() => void vi.useRealTimers());
  waits.length = 0;
  const send = vi.fn<Sender['send']>().mockResolvedValue(answer(200));
  for (const seconds of ['7', '1']) send.mockResolvedValueOnce(answer(503, { 'retry-after': seconds }));
  const client = new S3Client(bucket, { send, close: async () => {} });
  const both = ['a', 'b'].map((key) => client.request({ method: 'GET', key }));
  await Promise.race([waiting(2), ...both]);
  expect(waits.map(({ milliseconds }) => milliseconds)).toEqual([7000, 7000]);
  vi.advanceTimersByTime(7000);
  for (const { end } of waits.splice(0)) end();
  expect((await Promise.all(both)).map(({ status }) => status)).toEqual([200, 200]);
});

it('P1: a client that is closed asks for nothing again, and what waits to does so no more', async () => {
  waits.length = 0;
  const cut = Promise.withResolvers<never>();
  const send = vi.fn<Sender['send']>().mockResolvedValueOnce(answer(503, { 'retry-after': '7' }));
  send.mockReturnValueOnce(cut.promise);
  // As the connections of a sender end when it is closed.
  const close = async () => cut.reject(new NetworkError('connection', 'of the test'));
  const client = new S3Client(bucket, { send, close });
  const requests = [client.request({ method: 'GET', key: 'a' }), client.request({ method: 'GET', key: 'b' })];
  await waiting(1);
  await client.close();
  await Promise.race([waiting(2), Promise.allSettled(requests)]);
  expect(waits).toHaveLength(1);
  const outcomes = await Promise.allSettled(requests);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(send).toHaveBeenCalledTimes(2);
});

it('P1: names the object of a request whose connection is cut each time', async () => {
  const send = vi.fn<Sender['send']>().mockRejectedValue(new NetworkError('truncated', 'other side closed'));
  const patience = { tries: 1, firstTries: 1, pauseMs: 1, longestPauseMs: 1 };
  const client = new S3Client(bucket, { send, close: async () => {} }, { patience });
  await expect(client.request({ method: 'GET', key: 'v2/a.json' })).rejects.toThrow(
    `could not be reached for GET of ${bucket.name}/v2/a.json, 1 times (truncated: other side closed)`,
  );
});

it('P1: says why it asks again, before it waits to do so', async () => {
  const send = vi.fn<Sender['send']>();
  send.mockRejectedValueOnce(new NetworkError('truncated', 'other side closed', { transient: true }));
  send.mockResolvedValueOnce(answer(503)).mockResolvedValue(answer(200));
  const told: string[] = [];
  let toldAtFirst: readonly string[] | undefined;
  waits.length = 0;
  watcher.tell = () => {
    toldAtFirst ??= [...told];
    for (const { end } of waits.splice(0)) end();
  };
  const patience = { tries: 3, firstTries: 3, pauseMs: 1, longestPauseMs: 1 };
  const onRetry = (reason: string) => told.push(reason);
  const client = new S3Client(bucket, { send, close: async () => {} }, { patience, onRetry });
  expect((await client.request({ method: 'PUT', key: 'a', body: Buffer.from('a') })).status).toBe(200);
  expect(told).toEqual([
    `http://127.0.0.1:9 could not be reached for PUT of ${bucket.name}/a (truncated: other side closed). It is asked again.`,
    `127.0.0.1:9 refused PUT of ${bucket.name}/a (503). It is asked again.`,
  ]);
  expect(toldAtFirst).toEqual(told.slice(0, 1));
});

it('P1: asks a store more often that has answered before than one that perhaps is none, and says which it is', async () => {
  const cut = new NetworkError('truncated', 'other side closed', { transient: true });
  const patience = { tries: 4, firstTries: 2, pauseMs: 1, longestPauseMs: 1 };
  watcher.tell = () => {
    for (const { end } of waits.splice(0)) end();
  };
  for (const [answers, words] of [
    [0, '2 times (truncated: other side closed). Mind --endpoint'],
    [1, '4 times (truncated: other side closed). What was in force there still is'],
  ] as const) {
    const send = vi.fn<Sender['send']>().mockRejectedValue(cut);
    const client = new S3Client(bucket, { send, close: async () => {} }, { patience });
    for (let nth = 0; nth < answers; nth++) {
      send.mockResolvedValueOnce(answer(200));
      await client.request({ method: 'GET', key: 'a' });
    }
    await expect(client.request({ method: 'GET', key: 'a' })).rejects.toThrow(words);
  }
});

it('P1: pauses ever longer, and never longer than its patience allows, whatever the store asks for', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: new Date('2026-05-02T00:00:00Z') });
  onTestFinished(() => void vi.useRealTimers());
  waits.length = 0;
  const pauses: number[] = [];
  watcher.tell = () => {
    for (const { milliseconds, end } of waits.splice(0)) {
      pauses.push(milliseconds);
      // The clock knows no fractions of a millisecond, and what is left of a pause would be waited for without an end.
      vi.advanceTimersByTime(Math.ceil(milliseconds));
      end();
    }
  };
  const patience = { tries: 6, firstTries: 6, pauseMs: 100, longestPauseMs: 300 };
  const send = vi.fn<Sender['send']>().mockRejectedValue(new NetworkError('dns', 'of the test', { transient: true }));
  const client = new S3Client(bucket, { send, close: async () => {} }, { patience });
  await expect(client.request({ method: 'GET', key: 'a' })).rejects.toThrow('6 times');
  expect(pauses[0]).toBeLessThanOrEqual(100);
  // Without a limit the fourth would be of four hundred at least.
  expect(pauses.slice(3)).toEqual([300, 300]);
  pauses.length = 0;
  send.mockResolvedValueOnce(answer(503, { 'retry-after': '3600' })).mockResolvedValueOnce(answer(200));
  await client.request({ method: 'GET', key: 'a' });
  expect(pauses).toEqual([300]);
});

it('P1: asks again while another write of the same object is in progress, and takes what then refuses it', async () => {
  const conflict = Buffer.from('<Error><Code>ConditionalRequestConflict</Code></Error>');
  const send = vi.fn<Sender['send']>().mockResolvedValue({ status: 409, headers: {}, body: conflict });
  send.mockResolvedValueOnce({ status: 409, headers: {}, body: conflict }).mockResolvedValueOnce(answer(412));
  watcher.tell = () => {
    for (const { end } of waits.splice(0)) end();
  };
  const patience = { tries: 3, firstTries: 3, pauseMs: 1, longestPauseMs: 1 };
  const client = new S3Client(bucket, { send, close: async () => {} }, { patience });
  const put = () => client.request({ method: 'PUT', key: 'a', body: Buffer.from('a') }, [409, 412]);
  expect((await put()).status).toBe(412);
  expect(send).toHaveBeenCalledTimes(2);
  expect((await put()).status).toBe(409);
  expect(send).toHaveBeenCalledTimes(5);
});

it('P1: asks again after what passes, by status or by code, and after nothing else', async () => {
  watcher.tell = () => {
    for (const { end } of waits.splice(0)) end();
  };
  const patience = { tries: 2, firstTries: 2, pauseMs: 1, longestPauseMs: 1 };
  const countTries = async (status: number, code = '') => {
    const body = Buffer.from(code === '' ? '' : `<Error><Code>${code}</Code></Error>`);
    const send = vi.fn<Sender['send']>().mockResolvedValue({ status, headers: {}, body });
    const client = new S3Client(bucket, { send, close: async () => {} }, { patience });
    await expect(client.request({ method: 'GET', key: 'a' })).rejects.toThrow(String(status));
    return send.mock.calls.length;
  };
  for (const status of [408, 429, 500, 502, 503, 504]) expect(await countTries(status), `${status}`).toBe(2);
  for (const status of [301, 400, 401, 403, 404, 411, 501, 505, 507])
    expect(await countTries(status), `${status}`).toBe(1);
  for (const code of ['SlowDown', 'InternalError', 'RequestTimeout', 'OperationAborted', 'ServiceUnavailable'])
    expect(await countTries(400, code), code).toBe(2);
  for (const code of ['ExpiredToken', 'NotSlowDown', 'RequestTimeTooSkewed'])
    expect(await countTries(400, code), code).toBe(1);
});

it('P1: takes an error that comes with status 200 for an error, and a file that looks like one for a file', async () => {
  const text = '<?xml version="1.0"?>\n<Error><Code>AccessDenied</Code><Message>not now</Message></Error>';
  const send = vi.fn<Sender['send']>().mockResolvedValue({ status: 200, headers: {}, body: Buffer.from(text) });
  const client = new S3Client(bucket, { send, close: async () => {} });
  await expect(client.request({ method: 'PUT', key: 'a', body: Buffer.from('a') })).rejects.toThrow(
    /200 AccessDenied not now/,
  );
  expect((await client.request({ method: 'GET', key: 'a' })).body.toString()).toBe(text);
  // A list with an error in place of keys would be that of an empty bucket.
  await expect(client.request({ method: 'GET', query: { 'max-keys': '1' } })).rejects.toThrow(
    /200 AccessDenied not now/,
  );
});

describe('a file that is sent', () => {
  it('P1: is read from its beginning each time, and no longer than it is sent', async () => {
    const opened: Readable[] = [];
    const open = () => {
      const stream = Readable.from(['a', 'b']);
      opened.push(stream);
      return stream;
    };
    const close = { [Symbol.asyncDispose]: async () => {} };
    const body: LocalFile = { sha256: '0'.repeat(64), size: 2, bytes: undefined, open, ...close };
    const send = vi.fn<Sender['send']>();
    const client = new S3Client(bucket, { send, close: async () => {} });
    const put = () => client.request({ method: 'PUT', key: 'a', body });
    // What ends before its body does: an answer that came early, and nothing at all.
    send.mockResolvedValueOnce(answer(200));
    await put();
    send.mockRejectedValueOnce(new NetworkError('timeout', 'of the test', { transient: false }));
    await expect(put()).rejects.toThrow('of the test');
    expect(send.mock.calls.map(([{ body: sent }]) => sent)).toEqual(opened);
    expect(opened.map(({ destroyed }) => destroyed)).toEqual([true, true]);
  });
});

it('P1: a request has a minute, and besides as long as its bytes take on a slow line', async () => {
  const send = vi.fn<Sender['send']>().mockResolvedValue(answer(200));
  const client = new S3Client(bucket, { send, close: async () => {} });
  for (const size of [0, 16 * 2 ** 20]) await client.request({ method: 'PUT', key: 'a', body: Buffer.alloc(size) });
  expect(send.mock.calls.map(([{ timeoutMs }]) => timeoutMs)).toEqual([60_000, 60_000 + 1_024_000]);
});

it('asks below the path of an endpoint, by names that no store reads otherwise, and with the token of temporary credentials', async () => {
  const send = vi.fn<Sender['send']>().mockResolvedValue(answer(200));
  const credentials = { ...bucket.credentials, sessionToken: 'token' };
  for (const endpoint of ['http://127.0.0.1:9/storage', 'http://127.0.0.1:9/storage/'].map((text) => new URL(text))) {
    const client = new S3Client({ ...bucket, endpoint, credentials }, { send, close: async () => {} });
    await client.request({ method: 'GET', key: "it's/(a)*+!", query: { 'a b': '*' } });
  }
  for (const [{ path, headers }] of send.mock.calls) {
    expect(path).toBe('/storage/index/it%27s/%28a%29%2A%2B%21?a%20b=%2A');
    expect(headers).toMatchObject({ 'x-amz-security-token': 'token' });
  }
  expect(send).toHaveBeenCalledTimes(2);
});
