import { Hono } from 'hono';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { elsewhereHeader } from '../../functions/cloudflare/catalog-stub.ts';
import { createWorker } from '../../functions/cloudflare/create-worker.ts';
import { type Environment, readSettings } from '../../functions/cloudflare/settings.ts';
import { readGatewaySettings } from '../../functions/cloudflare/with-gateway/gateway-settings.ts';
import { sweep } from '../../functions/cloudflare/with-gateway/sweeping.ts';
import { searchPageText } from '../support/published.ts';

const told: string[] = [];
beforeEach(() => {
  told.length = 0;
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.spyOn(console, 'error').mockImplementation((line: string) => void told.push(line));
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const catalog = {
  idFromName: () => expect.fail(),
  getByName: () => ({ fetch: async () => new Response('found') }),
} as unknown as Environment['CATALOG'];
const environment: Environment = { CATALOG: catalog, PUBLICATION: 'https://index.example' };
const search = () => new Request('https://index.example/v2/jailbreak/package/search?q=a');
const login = () => new Request('https://index.example/v2/login');
const operate = () => new Request('https://index.example/v2/operator', { method: 'POST', body: '{}' });
const gateway = {
  routes: new Hono().get('/login', (context) => context.text('log in')),
  operate: undefined,
};

describe('a Worker that is asked first', () => {
  it('E1: answers 503 in its own words where its configuration is wrong, says what to write, and goes on when it is mended', async () => {
    const worker = createWorker();
    for (const wrong of [
      { PUBLICATION: '' },
      { INTERVAL: 'soon' },
      { COUNT_DOWNLOADS: 'maybe' },
      { OLDER_ADDRESSES: 'no' },
      // As JSON has it.
      { COUNT_DOWNLOADS: false as never },
    ]) {
      const response = await worker.fetch(search(), { ...environment, ...wrong });
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    }
    expect(told.join('\n')).toMatch(
      /must say where[\s\S]*INTERVAL must be[\s\S]*COUNT_DOWNLOADS must be[\s\S]*OLDER_ADDRESSES must be/,
    );
    expect(await (await worker.fetch(search(), environment)).text()).toBe('found');
  });

  it('E1: answers 503 for what its bucket fails to hand over, and writes down why', async () => {
    const get = () => Promise.reject(new Error('get: We encountered an internal error. (10001)'));
    const { PUBLICATION: _, ...others } = environment;
    for (const target of ['about/', 'v2/jailbreak/package/com.example.a']) {
      const response = await createWorker().fetch(new Request(`https://index.example/${target}`), {
        ...others,
        BUCKET: { get },
      });
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    }
    expect(told).toHaveLength(2);
    for (const line of told) expect(JSON.parse(line)).toMatchObject({ message: expect.stringContaining('(10001)') });
  });

  it('E1: reads times in seconds, what is empty as not said, and a folder of the bucket with a slash or without', async () => {
    expect(readSettings({ ...environment, INTERVAL: '90', PUBLIC_KEY: '' })).toMatchObject({
      ...{ interval: 90_000, publicKey: undefined },
    });
    expect(readSettings({ ...environment, INTERVAL: '' }).interval).toBe(60_000);
    const older = [undefined, '', 'on', 'off'].map(
      (OLDER_ADDRESSES) =>
        readSettings({ ...environment, ...(OLDER_ADDRESSES !== undefined && { OLDER_ADDRESSES }) }).olderAddresses,
    );
    expect(older).toEqual([true, true, true, false]);
    const asked: string[] = [];
    const get = async (key: string) => {
      asked.push(key);
      return null;
    };
    for (const PREFIX of [undefined, '', 'a', 'a/b/']) {
      const { files } = readSettings({ CATALOG: catalog, BUCKET: { get }, ...(PREFIX !== undefined && { PREFIX }) });
      expect(await files.read('v2/index.json')).toBeUndefined();
    }
    expect(asked).toEqual(['v2/index.json', 'v2/index.json', 'a/v2/index.json', 'a/b/v2/index.json']);
  });

  it('T8: takes no gateway whose address has a path, nor a key of an operator that could be guessed', () => {
    const read = (more: object) =>
      readGatewaySettings({ ...environment, PUBLIC_ADDRESS: 'https://index.example', ...more });
    expect(read({ OPERATOR_KEY: '' })).toMatchObject({
      publicAddress: 'https://index.example',
      operatorKey: undefined,
    });
    expect(read({ OPERATOR_KEY: 'k'.repeat(32) }).operatorKey).toHaveLength(32);
    // As it stands in a file.
    expect(read({ OPERATOR_KEY: `${'k'.repeat(32)}\n` }).operatorKey).toHaveLength(32);
    expect(read({ OPERATOR_KEY: '\n' }).operatorKey).toBeUndefined();
    expect(() => read({ OPERATOR_KEY: 12_345 })).toThrow('OPERATOR_KEY must have at least 32 characters');
    expect(readSettings({ ...environment, PUBLIC_KEY: 'key\n' }).publicKey).toBe('key');
    const number = 12345 as unknown as string;
    expect(readSettings({ ...environment, PUBLIC_KEY: number }).publicKey).toBe('12345');
    const settings = { GATEWAY_SIGN_IN_RATE: 5, GATEWAY_ALLOW_HTTP: false, GATEWAY_OIDC_CLIENT_SECRET: 'secret\n' };
    expect(read({ ...settings, CREDENTIALS: {}, OLD: null }).environment).toEqual({
      PUBLICATION: 'https://index.example',
      PUBLIC_ADDRESS: 'https://index.example',
      GATEWAY_SIGN_IN_RATE: '5',
      GATEWAY_ALLOW_HTTP: 'false',
      GATEWAY_OIDC_CLIENT_SECRET: 'secret',
    });
    expect(() => read({ OPERATOR_KEY: 'k'.repeat(31) })).toThrow('OPERATOR_KEY must have at least 32 characters');
    for (const PUBLIC_ADDRESS of [
      '',
      'index.example',
      'ftp://index.example',
      'https://index.example/a',
      'https://index.example/?a',
    ]) {
      expect(() => read({ PUBLIC_ADDRESS }), PUBLIC_ADDRESS).toThrow('PUBLIC_ADDRESS must be');
    }
  });

  it('E1: asks the catalog for a part of a list, and the files for all of it', async () => {
    const worker = createWorker();
    const files = { fetch: async () => new Response('{"all":true}') };
    const { PUBLICATION: _, ...assets } = { ...environment, ASSETS: files };
    const ask = async (query: string) =>
      (
        await worker.fetch(new Request(`https://index.example/v2/jailbreak/repository/one/packages${query}`), assets)
      ).text();
    expect([await ask(''), await ask('?limit=2'), await ask('?page=2')]).toEqual(['{"all":true}', 'found', 'found']);
    // What cannot be read is not answered as if it had not been asked for.
    expect(await ask('?page=%ff')).toBe('found');
  });

  it('T8: tries a gateway that failed to open once more after ten seconds, and answers all else meanwhile', async () => {
    let tries = 0;
    const worker = createWorker(async () => {
      if (++tries < 3) throw new Error('not yet');
      return gateway;
    });
    const statuses = async () => [
      (await worker.fetch(login(), environment)).status,
      (await worker.fetch(search(), environment)).status,
    ];
    expect((await worker.fetch(operate(), environment)).status).toBe(503);
    expect(await statuses()).toEqual([503, 200]);
    vi.advanceTimersByTime(9_999);
    expect(await statuses()).toEqual([503, 200]);
    expect([tries, told.length]).toEqual([1, 1]);
    vi.advanceTimersByTime(1);
    expect(await statuses()).toEqual([503, 200]);
    vi.advanceTimersByTime(10_000);
    expect(await statuses()).toEqual([200, 200]);
    vi.advanceTimersByTime(100_000);
    expect(await statuses()).toEqual([200, 200]);
    expect(tries).toBe(3);
  });

  it('T8: tries a gateway again where the request that tried was cut off, and keeps one that is open', async () => {
    const begun: { fail: () => void; open: () => void }[] = [];
    const open = () =>
      new Promise<typeof gateway>((resolve, reject) => {
        begun.push({ fail: () => reject(new Error('not yet')), open: () => resolve(gateway) });
      });
    const worker = createWorker(open);
    const ask = () => worker.fetch(login(), environment);
    const [first, second] = [ask(), ask()];
    await vi.waitFor(() => expect(begun).toHaveLength(2));
    begun[0]?.fail();
    expect((await first).status).toBe(503);
    begun[1]?.open();
    expect(await (await second).text(), 'the one that came later opened it').toBe('log in');
    expect(await (await ask()).text()).toBe('log in');

    const other = createWorker(open);
    const [opens, fails] = [other.fetch(login(), environment), other.fetch(login(), environment)];
    await vi.waitFor(() => expect(begun).toHaveLength(4));
    begun[2]?.open();
    expect(await (await opens).text()).toBe('log in');
    begun[3]?.fail();
    expect(await (await fails).text(), 'what is open stays open').toBe('log in');

    const third = createWorker(async () => {
      const count = begun.push({ fail: () => {}, open: () => {} });
      if (count === 5) throw new Error('not yet');
      // The platform drops what the request waits for, which never ends then.
      if (count === 6) await new Promise(() => {});
      return gateway;
    });
    const status = async () => (await third.fetch(login(), environment)).status;
    expect(await status()).toBe(503);
    vi.advanceTimersByTime(10_000);
    void third.fetch(login(), environment);
    expect(await status()).toBe(503);
    vi.advanceTimersByTime(10_000);
    expect(await status()).toBe(200);
  });

  it('E1: opens for each of two that come at once, of which neither waits for what the other began', async () => {
    const begun: (() => void)[] = [];
    const worker = createWorker(async () => {
      await new Promise<void>((resolve) => begun.push(resolve));
      return gateway;
    });
    const [first, second] = [worker.fetch(login(), environment), worker.fetch(login(), environment)];
    await vi.waitFor(() => expect(begun).toHaveLength(2));
    begun[1]?.();
    expect(await (await second).text()).toBe('log in');
    begun[0]?.();
    expect(await (await first).text()).toBe('log in');
    expect(await (await worker.fetch(login(), environment)).text()).toBe('log in');
    expect(begun).toHaveLength(2);
  });
});

describe('a Worker that sweeps', () => {
  it('T12: deletes portion by portion until nothing is left, or five minutes are over', async () => {
    const portionsOf = async (most: number): Promise<number> => {
      let portions = 0;
      await sweep({
        sweep: async () => {
          vi.advanceTimersByTime(1000);
          return { deleted: 1, more: ++portions < most };
        },
      });
      return portions;
    };
    expect([await portionsOf(200), await portionsOf(1000)]).toEqual([200, 300]);
  });
});

describe('a Worker between its two objects', () => {
  /** Objects of which those that are named answer, and the others say that it is for the other. */
  const objects = (answering: ReadonlySet<string>) => {
    const asked: string[] = [];
    const getByName = (name: string) => ({
      fetch: async (request: Request) => {
        asked.push(name);
        const body = await request.text();
        if (!answering.has(name)) return new Response(null, { status: 421, headers: { [elsewhereHeader]: '1' } });
        return new Response(`${name} of ${body}`);
      },
    });
    const namespace = { idFromName: () => expect.fail(), getByName } as unknown as Environment['CATALOG'];
    return { asked, environment: { ...environment, CATALOG: namespace } };
  };
  const multi = () =>
    new Request('https://index.example/v2/jailbreak/package/multi', { method: 'POST', body: 'a body' });

  it('E2: asks the one that answered last, and the other with the whole request where that does not any more', async () => {
    const answering = new Set(['two']);
    const { asked, environment } = objects(answering);
    const worker = createWorker();
    const ask = async () => (await worker.fetch(multi(), environment)).text();
    // Which of them answered last is of the isolate, and not of this test.
    expect(await ask()).toBe('two of a body');
    asked.length = 0;
    expect([await ask(), await ask()]).toEqual(['two of a body', 'two of a body']);
    expect(asked).toEqual(['two', 'two']);
    answering.clear();
    answering.add('one');
    expect([await ask(), await ask()]).toEqual(['one of a body', 'one of a body']);
    expect(asked).toEqual(['two', 'two', 'two', 'one', 'one']);
  });

  it('E2: answers 503 where neither has anything, or the one that is asked is cut off', async () => {
    const worker = createWorker();
    const statuses = async (catalog: Environment['CATALOG']) => {
      const { status, headers } = await worker.fetch(multi(), { ...environment, CATALOG: catalog });
      return [status, headers.get('retry-after'), headers.has(elsewhereHeader)];
    };
    expect(await statuses(objects(new Set()).environment.CATALOG)).toEqual([503, '5', false]);
    expect(told).toEqual([]);
    const getByName = () => ({ fetch: () => Promise.reject(new Error('the object was moved')) });
    const cut = { idFromName: () => expect.fail(), getByName } as unknown as Environment['CATALOG'];
    expect(await statuses(cut)).toEqual([503, '5', false]);
    expect(told.join()).toContain('the object was moved');
  });

  it('E2: takes all of what they compute before a client reads any, and sends a file as it comes', async () => {
    const read = async (
      headers: Record<string, string>,
      end: (controller: ReadableStreamDefaultController) => void,
    ) => {
      let pieces = 0;
      const pull = (controller: ReadableStreamDefaultController) => {
        if (++pieces > 50) end(controller);
        else controller.enqueue(new Uint8Array(1000));
      };
      const getByName = () => ({ fetch: async () => new Response(new ReadableStream({ pull }), { headers }) });
      const namespace = { idFromName: () => expect.fail(), getByName } as unknown as Environment['CATALOG'];
      const answer = await createWorker().fetch(search(), { ...environment, CATALOG: namespace });
      return { answer, pieces };
    };
    const computed = await read({ 'content-type': 'application/json' }, (controller) => controller.close());
    expect(computed.pieces).toBe(51);
    expect(computed.answer.headers.get('content-type')).toBe('application/json');
    expect(await computed.answer.arrayBuffer()).toHaveProperty('byteLength', 50_000);
    const file = await read({ etag: '"a"' }, (controller) => controller.close());
    expect(file.pieces).toBeLessThan(5);
    expect(await file.answer.arrayBuffer()).toHaveProperty('byteLength', 50_000);
    const cut = await read({}, (controller) => controller.error(new Error('the object was moved')));
    expect([cut.answer.status, told.length]).toEqual([503, 1]);
  });

  it('E1: answers what is published by itself, and leaves to them what is computed', async () => {
    const { asked, environment } = objects(new Set(['one', 'two']));
    const page = () => new Response('<p>a page', { headers: { 'content-type': 'text/html' } });
    const ASSETS = { fetch: async () => page() };
    const worker = createWorker();
    const { PUBLICATION: _, ...others } = environment;
    const ask = (target: string) =>
      worker.fetch(new Request(`https://index.example${target}`), { ...others, ASSETS } as Environment);
    expect(await (await ask('/about/')).text()).toBe('<p>a page');
    expect(asked).toEqual([]);
    expect(await (await ask('/v2/jailbreak/package/search?q=a')).text()).toMatch(/of $/);
    expect(asked).toHaveLength(1);
  });

  it('E1: has the page of the search with what they find, and where they are away the page that says so', async () => {
    const { asked, environment } = objects(new Set(['one', 'two']));
    const built = async () => new Response(searchPageText, { headers: { 'content-type': 'text/html' } });
    const { PUBLICATION: _, ...others } = environment;
    const worker = createWorker();
    const ask = (query: string, CATALOG = others.CATALOG) =>
      worker.fetch(new Request(`https://index.example/search/${query}`), {
        ...others,
        ASSETS: { fetch: built },
        CATALOG,
      } as Environment);
    expect(await (await ask('?q=dock')).text()).toMatch(/of $/);
    expect(asked).toHaveLength(1);
    // Nothing is asked of them for a page that asks nothing.
    expect(await (await ask('')).text()).toBe(searchPageText);
    expect(asked).toHaveLength(1);
    const away = await ask('?q=dock', objects(new Set()).environment.CATALOG);
    expect([away.status, away.headers.get('content-type')]).toEqual([503, expect.stringContaining('text/html')]);
    expect(await away.text()).toMatch(/value="dock"[\s\S]*The search cannot answer at the moment/);
  });
});
