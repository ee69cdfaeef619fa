import { afterEach, describe, expect, it } from 'vitest';
import { clientAddress } from '../../functions/http/client-address.ts';
import { createRateLimiter } from '../../functions/http/rate-limiter.ts';
import { type Operation, operations } from '../../src/contract/paths.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

let server: TestServer;
afterEach(() => server?.close());

const search = '/v2/jailbreak/package/search?q=com';

const startLimited = async (trustedProxies: number) => {
  let passed = 0;
  const now = () => new Date(1_800_000_000_000 + passed);
  server = await startTestServer({
    trustedProxies,
    overrides: { limiter: createRateLimiter({ rate: 0.5, burst: 3, now }) },
  });
  const ask = async (forwardedFor?: string, target = search) => {
    const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor };
    return fetch(server.address + target, { headers });
  };
  return { ask, pass: (seconds: number) => (passed += seconds * 1000) };
};

describe('rate limit', () => {
  it('answers 429 with Retry-After, and goes on after that time', async () => {
    const { ask, pass } = await startLimited(0);
    for (let asked = 0; asked < 3; asked++) expect((await ask()).status).toBe(200);
    const refused = await ask();
    expect(refused.status).toBe(429);
    // A cache in between would give it to others, who did not ask too often.
    expect(refused.headers.get('cache-control')).toBe('no-store');
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(refused.headers.get('access-control-expose-headers')).toContain('Retry-After');
    expect(await refused.json()).toMatchObject({
      message: '429 Too Many Requests',
      error: 'Too many requests: try again in 2 s',
    });
    pass(1);
    expect((await ask()).headers.get('retry-after')).toBe('1');
    pass(1);
    expect((await ask()).status).toBe(200);
    expect((await ask()).status).toBe(429);
  });

  it('holds for what is computed, and not for documents and health', async () => {
    const { ask } = await startLimited(0);
    for (let asked = 0; asked < 4; asked++) await ask();
    for (const { file, address, method } of Object.values(operations) as Operation[]) {
      if (method !== 'GET') continue;
      const target = `/v2${address.replace('{packageId}', 'com.example.one').replace('{repositorySlug}', 'sample').replace('{pageNumber}', '1')}`;
      const { status } = await ask(undefined, target);
      if (file === undefined && !['/healthz', '/livez', '/readyz'].includes(address)) expect(status, target).toBe(429);
      else expect(status, target).not.toBe(429);
    }
  });

  it('believes X-Forwarded-For only behind a configured number of proxies', async () => {
    const { ask } = await startLimited(0);
    const statuses = [];
    for (let asked = 0; asked < 5; asked++) statuses.push((await ask(`198.51.100.${asked}`)).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    await server.close();

    const behind = await startLimited(1);
    for (let asked = 0; asked < 4; asked++) {
      // Whatever the client wrote before it, the address that the proxy added counts.
      expect((await behind.ask(`198.51.100.${asked}, 203.0.113.1`)).status).toBe(asked < 3 ? 200 : 429);
    }
    expect((await behind.ask('203.0.113.2')).status).toBe(200);
  });

  it('takes a whole network of IPv6 for one client', () => {
    const limiter = createRateLimiter({ rate: 1, burst: 1, now: () => new Date(0) });
    expect(limiter.take('2001:db8:1:2::1')).toBe(0);
    for (const address of ['2001:db8:1:2::2', '2001:db8:1:2:ffff::', '2001:db8:1:2:3:4:5:6']) {
      expect(limiter.take(address), address).toBeGreaterThan(0);
    }
    expect(limiter.take('2001:db8:1:3::1')).toBe(0);
    expect(limiter.take('::ffff:192.0.2.1')).toBe(0);
    expect(limiter.take('192.0.2.1')).toBeGreaterThan(0);
  });

  it('lets through what it may at once and no more, however long nobody came, and is not harder where a clock was set back', () => {
    let seconds = 1_800_000_000;
    const limiter = createRateLimiter({ rate: 1, burst: 3, now: () => new Date(seconds * 1000) });
    const takeMany = () => Array.from({ length: 4 }, () => limiter.take('192.0.2.1'));
    expect(takeMany()).toEqual([0, 0, 0, 1]);
    seconds += 86_400;
    expect(takeMany()).toEqual([0, 0, 0, 1]);
    seconds -= 86_400;
    expect(limiter.take('192.0.2.1')).toBe(1);
    seconds += 2;
    expect([limiter.take('192.0.2.1'), limiter.take('192.0.2.1'), limiter.take('192.0.2.1')]).toEqual([0, 0, 1]);
  });

  it('forgets of too many clients none that goes on asking', () => {
    const limiter = createRateLimiter({ rate: 1, burst: 1, now: () => new Date(0) });
    limiter.take('first');
    for (let client = 0; client < 60_000; client++) {
      limiter.take(`10.${client >> 16}.${(client >> 8) & 255}.${client & 255}`);
      if (client % 10_000 === 0) expect(limiter.take('first')).toBeGreaterThan(0);
    }
    expect(limiter.take('first')).toBeGreaterThan(0);
  });

  it('remembers a bounded number of clients', () => {
    const limiter = createRateLimiter({ rate: 1, burst: 1, now: () => new Date(0) });
    limiter.take('first');
    expect(limiter.take('first')).toBeGreaterThan(0);
    for (let client = 0; client < 60_000; client++)
      limiter.take(`10.${client >> 16}.${(client >> 8) & 255}.${client & 255}`);
    expect(limiter.take('first')).toBe(0);
  });
});

describe('the address of a client', () => {
  it.each([
    ['192.0.2.1', undefined, 0, '192.0.2.1'],
    ['192.0.2.1', '198.51.100.1', 0, '192.0.2.1'],
    ['192.0.2.1', undefined, 1, '192.0.2.1'],
    ['192.0.2.1', '198.51.100.1', 1, '198.51.100.1'],
    ['192.0.2.1', 'forged, 198.51.100.1', 1, '198.51.100.1'],
    ['192.0.2.1', 'forged, 198.51.100.1, 10.0.0.1', 2, '198.51.100.1'],
    ['192.0.2.1', '198.51.100.1', 2, '192.0.2.1'],
    ['192.0.2.1', ', ,', 1, '192.0.2.1'],
  ])('%s, forwarded for %s behind %i proxies, is %s', (peer, forwardedFor, proxies, expected) => {
    expect(clientAddress(peer, forwardedFor, proxies)).toBe(expected);
  });
});
