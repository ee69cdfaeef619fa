import { Hono } from 'hono';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createWorker } from '../../functions/cloudflare/create-worker.ts';
import type { Environment } from '../../functions/cloudflare/settings.ts';

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
const gateway = {
  routes: new Hono().get('/login', (context) => context.text('log in')),
  operate: undefined,
  operatorPath: '',
};

describe('a Worker that is asked first', () => {
  it('E1: answers 503 in its own words where its configuration is wrong, says what to write, and goes on when it is mended', async () => {
    const worker = createWorker();
    for (const wrong of [{ PUBLICATION: '' }, { INTERVAL: 'soon' }, { COUNT_DOWNLOADS: 'maybe' }]) {
      const response = await worker.fetch(search(), { ...environment, ...wrong });
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    }
    expect(told.join('\n')).toMatch(/must say where[\s\S]*INTERVAL must be[\s\S]*COUNT_DOWNLOADS must be/);
    expect(await (await worker.fetch(search(), environment)).text()).toBe('found');
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
