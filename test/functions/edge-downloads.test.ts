import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { DownloadsStub } from '../../functions/cloudflare/downloads-stub.ts';
import { remoteDownloads } from '../../functions/cloudflare/remote-downloads.ts';
import { readSettings } from '../../functions/cloudflare/settings.ts';
import { Unavailable } from '../../functions/dependencies.ts';
import { askTotals } from '../../functions/downloads/asked-totals.ts';
import type { CounterLimits } from '../../functions/downloads/counting.ts';
import { packages } from '../support/catalog.ts';
import { publishOnLoopback, startEdge } from '../support/edge.ts';
import { type EdgeBundle, makeEdgeBundle } from '../support/edge-runtime.ts';
import { temporaryFolder } from '../support/folder.ts';
import { newObject } from '../support/new-object.ts';
import { runScript } from '../support/run-script.ts';
import { readValue, writeValue } from '../support/tested-object-values.ts';

const one = (id: string, version = '1.0') => ({ package_id: id, package_version: version });
const many = (start: string, count: number) => Array.from({ length: count }, (_, index) => one(`${start}${index}`));
const network = (number: number) => `192.0.2.${number}`;

/** A new object that counts downloads, in the platform's own runtime, by a clock and within limits of the test's. */
const openObject = async (limits: Partial<CounterLimits> = {}) => {
  const address = `${await newObject()}?downloads`;
  // An alarm of the past would ring at once.
  const clock = { now: Date.parse('2096-05-01T12:00:00Z') };
  const ask = async (name: string, ...parameters: readonly unknown[]): Promise<unknown> => {
    const body = writeValue({ name, parameters, now: clock.now, limits });
    const response = await fetch(address, { method: 'POST', body });
    const text = await response.text();
    if (response.status !== 200) throw new Error(text);
    return readValue(text);
  };
  return {
    at: (date: string) => {
      clock.now = Date.parse(date);
    },
    add: (downloads: readonly object[], from: string) => ask('add', { network: from, downloads }) as Promise<number>,
    read: (id: string) => ask('read', id) as ReturnType<DownloadsStub['read']>,
    totals: () => ask('totals') as ReturnType<DownloadsStub['totals']>,
    probe: () => ask('probe'),
    alarm: () => ask('alarm') as Promise<number>,
    nextAlarm: () => ask('nextAlarm') as Promise<number | null>,
    /** Has it lose what it holds in memory. */
    forget: () => ask('forget').catch(() => {}),
    rows: (statement: string) => ask('rows', statement) as Promise<unknown[][]>,
  };
};

describe('the object that counts downloads', () => {
  it('T12: counts a version once for each network and day, and survives its sleep', async () => {
    const object = await openObject();
    expect(await object.add([one('a'), one('a'), one('a', '2.0'), one('b')], network(1))).toBe(3);
    expect(await object.add([one('a')], network(1))).toBe(0);
    expect(await object.add([one('a')], network(2))).toBe(1);
    await object.forget();
    expect(await object.add([one('a')], network(1)), 'after its sleep').toBe(0);
    expect(await object.add([one("'; DROP TABLE downloads; --")], network(1))).toBe(1);
    object.at('2096-05-02T00:00:00Z');
    expect(await object.add([one('a')], network(1)), 'on the next day').toBe(1);
    expect(await object.rows('SELECT day, package_id, package_version, count FROM downloads ORDER BY 1, 2, 3')).toEqual(
      [
        ['2096-05-01', "'; DROP TABLE downloads; --", '1.0', 1],
        ['2096-05-01', 'a', '1.0', 2],
        ['2096-05-01', 'a', '2.0', 1],
        ['2096-05-01', 'b', '1.0', 1],
        ['2096-05-02', 'a', '1.0', 1],
      ],
    );
    expect(await object.read('a')).toEqual({
      ...{ package_id: 'a', total: 4, last_30_days: 4 },
      daily: [
        { day: '2096-05-01', count: 3 },
        { day: '2096-05-02', count: 1 },
      ],
    });
    expect(await object.probe()).toBe(true);
  });

  it('T12: counts each of many reports at once, and those of one network once, over the end of a day', async () => {
    const object = await openObject();
    const counts = await Promise.all(
      Array.from({ length: 60 }, (_, index) => object.add([one('a')], network(index % 20))),
    );
    expect(counts.reduce((sum, count) => sum + count)).toBe(20);
    object.at('2096-05-01T23:59:59.999Z');
    const last = Array.from({ length: 10 }, (_, index) => object.add([one('b')], network(index)));
    object.at('2096-05-02T00:00:00Z');
    const first = Array.from({ length: 10 }, (_, index) => object.add([one('b')], network(index)));
    await Promise.all([...last, ...first]);
    const { total, daily } = await object.read('b');
    expect(daily.every(({ count }) => count <= 10)).toBe(true);
    expect([total <= 20, total >= 10]).toEqual([true, true]);
  });

  it('T12: keeps nothing of a sender but marks, and these with their key no longer than their day', async () => {
    const object = await openObject();
    await object.add([one('a'), one('b')], '2001:db8:1:1');
    const marked = async () => ({
      days: (await object.rows('SELECT day FROM marking')).flat(),
      marks: (await object.rows('SELECT count(*) FROM mark')).flat()[0],
      networks: (await object.rows('SELECT count(*), sum(taken), min(length(network)) FROM marked_network'))[0],
    });
    expect(await marked()).toEqual({ days: ['2096-05-01'], marks: 2, networks: [2, 4, 16] });
    const tables = (await object.rows("SELECT name FROM sqlite_master WHERE type = 'table'")).flat().map(String);
    expect(tables.filter((name) => !name.startsWith('_cf_')).sort()).toEqual([
      ...['downloads', 'downloads_beyond', 'downloads_sizes', 'mark', 'marked_network', 'marking'],
    ]);
    // Wherever a second server would be, its clock may be a little ahead.
    object.at('2096-05-01T23:59:00Z');
    await object.alarm();
    expect((await marked()).marks).toBe(2);
    object.at('2096-05-02T00:01:00Z');
    expect(new Date(await object.alarm()).toISOString()).toBe('2096-05-03T00:01:00.000Z');
    expect(await marked()).toEqual({ days: [], marks: 0, networks: [0, null, null] });
    expect(await object.read('a')).toMatchObject({ total: 1 });
  });

  it('T12: wakes a minute after the day in which it first counts', async () => {
    const object = await openObject();
    expect(await object.nextAlarm()).toBeNull();
    await object.add([one('a')], network(1));
    const next = async () => new Date(Number(await object.nextAlarm())).toISOString();
    expect(await next()).toBe('2096-05-02T00:01:00.000Z');
    // Started anew in that minute, it does not put it off by a day.
    object.at('2096-05-02T00:00:30Z');
    await object.forget();
    await object.add([one('a')], network(1));
    expect(await next()).toBe('2096-05-02T00:01:00.000Z');
  });

  it('T12: counts nothing twice where a day ends while reports are marked', async () => {
    const object = await openObject();
    const networks = Array.from({ length: 20 }, (_, index) => network(index));
    const report = (from: string) => object.add(many('a', 100), from);
    const before = networks.map(report);
    object.at('2096-05-02T00:00:00Z');
    await object.add([one('b')], network(99));
    object.at('2096-05-01T23:59:59Z');
    expect(await Promise.all(before)).toEqual(networks.map(() => 100));
    // With the key of the day after, what was marked with that before it may count once more: what is counted from now on, no more.
    await Promise.all(networks.map(report));
    await object.forget();
    expect(await Promise.all(networks.map(report))).toEqual(networks.map(() => 0));
  });

  it('T12: makes room for new daily counts where old ones are told by no day any more', async () => {
    const object = await openObject({ days: 3, counters: 10 });
    for (let day = 1; day <= 10; day++) {
      object.at(`2096-05-${String(day).padStart(2, '0')}T12:00:00Z`);
      await object.add([one('a')], network(1));
    }
    // A day at a time, while others wait to be counted.
    expect(new Date(await object.alarm()).toISOString()).toBe('2096-05-10T12:00:01.000Z');
    expect(await object.rows('SELECT min(day) FROM downloads')).toEqual([['2096-05-02']]);
    expect(new Date(await object.alarm()).toISOString()).toBe('2096-05-10T12:00:01.000Z');
    expect(new Date(await object.alarm()).toISOString()).toBe('2096-05-11T00:01:00.000Z');
    await object.add([one('b'), one('c'), one('d')], network(1));
    expect(await object.read('a')).toMatchObject({ total: 10 });
    expect(await object.read('c')).toMatchObject({ total: 1, daily: [{ day: '2096-05-10', count: 1 }] });
    expect(await object.read('d'), 'for two, and no more').toMatchObject({ total: 1, daily: [] });
  });

  it('T12: tries again after ten minutes where it cannot tidy, however often', async () => {
    const object = await openObject({ days: 3 });
    for (let day = 1; day <= 10; day++) {
      object.at(`2096-05-${String(day).padStart(2, '0')}T12:00:00Z`);
      await object.add([one('a')], network(1));
    }
    await object.rows(`CREATE TRIGGER full BEFORE INSERT ON downloads_beyond BEGIN SELECT raise(ABORT, 'full'); END`);
    for (let time = 0; time < 3; time++) {
      expect(new Date(await object.alarm()).toISOString()).toBe('2096-05-10T12:10:00.000Z');
    }
    await object.rows('DROP TRIGGER full');
    expect(new Date(await object.alarm()).toISOString()).toBe('2096-05-10T12:00:01.000Z');
  });

  it('T12: a flood takes no other one its place, whether the object slept or not', async () => {
    const object = await openObject({ perNetwork: 20, perSite: 50, perDay: 100 });
    expect(await object.add([one('honest')], network(1))).toBe(1);
    expect(await object.add(many('flood', 256), network(2))).toBe(20);
    let taken = 0;
    for (let number = 0; number < 10; number++) {
      if (number === 5) await object.forget();
      taken += await object.add(many(`site${number}`, 20), `2001:db8:1:${number}`);
    }
    expect(taken).toBe(50);
    expect(await object.add([one('honest')], '2001:db8:2:0')).toBe(1);
    await object.forget();
    expect(await object.add(many('rest', 256), network(3))).toBe(20);
    expect(await object.add(many('rest', 256), network(4)), 'as many as a day has').toBe(8);
    expect(await object.read('honest')).toMatchObject({ total: 2, daily: [{ count: 2 }] });
  });

  it('T12: beyond the daily counts that are kept, what is new adds to totals, whether the object slept or not', async () => {
    const object = await openObject({ counters: 2 });
    expect(await object.add([one('a'), one('b'), one('c')], network(1))).toBe(3);
    await object.forget();
    expect(await object.add([one('a'), one('c'), one('d')], network(2))).toBe(3);
    expect(await object.read('a')).toMatchObject({ total: 2, daily: [{ day: '2096-05-01', count: 2 }] });
    expect(await object.read('c')).toEqual({ package_id: 'c', total: 2, last_30_days: 0, daily: [] });
    expect(await object.rows('SELECT counters, marks FROM downloads_sizes')).toEqual([[2, 6]]);
  });

  it('T12: what could not be written counts nothing and takes no place', async () => {
    const object = await openObject({ counters: 3 });
    expect(await object.add([one('a')], network(1))).toBe(1);
    await object.rows(`CREATE TRIGGER full BEFORE INSERT ON downloads WHEN new.package_id = 'full'
      BEGIN SELECT raise(ABORT, 'the disk is full'); END`);
    for (let time = 0; time < 3; time++) {
      await expect(object.add([one('b'), one('full')], network(1))).rejects.toThrow('the disk is full');
    }
    await object.rows('DROP TRIGGER full');
    expect(await object.add([one('b')], network(1))).toBe(1);
    expect(await object.read('b')).toMatchObject({ total: 1, daily: [{ day: '2096-05-01', count: 1 }] });
  });

  it('T8: writes for health every five seconds at most, and says then where it cannot', async () => {
    const object = await openObject();
    await object.add([one('a')], network(1));
    await object.rows(`CREATE TRIGGER full BEFORE UPDATE ON downloads_sizes BEGIN SELECT raise(ABORT, 'full'); END`);
    for (const _ of ['once', 'again']) await expect(object.probe()).rejects.toThrow('full');
    await object.rows('DROP TRIGGER full');
    expect(await object.probe()).toBe(true);
    await object.rows(`CREATE TRIGGER full BEFORE UPDATE ON downloads_sizes BEGIN SELECT raise(ABORT, 'full'); END`);
    expect(await object.probe()).toBe(true);
    object.at('2096-05-01T12:00:05Z');
    await expect(object.probe()).rejects.toThrow('full');
    // A clock that was set back.
    object.at('2096-05-01T11:00:00Z');
    await expect(object.probe()).rejects.toThrow('full');
  });

  it('tells the totals of the days before this one, the most downloaded first', async () => {
    const object = await openObject();
    for (let client = 0; client < 3; client++) await object.add([one('b')], network(client));
    await object.add([one('a')], network(1));
    expect(await object.totals()).toEqual({ day: '2096-05-01', totals: [] });
    object.at('2096-05-02T08:00:00Z');
    await object.add([one('a')], network(1));
    expect(await object.totals()).toEqual({
      day: '2096-05-02',
      totals: [
        { package_id: 'b', total: 3, last_30_days: 3 },
        { package_id: 'a', total: 1, last_30_days: 1 },
      ],
    });
  });
});

describe('the counters of a Worker', () => {
  const namespace = { idFromName: expect.fail, getByName: () => ({}) as DownloadsStub };
  const settingsOf = (more: object) => readSettings({ CATALOG: namespace as never, DOWNLOADS: namespace, ...more });
  const files = { fetch: async () => new Response() };

  it('E1: count for a publication of its own, and for another where they are told to', () => {
    expect(settingsOf({ ASSETS: files }).downloads).toBeDefined();
    expect(settingsOf({ ASSETS: files, COUNT_DOWNLOADS: 'off' }).downloads).toBeUndefined();
    expect(settingsOf({ ASSETS: files, DOWNLOADS: undefined }).downloads).toBeUndefined();
    expect(settingsOf({ PUBLICATION: 'https://a.example' }).downloads).toBeUndefined();
    expect(settingsOf({ PUBLICATION: 'https://a.example', COUNT_DOWNLOADS: 'on' }).downloads).toBeDefined();
    expect(() => settingsOf({ ASSETS: files, COUNT_DOWNLOADS: 'yes' })).toThrow('COUNT_DOWNLOADS must be on or off');
  });

  it('T8: an object that does not answer is unavailable, and its health says so', async () => {
    const fails = () => Promise.reject(new Error('moved'));
    const downloads = remoteDownloads(() => ({ add: fails, read: fails, probe: fails, totals: fails }));
    await expect(downloads.add([one('a')], network(1))).rejects.toBeInstanceOf(Unavailable);
    await expect(downloads.read('a')).rejects.toBeInstanceOf(Unavailable);
    await expect(downloads.probe()).rejects.toMatchObject({ cause: new Error('moved') });
  });
});

describe('a build that asks for totals', () => {
  const answering = async (answer: RequestListener) => {
    const server = createServer(answer).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  };
  const json = (body: unknown, status = 200) =>
    answering((_, response) => response.writeHead(status).end(JSON.stringify(body)));
  const total = { package_id: 'a', total: 3, last_30_days: 2 };

  it('takes what is of their form, and says why it does not', async () => {
    expect(await askTotals(await json({ day: '2026-05-01', totals: [total] }), 'k')).toEqual([total]);
    for (const wrong of [
      [],
      {},
      { day: 'today', totals: [] },
      { day: '2026-05-01', totals: [{ ...total, total: -1 }] },
    ]) {
      await expect(askTotals(await json(wrong), 'k')).rejects.toThrow('something else than download totals');
    }
    const broken = await answering((_, response) => response.writeHead(502).end('<html>'));
    await expect(askTotals(broken, 'k')).rejects.toThrow('answered 502: no reason');
    const other = await json({ day: '2026-05-01', totals: [total] });
    const elsewhere = await answering((_, response) => response.writeHead(302, { location: other }).end());
    await expect(askTotals(elsewhere, 'k'), 'a key is for one address').rejects.toThrow();
    const endless = await answering((_, response) => {
      const more = () => {
        while (response.write('x'.repeat(100_000)));
        response.once('drain', more);
      };
      more();
    });
    await expect(askTotals(endless, 'k')).rejects.toThrow('longer than');
  });
});

describe('the function at the edge', () => {
  const key = 'a-key-of-the-operator-of-enough-characters';
  const ingest = '/v2/jailbreak/download/ingest';
  let bundle: EdgeBundle;
  beforeAll(async () => {
    bundle = await makeEdgeBundle();
    return () => rmSync(path.dirname(bundle.folder), { recursive: true });
  });
  const publishOne = async () => {
    const { publication, origin } = await publishOnLoopback();
    await publication.publish([{ slug: 'one', packages: packages({ Package: 'a', Version: '1.0' }) }]);
    return { address: origin.address, storage: temporaryFolder() };
  };
  const start = async (variables: Record<string, string>, kept?: Awaited<ReturnType<typeof publishOne>>) => {
    const { address, storage } = kept ?? (await publishOne());
    const edge = await startEdge(bundle, { source: { address }, storage, variables });
    await expect.poll(async () => (await edge.get('/v2/jailbreak/package/a')).status).toBe(200);
    const report = async (downloads: readonly object[], from: string) => {
      const response = await fetch(edge.address + ingest, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'cf-connecting-ip': from },
        body: JSON.stringify(downloads),
      });
      return { status: response.status, ...((await response.json()) as { count?: number; error?: string }) };
    };
    const count = async (id: string) => {
      const response = await edge.get(`/v2/jailbreak/download/${id}`);
      return { status: response.status, ...((await response.json()) as { data?: { total: number } }) };
    };
    return { edge, report, count };
  };

  it('E1, T12: counts what is reported once, tells it, and has it still when everything was killed', async () => {
    const kept = await publishOne();
    const { edge, report, count } = await start({ COUNT_DOWNLOADS: 'on' }, kept);
    expect(await count('a')).toMatchObject({ status: 200, data: { package_id: 'a', total: 0 } });
    expect(await report([one('a'), one('a'), one('none'), one('a', '9')], network(1))).toMatchObject({ count: 1 });
    expect(await report([one('a')], network(1))).toMatchObject({ status: 200, count: 0 });
    expect(await report([one('a')], network(2))).toMatchObject({ count: 1 });
    expect(await report([{}], network(2))).toMatchObject({ status: 400 });
    expect((await edge.get('/healthz')).status).toBe(200);
    await edge.kill();
    const again = await start({ COUNT_DOWNLOADS: 'on' }, kept);
    expect(await again.count('a')).toMatchObject({ data: { total: 2 } });
    expect(await again.report([one('a')], network(1))).toMatchObject({ count: 0 });
  });

  it('E1: tells its operator’s build the totals, and nobody else', async () => {
    const { edge, report } = await start({ COUNT_DOWNLOADS: 'on', OPERATOR_KEY: `${key}\n` });
    await report([one('a')], network(1));
    expect(await askTotals(edge.address, key)).toEqual([]);
    await expect(askTotals(edge.address, `${key}.`)).rejects.toThrow(/answered 401: Send the key of the operator/);
    const bare = await edge.get('/v2/operator/downloads');
    expect([bare.status, bare.headers.get('cache-control')]).toEqual([401, 'no-store']);
    const posted = await fetch(`${edge.address}/v2/operator/downloads`, { method: 'POST' });
    expect(posted.status).toBe(405);
    // The same folders, so that what the first has built is not built again where only the totals are the subject.
    const folders = ['--state', temporaryFolder(), '--out', temporaryFolder()];
    const build = (address: string, environment: Record<string, string> = { DEBDEX_OPERATOR_KEY: key }) => {
      return runScript('build', ['--sample', '--no-site', '--downloads-at', address, ...folders], { environment });
    };
    const built = await build(edge.address);
    expect([built.status, built.error]).not.toContain('could not be read');
    expect(built.status).toBe(0);
    const short = await start({ COUNT_DOWNLOADS: 'on', OPERATOR_KEY: key.slice(0, 31) });
    await expect(askTotals(short.edge.address, key.slice(0, 31))).rejects.toThrow('503: OPERATOR_KEY must have');
    const refused = await build(edge.address, { DEBDEX_OPERATOR_KEY: 'another' });
    expect(refused.error).toMatch(/download counters could not be read: .* answered 401/);
    expect(refused.status, 'a build goes on without').toBe(0);
    for (const address of ['ftp://a', 'http://index.example.org']) {
      expect((await build(address)).error, address).toMatch(/--downloads-at must be the address of a Worker/);
    }
    const twoLines = await build(edge.address, { DEBDEX_OPERATOR_KEY: `${key}\n${key}` });
    expect([twoLines.status, twoLines.text.includes(key)]).toEqual([2, false]);
    expect((await build('http://127.0.0.1:1')).error).toMatch(/could not be read: fetch failed: .+/);
    expect((await build(edge.address, {})).error).toMatch(/needs the key/);
  });

  it('E1: counts nothing for a publication that is not its own, unless it is told to', async () => {
    const { edge, report, count } = await start({ OPERATOR_KEY: key });
    expect(await report([one('a')], network(1))).toMatchObject({ status: 200, count: 0 });
    expect(await count('a')).toMatchObject({ status: 404 });
    await expect(askTotals(edge.address, key)).rejects.toThrow(/answered 404/);
  });
});
