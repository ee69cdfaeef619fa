import { Hono } from 'hono';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { SearchIndex } from '../../functions/dependencies.ts';
import { createAccessLog } from '../../functions/node/access-log.ts';
import type { AnsweredRequest } from '../../functions/node/answered-request.ts';
import { Meter } from '../../functions/node/meter.ts';
import { createTelling } from '../../functions/node/telling.ts';
import { createLog } from '../../src/log/log.ts';
import { patience } from '../support/patience.ts';
import { exchange, openSocket } from '../support/raw-http.ts';
import { fakeSearch, startTestServer, type TestServer } from '../support/test-server.ts';

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});
const start = async (options: Parameters<typeof startTestServer>[0]) => {
  const server = await startTestServer(options);
  servers.push(server);
  return server;
};

const collect = () => {
  const lines: Record<string, unknown>[] = [];
  const write = (text: string) => {
    for (const line of text.trimEnd().split('\n')) lines.push(JSON.parse(line));
  };
  return { lines, log: createLog({ level: 'debug', format: 'json', write }) };
};

const search = '/v2/jailbreak/package/search?q=one';
const lookup = '/v2/jailbreak/package/com.example.one';

describe('H11 a request that meets a fault of ours', () => {
  it('has a name in the answer and in the log, and the cause in the log alone', async () => {
    const { lines, log } = collect();
    const searchPackages = async () => {
      throw new Error('cannot read', {
        cause: Object.assign(new Error('disk image is malformed'), { code: 'ERR_SQLITE' }),
      });
    };
    const overrides = { report: createTelling(log, new Meter()).report, search: { ...fakeSearch([]), searchPackages } };
    const { address } = await start({ overrides });
    const answer = await fetch(address + search);
    expect(answer.status).toBe(503);
    const id = answer.headers.get('x-request-id');
    expect(id).toMatch(/^[\da-f]{24}$/);
    expect(await answer.text()).not.toContain('malformed');
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'error',
        message: 'The search index did not answer',
        request: id,
        operation: 'packageSearch',
        causes: [
          { name: 'Error', message: 'cannot read' },
          { name: 'Error', message: 'disk image is malformed', code: 'ERR_SQLITE' },
        ],
      }),
    ]);
  });

  it('keeps the name that a proxy of ours gave it, and not that of a stranger or a bad one', async () => {
    const named = { 'x-request-id': 'abc-123' };
    const alone = await start({});
    expect((await fetch(alone.address + search, { headers: named })).headers.get('x-request-id')).not.toBe('abc-123');
    const behind = await start({ trustedProxies: 1 });
    for (const target of [search, lookup, lookup, '/none']) {
      const { headers } = await fetch(behind.address + target, { headers: named });
      expect(headers.get('x-request-id'), target).toBe('abc-123');
    }
    for (const bad of ['x'.repeat(129), 'a b', 'a"b', '<script>', '']) {
      const { headers } = await fetch(behind.address + search, { headers: { 'x-request-id': bad } });
      expect(headers.get('x-request-id'), bad).toMatch(/^[\da-f]{24}$/);
    }
    const twice = `GET ${search} HTTP/1.1\r\nHost: a\r\nX-Request-Id: one\r\nX-Request-Id: two\r\nConnection: close\r\n\r\n`;
    expect(await exchange(behind.port, twice)).not.toMatch(/x-request-id: (?:one|two)/i);
  });

  it('has a name of its own in each of many answers, and none in one from memory that nobody asked to name', async () => {
    const { address } = await start({});
    const names = await Promise.all(
      Array.from({ length: 50 }, async () => (await fetch(address + search)).headers.get('x-request-id')),
    );
    expect(new Set(names).size).toBe(50);
    const one = await fetch(address + lookup);
    const other = await fetch(address + lookup);
    expect(one.headers.get('x-request-id')).not.toBeNull();
    expect(other.headers.get('x-request-id')).toBeNull();
    const { address: logged } = await start({ namesEveryRequest: true });
    const kept = await Promise.all([fetch(logged + lookup), fetch(logged + lookup)]);
    const again = await fetch(logged + lookup);
    expect(new Set([...kept, again].map(({ headers }) => headers.get('x-request-id'))).size).toBe(3);
  });
});

describe('H12 the log of requests', () => {
  const run = async (kind: 'plain' | 'full', options: Parameters<typeof start>[0] = {}) => {
    const { lines, log } = collect();
    const seen: AnsweredRequest['note'][] = [];
    const server = await start({
      ...options,
      onAnswered: [createAccessLog(log, kind), ({ note }: AnsweredRequest) => void seen.push(note)],
      namesEveryRequest: true,
    });
    const until = (count: number) =>
      vi.waitFor(() => {
        expect(seen).toHaveLength(count);
        log.flush();
        return lines;
      }, patience);
    return { ...server, until };
  };

  it('tells of each what was asked for and how it ended', async () => {
    const { address, port, until } = await run('plain');
    const targets: [string, RequestInit, string, number][] = [
      [search, {}, 'packageSearch', 200],
      [lookup, {}, 'package', 200],
      [lookup, {}, 'package', 200],
      [lookup, { method: 'DELETE' }, 'package', 405],
      ['/jailbreak/package/com.example.none', {}, 'package', 404],
      ['/v2/index.json', {}, 'document', 200],
      ['/none/', {}, 'page', 404],
      ['/v2/none', {}, 'none', 404],
    ];
    for (const [target, init] of targets) await (await fetch(address + target, init)).arrayBuffer();
    await exchange(port, `GET ${lookup} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    const lines = await until(targets.length + 1);
    expect(lines.map(({ path, operation, status }) => [path, operation, status])).toEqual([
      ...targets.map(([target, , operation, status]) => [target.split('?')[0], operation, status]),
      [lookup, 'package', 200],
    ]);
    for (const line of lines) expect(line).toMatchObject({ event: 'request', whole: true, bytes: expect.any(Number) });
    expect(lines[1]?.bytes).toBeGreaterThan(100);
  });

  it('tells of what its client did not wait for that it was not whole', async () => {
    const asked = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    const searchPackages = async (...question: Parameters<SearchIndex['searchPackages']>) => {
      asked.resolve();
      await gone.promise;
      return fakeSearch([]).searchPackages(...question);
    };
    const { port, until } = await run('plain', { overrides: { search: { ...fakeSearch([]), searchPackages } } });
    const socket = await openSocket(port);
    socket.write(`GET ${search} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await asked.promise;
    socket.destroy();
    expect(await until(1)).toMatchObject([{ operation: 'packageSearch', whole: false, bytes: 0 }]);
    gone.resolve();
  });

  it('escapes what it is asked for, and holds no address of anybody unless it is told to', async () => {
    const target = '/v2/none%1b%5b31m?q=%22%0a&secret=yes';
    const agent = 'Agent "with"\ttab';
    for (const kind of ['plain', 'full'] as const) {
      const { address, until } = await run(kind);
      await fetch(address + target, { headers: { 'user-agent': agent } });
      const [line] = await until(1);
      expect(line).toMatchObject({ path: '/v2/none%1b%5b31m' });
      if (kind === 'full') expect(line).toMatchObject({ query: 'q=%22%0a&secret=yes', agent, address: '127.0.0.1' });
      else expect(JSON.stringify(line)).not.toMatch(/secret|Agent|127\.0\.0\.1/);
    }
  });

  it('holds no query of the gateway, whoever refused it, nor of what missed its address by a letter', async () => {
    const gateway = new Hono().get('/login', (context) => context.text('Sign in'));
    const targets: [string, number][] = [
      ['/v2/login', 200],
      ['/v2/%6cogin', 200],
      ['/v2/login/callback', 404],
      ['/v2/login/', 400],
      ['//v2/login', 400],
      ['/v2/login/%ff', 400],
      ['/v2/Login', 404],
      ['/v2/login%2f', 404],
      ['/v2/%4cogin;x', 404],
      ['/login', 404],
    ];
    const { address, until } = await run('full', { overrides: { gateway } });
    for (const [target] of targets) await (await fetch(`${address}${target}?request=secret`)).arrayBuffer();
    await (await fetch(`${address}/v2/none?q=open`)).arrayBuffer();
    const lines = await until(targets.length + 1);
    expect(lines.slice(0, -1).map(({ path, status }) => [path, status])).toEqual(targets);
    expect(lines.filter(({ query }) => query !== undefined).map(({ query }) => query)).toEqual(['q=open']);

    const busy = await run('full', { overrides: { gateway }, limits: { clientRequests: 0 } });
    expect((await fetch(`${busy.address}/v2/login?request=secret`)).status).toBe(429);
    expect(JSON.stringify(await busy.until(1))).not.toContain('secret');
  });
});
