import { renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { Unavailable } from '../../functions/dependencies.ts';
import { createDownloads } from '../../functions/node/downloads.ts';
import { temporaryFolder } from '../support/folder.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

const day = new Date('2026-05-01T12:00:00Z');

const readCounters = (file: string): Record<string, number> => {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database.prepare('SELECT * FROM downloads ORDER BY day, package_id, package_version').all();
  database.close();
  return Object.fromEntries(
    rows.map((row) => [`${row.day} ${row.package_id} ${row.package_version}`, Number(row.count)]),
  );
};

const openCounters = (limits: Parameters<typeof createDownloads>[2] = {}, now = () => day) => {
  const file = path.join(temporaryFolder(), 'downloads.sqlite');
  const counters = createDownloads(file, now, { gatherFor: 20, ...limits });
  onTestFinished(() => counters.close());
  return { file, counters };
};
const one = (id: string, version = '1.0') => ({ package_id: id, package_version: version });

describe('download counters', () => {
  it('count each version of a package for each day, and survive a restart', async () => {
    let today = day;
    const { file, counters } = openCounters({}, () => today);
    await counters.add([one('a'), one('a'), one('a', '2.0'), one('b')]);
    today = new Date('2026-05-02T00:00:00Z');
    await counters.add([one('a')]);
    await counters.close();
    const again = createDownloads(file, () => today);
    await again.add([one('a'), one("'; DROP TABLE downloads; --")]);
    await again.close();
    expect(readCounters(file)).toEqual({
      '2026-05-01 a 1.0': 2,
      '2026-05-01 a 2.0': 1,
      '2026-05-01 b 1.0': 1,
      "2026-05-02 '; DROP TABLE downloads; -- 1.0": 1,
      '2026-05-02 a 1.0': 2,
    });
  });

  it('are written in batches', async () => {
    const { file, counters } = openCounters({ gatherFor: 1000 });
    await counters.probe();
    const written: number[] = [];
    for (let round = 0; round < 5; round++) {
      await counters.add([one('a')]);
      written.push(Object.keys(readCounters(file)).length);
    }
    expect(written.every((count) => count === 0)).toBe(true);
    await expect.poll(() => readCounters(file), { timeout: 10_000 }).toEqual({ '2026-05-01 a 1.0': 5 });
  });

  it('hold no more than they may, in memory and on disk, and drop the oldest days', async () => {
    const { file, counters } = openCounters({ gathered: 50, counters: 30, interval: 0, days: 100_000 });
    await counters.add(Array.from({ length: 500 }, (_, index) => one(`id${index}`)));
    await counters.add([one('id3'), one('beyond')]);
    await counters.close();
    const kept = readCounters(file);
    expect(Object.keys(kept)).toHaveLength(30);
    expect(kept).toHaveProperty('2026-05-01 id3 1.0', 2);
    const later = createDownloads(file, () => new Date('2026-06-01T00:00:00Z'), {
      counters: 30,
      interval: 0,
      days: 100_000,
    });
    await later.add(Array.from({ length: 30 }, (_, index) => one(`new${index}`)));
    await later.close();
    expect(Object.keys(readCounters(file)).every((key) => key.startsWith('2026-06-01 new'))).toBe(true);
  });

  it('drop days that are older than the oldest kept', async () => {
    const { file, counters } = openCounters({ days: 30, interval: 0 }, () => new Date('2020-01-01T00:00:00Z'));
    await counters.add([one('old')]);
    await counters.close();
    expect(readCounters(file)).toEqual({});
  });

  it('keep what the store refused, and write it once it is back', async () => {
    const { file, counters } = openCounters({ taskTimeout: 20_000 });
    await counters.probe();
    await counters.add([one('before')]);
    await expect.poll(() => readCounters(file), { timeout: 10_000 }).not.toEqual({});
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    await counters.add([one('meanwhile')]);
    const adding = () =>
      counters.add([]).then(
        () => undefined,
        (error: unknown) => error,
      );
    await expect.poll(adding, { timeout: 10_000 }).toBeInstanceOf(Unavailable);
    other.exec('ROLLBACK');
    other.close();
    await counters.add([one('after')]);
    await counters.close();
    expect(Object.keys(readCounters(file))).toEqual([
      '2026-05-01 after 1.0',
      '2026-05-01 before 1.0',
      '2026-05-01 meanwhile 1.0',
    ]);
  });

  it('go into a new file where theirs was removed', async () => {
    const { file, counters } = openCounters();
    await counters.probe();
    await counters.add([one('a')]);
    await expect.poll(() => readCounters(file), { timeout: 10_000 }).not.toEqual({});
    for (const ending of ['', '-wal', '-shm']) renameSync(file + ending, `${file}${ending}.away`);
    await counters.add([one('b')]);
    await counters.close();
    expect(readCounters(file)).toEqual({ '2026-05-01 b 1.0': 1 });
  });

  it('H2 end in time, however stuck the store is', async () => {
    const { file, counters } = openCounters({ taskTimeout: 100 });
    writeFileSync(file, '');
    const other = new DatabaseSync(file);
    other.exec('BEGIN EXCLUSIVE');
    const begun = Date.now();
    await counters.add([one('a')]);
    await counters.close();
    expect(Date.now() - begun).toBeLessThan(5000);
    other.close();
  });
});

describe('download ingest', () => {
  let server: TestServer | undefined;
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });
  const ingest = async (body: unknown, headers: Record<string, string> = { 'content-type': 'application/json' }) => {
    server ??= await startTestServer();
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await fetch(`${server.address}/v2/jailbreak/download/ingest`, {
      method: 'POST',
      headers,
      body: text,
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown>, answer };
  };

  it('counts, and says how many', async () => {
    const { status, body, answer } = await ingest([one('a'), one('b')]);
    expect([status, Object.keys(body), body.count]).toEqual([200, ['message', 'date', 'count'], 2]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const file = path.join(server?.state ?? '', 'downloads.sqlite');
    await server?.dependencies.downloads.probe();
    await expect.poll(() => readCounters(file), { timeout: 5000, interval: 200 }).not.toEqual({});
    expect(statSync(file).size).toBeGreaterThan(0);
  });

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

  it('takes 256 downloads, none, and no more', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => one(`com.example.${index}`));
    expect((await ingest(many(256))).body.count).toBe(256);
    expect((await ingest([])).body.count).toBe(0);
    expect((await ingest(many(257))).body.error).toBe('The body must hold at most 256 downloads');
  });

  it.each<[unknown, number]>([
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
  ])('refuses %j', async (body, status) => {
    expect((await ingest(body)).status).toBe(status);
  });

  it('takes any way to say JSON and nothing else', async () => {
    const body = [one('a')];
    for (const type of ['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/vnd.api+json']) {
      expect((await ingest(body, { 'content-type': type })).status, type).toBe(200);
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'x']) {
      expect((await ingest(body, { 'content-type': type })).status, type).toBe(415);
    }
  });

  it('keeps nothing about the sender', async () => {
    await ingest([{ ...one('a'), package_author: 'canary-author', repository_uri: 'https://canary.test/' }], {
      'content-type': 'application/json',
      'user-agent': 'canary-agent',
      'x-forwarded-for': '203.0.113.7',
    });
    const file = path.join(server?.state ?? '', 'downloads.sqlite');
    await expect.poll(() => readCounters(file), { timeout: 5000, interval: 200 }).not.toEqual({});
    const database = new DatabaseSync(file);
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    const dump = JSON.stringify(database.prepare('SELECT * FROM downloads').all());
    database.close();
    expect(dump).not.toMatch(/canary|203\.0/);
  });

  it('H6 a store that is stuck delays no lookup and no search', async () => {
    server = await startTestServer();
    const file = path.join(server.state, 'downloads.sqlite');
    await server.dependencies.downloads.probe();
    const other = new DatabaseSync(file);
    other.exec('BEGIN EXCLUSIVE');
    const reports = Array.from({ length: 20 }, () => ingest([one('a')]));
    const probing = server.dependencies.downloads.probe();
    let stuck = true;
    void probing.then(() => (stuck = false));
    for (const target of ['/v2/jailbreak/package/com.example.one', '/v2/jailbreak/package/search?q=com']) {
      expect((await fetch(server.address + target)).status).toBe(200);
    }
    expect(stuck, 'the store was stuck all the while').toBe(true);
    expect(await probing).toBe(false);
    other.exec('ROLLBACK');
    other.close();
    for (const { status } of await Promise.all(reports)) expect([200, 503]).toContain(status);
  });
});
