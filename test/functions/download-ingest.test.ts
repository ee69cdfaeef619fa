import { readFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Unavailable } from '../../functions/dependencies.ts';
import { one, readCounts } from '../support/download-counts.ts';
import { patience } from '../support/patience.ts';
import { openSocket } from '../support/raw-http.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

const json = { 'content-type': 'application/json' };

const send = async ({ address }: TestServer, body: unknown, headers: Record<string, string> = json) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await fetch(`${address}/v2/jailbreak/download/ingest`, { method: 'POST', headers, body: text });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown>, answer };
};

describe('download ingest', () => {
  let server: TestServer | undefined;
  let ids: readonly string[];
  beforeEach(() => {
    ids = ['a', 'b'];
  });
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });
  const ingest = async (body: unknown, headers?: Record<string, string>) => {
    server ??= await startTestServer({ ids });
    return send(server, body, headers);
  };

  it('counts, and says how many', async () => {
    const { status, body, answer } = await ingest([one('a'), one('b')]);
    expect([status, Object.keys(body), body.count]).toEqual([200, ['message', 'date', 'count'], 2]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const file = path.join(server?.state ?? '', 'downloads.sqlite');
    expect(Object.values(readCounts(file))).toEqual([1, 1]);
  });

  it('T12: counts what the index knows, once for each network, and answers 200 to all', async () => {
    const asked = [one('a'), one('a'), one('a', '9.9'), one('invented'), one('b')];
    expect((await ingest(asked)).body.count).toBe(2);
    expect(await ingest(asked)).toMatchObject({ status: 200, body: { count: 0 } });
    const file = path.join(server?.state ?? '', 'downloads.sqlite');
    expect(Object.keys(readCounts(file)).map((key) => key.slice(11))).toEqual(['a 1.0', 'b 1.0']);
  });

  it('tells clients behind a proxy of our own apart, and networks of IPv6 as one client', async () => {
    server = await startTestServer({ ids: ['a'], trustedProxies: 1 });
    const from = async (address: string) =>
      (await ingest([one('a')], { 'content-type': 'application/json', 'x-forwarded-for': address })).body.count;
    const counts = [];
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.1', '2001:db8::1', '2001:db8::2', '2001:db8:0:1::1']) {
      counts.push(await from(address));
    }
    expect(counts).toEqual([1, 1, 0, 1, 0, 1]);
  });

  it('takes 256 downloads, none, and no more', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => one(`com.example.${index}`));
    ids = many(256).map(({ package_id }) => package_id);
    expect((await ingest(many(256))).body.count).toBe(256);
    expect((await ingest([])).body.count).toBe(0);
    expect((await ingest(many(257))).body.error).toBe('The body must hold at most 256 downloads');
  });

  it('GET tells what was counted, 404 for what was never known, and 503 where the store is away', async () => {
    await ingest([one('a')]);
    const read = async (id: string, target = `/v2/jailbreak/download/${id}`) => {
      const answer = await fetch((server?.address ?? '') + target);
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    };
    const today = new Date().toISOString().slice(0, 10);
    const { status, body } = await read('a');
    expect([status, Object.keys(body)]).toEqual([200, ['message', 'date', 'data']]);
    expect(body.data).toEqual({ package_id: 'a', total: 1, last_30_days: 1, daily: [{ day: today, count: 1 }] });
    expect((await read('b')).body.data).toEqual({ package_id: 'b', total: 0, last_30_days: 0, daily: [] });
    expect((await read('', '/jailbreak/download/a')).status).toBe(200);
    expect((await read('invented')).status).toBe(404);
    // A word of the API wins over a package of that name.
    expect((await read('ingest')).status).toBe(405);
    const { downloads } = server?.dependencies ?? {};
    Object.assign(downloads ?? {}, { read: () => Promise.reject(new Unavailable('away')) });
    expect((await read('b', '/v2/jailbreak/download/b?again')).status).toBe(503);
  });

  it('GET still tells what was counted of a package that has left the index', async () => {
    await ingest([one('a')]);
    Object.assign(server?.dependencies.search ?? {}, { known: async () => [], knows: async () => false });
    expect((await fetch(`${server?.address}/v2/jailbreak/download/a`)).status).toBe(200);
    expect((await fetch(`${server?.address}/v2/jailbreak/download/b`)).status).toBe(404);
  });

  it('counts nothing that it cannot look up: 503, to be sent again', async () => {
    server = await startTestServer({ ids: ['a'] });
    Object.assign(server.dependencies.search, { known: () => Promise.reject(new Error('no index')) });
    expect((await ingest([one('a')])).status).toBe(503);
  });

  it('keeps nothing about the sender', async () => {
    await ingest([{ ...one('a'), package_author: 'canary-author', repository_uri: 'https://canary.test/' }], {
      'content-type': 'application/json',
      'user-agent': 'canary-agent',
      'x-forwarded-for': '203.0.113.7',
    });
    const file = path.join(server?.state ?? '', 'downloads.sqlite');
    expect(Object.keys(readCounts(file))).toHaveLength(1);
    const database = new DatabaseSync(file);
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
    expect(readFileSync(file, 'latin1')).not.toMatch(/canary|203\.0|127\.0/);
  });

  it('H6 a store that is stuck delays no lookup and no search', async () => {
    server = await startTestServer();
    const file = path.join(server.state, 'downloads.sqlite');
    await server.dependencies.downloads.probe();
    const { address, dependencies } = server;
    const other = new DatabaseSync(file);
    const ask = async () => {
      other.exec('BEGIN EXCLUSIVE');
      const reports = Array.from({ length: 20 }, () => ingest([one('a')]));
      let isStuck = true;
      const probing = dependencies.downloads
        .probe()
        .catch(() => false)
        .finally(() => (isStuck = false));
      const statuses: number[] = [];
      for (const target of ['/v2/jailbreak/package/com.example.one', '/v2/jailbreak/package/search?q=com']) {
        statuses.push((await fetch(address + target)).status);
      }
      const told = { statuses, isStuck, isHealthy: await probing };
      other.exec('ROLLBACK');
      for (const { status } of await Promise.all(reports)) expect([200, 503]).toContain(status);
      return told;
    };
    // The store gives a lock up after a second, in which a busy machine may have answered nothing yet.
    await expect.poll(ask).toEqual({ statuses: [200, 200], isStuck: true, isHealthy: false });
    other.close();
  });

  it('H10 holds so much of what one client sends, and takes small reports all the while', async () => {
    server = await startTestServer({ ids });
    const { port } = server;
    const large = JSON.stringify([{ ...one('a'), package_author: 'x'.repeat(200_000) }]);
    const head = `POST /v2/jailbreak/download/ingest HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${large.length}\r\n\r\n`;
    const sockets = await Promise.all(Array.from({ length: 60 }, () => openSocket(port)));
    const answers: string[] = [];
    for (const socket of sockets) {
      socket.on('data', (chunk) => answers.push(chunk.toString('latin1').slice(0, 12)));
      socket.write(head + large.slice(0, -1));
    }
    // 8 MB hold 32 of them at most.
    await expect.poll(() => answers.length, patience).toBeGreaterThanOrEqual(28);
    expect(new Set(answers)).toEqual(new Set(['HTTP/1.1 429']));
    expect((await ingest([one('a')])).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await expect.poll(async () => (await ingest(large)).status, patience).toBe(200);
  });
});

// One server for all of these, which has a thread for its counters: whatever it has counted already, they are told the same.
describe('what download ingest takes', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ ids: ['a', 'b'] });
    return () => server.close();
  });
  const ingest = (body: unknown, headers?: Record<string, string>) => send(server, body, headers);

  const optional = [
    'package_author',
    'package_maintainer',
    'repository_uri',
    'repository_suite',
    'repository_component',
  ];

  it.each([
    ['absent', {}],
    ['null', Object.fromEntries(optional.map((name) => [name, null]))],
    ['given', Object.fromEntries(optional.map((name) => [name, 'x']))],
    ['empty', Object.fromEntries(optional.map((name) => [name, '']))],
    ['unknown', { udid: 'of somebody', __proto__: null }],
  ])('takes optional fields that are %s', async (_how, fields) => {
    expect((await ingest([{ ...one('a'), ...fields }])).status).toBe(200);
  });

  it('refuses what is no list of downloads', async () => {
    const wrong: readonly [unknown, number][] = [
      ['', 400],
      ['{', 400],
      ['\ufffd[', 400],
      [null, 400],
      [{}, 400],
      ['[]extra', 400],
      [[null], 400],
      [[[]], 400],
      [[{ package_id: 'a' }], 400],
      [[{ ...one('a'), package_version: 1 }], 400],
      [[{ ...one('a'), package_author: 1 }], 400],
      [[one('')], 400],
      [[one('x'.repeat(256))], 400],
      [`[${' '.repeat(270_000)}]`, 413],
    ];
    for (const [body, status] of wrong) expect((await ingest(body)).status, JSON.stringify(body)).toBe(status);
  });

  it.each([
    [{ package_id: 'a' }, "Field '0.package_version' must be a string of 1 to 255 characters"],
    [{ ...one('a'), package_version: 1 }, "Field '0.package_version' must be a string of 1 to 255 characters"],
    [one(''), "Field '0.package_id' must be a string of 1 to 255 characters"],
    [one('x'.repeat(256)), "Field '0.package_id' must be a string of 1 to 255 characters"],
    [{ ...one('a'), repository_uri: 1 }, "Field '0.repository_uri' must be a string or null"],
    [null, "Field '0' must be an object"],
  ])('says which field is wrong, and what it must be (%j)', async (download, sentence) => {
    expect((await ingest([download])).body.error).toBe(sentence);
  });

  it('says what the body must be', async () => {
    expect((await ingest({})).body.error).toBe('The body must be a JSON array of downloads');
  });

  it('T11: takes any way to say JSON and nothing else', async () => {
    const body = [one('a')];
    for (const type of ['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/vnd.api+json']) {
      expect((await ingest(body, { 'content-type': type })).status, type).toBe(200);
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'x']) {
      expect((await ingest(body, { 'content-type': type })).status, type).toBe(415);
    }
    for (const [coding, status] of [
      ['gzip', 415],
      ['br', 415],
      ['identity', 200],
    ] as const) {
      const headers = { 'content-type': 'application/json', 'content-encoding': coding };
      expect((await ingest(body, headers)).status, coding).toBe(status);
    }
  });
});
