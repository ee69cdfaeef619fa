import { afterEach, describe, expect, it, vi } from 'vitest';
import { AnswerError, Client } from '../../clients/typescript/src/index.ts';

describe('a question that fails in passing', () => {
  afterEach(() => void vi.useRealTimers());

  const answering = (...answers: (Response | Error)[]) => {
    const asked: { at: number; headers: Headers }[] = [];
    const ask: typeof fetch = async (_, init) => {
      asked.push({ at: Date.now(), headers: new Headers(init?.headers) });
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer instanceof Error) throw answer;
      return (answer as Response).clone();
    };
    return { asked, ask };
  };
  const well = () => Response.json({ data: [] });
  const busy = (seconds?: string) =>
    Response.json(
      { error: 'Too many' },
      { status: 429, headers: seconds === undefined ? {} : { 'Retry-After': seconds } },
    );
  const base = 'https://index.test';

  it('is asked again no sooner than the service wants it', async () => {
    vi.useFakeTimers();
    const { asked, ask } = answering(busy('7'), new TypeError('fetch failed'), busy(), well());
    const answer = new Client({ base, fetch: ask }).repositories();
    await vi.advanceTimersByTimeAsync(6990);
    expect(asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await answer).toEqual([]);
    expect(asked).toHaveLength(4);
    expect((asked[1]?.at ?? 0) - (asked[0]?.at ?? 0)).toBeLessThan(7300);
  });

  it('waits until a date that the service names, and not as long as every other client', async () => {
    vi.useFakeTimers({ now: new Date('2026-05-01T00:00:00Z') });
    const { asked, ask } = answering(busy('Fri, 01 May 2026 00:00:09 GMT'), well());
    const answer = new Client({ base, fetch: ask }).repositories();
    await vi.advanceTimersByTimeAsync(60_000);
    await answer;
    expect((asked[1]?.at ?? 0) - (asked[0]?.at ?? 0)).toBeGreaterThanOrEqual(9000);
    const pauses = new Set<number>();
    for (let number = 0; number < 8; number++) {
      const other = answering(busy(), busy(), well());
      const found = new Client({ base, fetch: other.ask }).repositories();
      await vi.advanceTimersByTimeAsync(60_000);
      await found;
      pauses.add((other.asked[2]?.at ?? 0) - (other.asked[0]?.at ?? 0));
    }
    expect(pauses.size).toBeGreaterThan(1);
  });

  it('fails at once where the service wants too long a pause, and after so many repetitions', async () => {
    vi.useFakeTimers();
    const far = answering(busy('3600'));
    const refusal = expect(new Client({ base, fetch: far.ask }).repositories()).rejects.toThrow(
      expect.objectContaining({ status: 429, retryAfter: 3_600_000, message: 'Too many' }),
    );
    await refusal;
    expect(far.asked).toHaveLength(1);
    const never = answering(busy());
    const end = expect(new Client({ base, fetch: never.ask, retries: 2 }).repositories()).rejects.toThrow(AnswerError);
    await vi.advanceTimersByTimeAsync(60_000);
    await end;
    expect(never.asked).toHaveLength(3);
  });

  it.each([408, 429, 500, 503, 522])('is asked again after a %i, whoever answers it', async (status) => {
    const { asked, ask } = answering(new Response('<html>', { status, headers: { 'Retry-After': '0' } }), well());
    expect(await new Client({ base, fetch: ask }).repositories()).toEqual([]);
    expect(asked).toHaveLength(2);
  });

  it('is not asked again where it cannot succeed, where it is a report, or where nobody waits', async () => {
    const wrong = answering(Response.json({ error: 'No' }, { status: 400 }));
    await expect(new Client({ base, fetch: wrong.ask }).landing()).rejects.toThrow('No');
    const files = answering(Response.json({ error: 'Not here' }, { status: 501 }));
    await expect(new Client({ base, fetch: files.ask }).searchPackages('snow').next()).rejects.toThrow('Not here');
    const report = answering(busy('0'));
    await expect(new Client({ base, fetch: report.ask }).reportDownloads([])).rejects.toThrow(AnswerError);
    const left = answering(busy('20'));
    const signal = AbortSignal.timeout(30);
    await expect(new Client({ base, fetch: left.ask }).landing({ signal })).rejects.toThrow(/timeout/);
    expect([wrong, files, report, left].map(({ asked }) => asked.length)).toEqual([1, 1, 1, 1]);
  });

  it('has an end where nothing is answered, or something that is no JSON', async () => {
    const silent: typeof fetch = (_, init) =>
      new Promise((__, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
    await expect(new Client({ base, fetch: silent, timeout: 20, retries: 0 }).landing()).rejects.toThrow(/timeout/);
    const page = answering(new Response('<html>', { status: 200 }));
    await expect(new Client({ base, fetch: page.ask }).landing()).rejects.toThrow('does not answer JSON');
    const proxy = answering(new Response('<html>', { status: 404 }));
    await expect(new Client({ base, fetch: proxy.ask }).landing()).rejects.toThrow('The service answers 404');
  });

  it('ends with its time and with its signal also in a browser that cannot join signals, or make one of a time', async () => {
    const known = { any: AbortSignal.any, timeout: AbortSignal.timeout };
    Object.assign(AbortSignal, { any: undefined, timeout: undefined });
    vi.stubGlobal('DOMException', undefined);
    try {
      const silent: typeof fetch = (_, init) =>
        new Promise((__, reject) => {
          if (init?.signal?.aborted) reject(init.signal.reason);
          init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
        });
      const ask = (options: { timeout?: number }, signal?: AbortSignal) =>
        new Client({ base, fetch: silent, retries: 0, ...options }).landing(signal ? { signal } : {});
      const ending = new AbortController();
      await expect(ask({ timeout: 20 }, ending.signal)).rejects.toMatchObject({ name: 'TimeoutError' });
      const asked = ask({}, ending.signal);
      ending.abort(new Error('enough'));
      await expect(asked).rejects.toThrow('enough');
      await expect(ask({}, ending.signal)).rejects.toThrow('enough');
      const { ask: answer } = answering(well());
      expect(await new Client({ base, fetch: answer, timeout: Number.POSITIVE_INFINITY }).repositories()).toEqual([]);
    } finally {
      Object.assign(AbortSignal, known);
      vi.unstubAllGlobals();
    }
  });

  it('is not asked at once, time and again, where a pause is longer than a timer of the platform can wait', async () => {
    vi.useFakeTimers();
    const { asked, ask } = answering(Response.json({ number: 1, date: '2026-05-01T00:00:00.000Z' }));
    const ending = new AbortController();
    const { signal } = ending;
    const following = new Client({ base, fetch: ask }).follow({ since: 1, interval: 2 ** 40, signal }).next();
    const end = expect(following).rejects.toThrow('enough');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(asked).toHaveLength(1);
    ending.abort(new Error('enough'));
    await end;
  });

  it('is asked with the tag of what is kept, and is answered with that', async () => {
    const first = Response.json({ data: ['kept'] }, { headers: { ETag: '"1"' } });
    const { asked, ask } = answering(first, new Response(null, { status: 304 }));
    const client = new Client({ base, fetch: ask, cache: new Map() });
    expect([await client.repositories(), await client.repositories()]).toEqual([['kept'], ['kept']]);
    expect(asked.map(({ headers }) => headers.get('If-None-Match'))).toEqual([null, '"1"']);
  });
});
