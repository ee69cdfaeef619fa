import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Unavailable } from '../../functions/dependencies.ts';
import { createDownloads } from '../../functions/node/download-counters.ts';
import { openOutbox } from '../../functions/node/downloads-outbox.ts';
import { openDownloadsStore, readDownloadTotals } from '../../functions/node/downloads-store.ts';
import { foldingLock, openSharedDownloads, readSharedTotals } from '../../functions/node/shared-downloads.ts';
import { openWay } from '../support/database-way.ts';
import { one } from '../support/download-counts.ts';
import { temporaryFolder } from '../support/folder.ts';
import { newDatabase } from '../support/new-database.ts';
import { openPooler } from '../support/pooler.ts';

const day = new Date('2026-05-01T12:00:00Z');
const limits = { days: 400, counters: 1000, perNetwork: 1000, perSite: 1000, perDay: 1000, unsent: 1000 };
const newFile = (): string => path.join(temporaryFolder(), 'downloads.sqlite');

/** What the manual has operators do: its block of this language that holds this word. */
const manual = readFileSync(path.join(import.meta.dirname, '..', '..', 'docs', 'operating.md'), 'utf8');
const manualBlock = (language: string, word: string): string => {
  const blocks = [...manual.matchAll(/```(\w+)\n([\s\S]*?)```/g)];
  const [, , text] = blocks.find(([, of, text]) => of === language && text?.includes(word)) ?? [];
  if (text === undefined) throw new Error(`docs/operating.md has no block of ${language} with ${word}`);
  return text;
};
const hasClients = ['psql', 'sqlite3'].every((name) => spawnSync(name, ['--version']).status === 0);
if (!hasClients) process.stdout.write('skipped: this machine has no psql or sqlite3 to take counters along with\n');

/** A server's counters in this database; `told` is what its operator hears. */
const openServer = (
  url: string,
  {
    file = newFile(),
    now = () => day,
    ...others
  }: {
    file?: string;
    now?: () => Date;
    unsent?: number;
    keyTimeout?: number;
    retryInterval?: number;
    sendInterval?: number;
    tidyInterval?: number;
  } = {},
) => {
  const told: (string | undefined)[] = [];
  const all = { taskTimeout: 20_000, sendInterval: 5, keyTimeout: 20_000, retryInterval: 30, ...others };
  const counters = createDownloads(file, now, all, { url, tell: (reason) => told.push(reason) });
  onTestFinished(() => counters.close());
  return { file, counters, told };
};

const ask = async <T extends object>(url: string, text: string): Promise<T[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(text);
  await client.end();
  return rows as T[];
};

describe('counters that several servers have in common', () => {
  it('T12: add up, and count a client once whichever server it reports to, also where both do at once', async () => {
    const url = await newDatabase();
    const [first, second, third] = [openServer(url), openServer(url), openServer(url)];
    const servers = [first, second, third];
    const downloads = Array.from({ length: 10 }, (_, number) => one(`p${number}`));
    const reported = servers.flatMap(({ counters }, place) =>
      Array.from({ length: 10 }, (_, client) => [
        counters.add(downloads, `192.0.2.${client}`),
        counters.add([one('own')], `198.51.100.${place * 10 + client}`),
      ]).flat(),
    );
    await Promise.all(reported);
    for (const { counters } of servers) {
      await expect.poll(async () => (await counters.read('own')).total).toBe(30);
      await expect.poll(async () => (await counters.read('p7')).total).toBe(10);
      expect(await counters.read('p9')).toEqual({
        ...{ package_id: 'p9', total: 10, last_30_days: 10 },
        daily: [{ day: '2026-05-01', count: 10 }],
      });
    }
  });

  it('T12: are kept while the database is away, told of once, and sent when it is back; reports do not wait', async () => {
    const { url, state, cut } = await openWay(await newDatabase());
    cut();
    const { counters, told, file } = openServer(url, { keyTimeout: 50 });
    // The operator need not wait for somebody who reports.
    await expect.poll(() => told).toHaveLength(1);
    expect(await counters.add([one('a')], 'n1')).toBe(1);
    expect(await counters.add([one('a')], 'n1')).toBe(0);
    await expect(counters.read('a')).rejects.toBeInstanceOf(Unavailable);
    expect(await counters.probe()).toBe(true);
    expect(await counters.add([one('a')], 'n2')).toBe(1);
    await counters.close();
    expect(told).toEqual([expect.stringMatching(/ECONN|terminated|closed/)]);
    // Another process of the same server, while it is still away and after.
    const again = openServer(url, { file, keyTimeout: 50 });
    expect(await again.counters.add([one('a')], 'n2'), 'after a restart').toBe(0);
    expect(await again.counters.add([one('a')], 'n3')).toBe(1);
    state.isOpen = true;
    await expect.poll(async () => (await again.counters.read('a').catch(() => undefined))?.total).toBe(3);
    await expect.poll(() => again.told).toEqual([expect.any(String), undefined]);
  });

  it('leave a database that is away alone until it is time to try again', async () => {
    const { url, state, cut } = await openWay(await newDatabase());
    cut();
    const { counters, told } = openServer(url, { keyTimeout: 50, retryInterval: 3_600_000 });
    await expect.poll(() => told).toHaveLength(1);
    const { refused } = state;
    for (let client = 0; client < 20; client++) {
      expect(await counters.add([one('a')], `n${client}`)).toBe(1);
      await expect(counters.read('a')).rejects.toBeInstanceOf(Unavailable);
    }
    expect(state.refused).toBe(refused);
  });

  it('T12: keep no report waiting for a database that does not answer', async () => {
    const taken: Socket[] = [];
    const silent = createServer((socket) => void taken.push(socket.on('error', () => {})));
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const { port } = silent.address() as AddressInfo;
    const { counters, told } = openServer(`postgres://user@127.0.0.1:${port}/counters`, { keyTimeout: 50 });
    onTestFinished(() => {
      for (const socket of taken) socket.destroy();
      silent.close();
    });
    expect(await counters.add([one('a')], 'n1')).toBe(1);
    // It is told of when it has not answered for seconds.
    expect(told).toEqual([]);
  });

  it('T12: are kept behind a pooler, too, which knows no bounds of a connection', async () => {
    const url = await newDatabase();
    const pooler = await openPooler(url, 'refused');
    const { counters } = openServer(pooler.url);
    await counters.add([one('behind')], '192.0.2.1');
    await expect.poll(async () => (await counters.read('behind')).total).toBe(1);
    expect(await ask(url, 'SELECT count FROM downloads')).toEqual([{ count: '1' }]);
    const shared = openSharedDownloads(pooler.url, limits);
    onTestFinished(shared.close);
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    await other.query('BEGIN; LOCK TABLE downloads_marking IN EXCLUSIVE MODE');
    // The database ends the wait, not the client.
    await expect(shared.markOf('2026-05-01')).rejects.toMatchObject({ code: '55P03' });
    await other.end();
  });

  it('T12: refuse what would be too much to keep', async () => {
    const { url, cut } = await openWay(await newDatabase());
    cut();
    const { counters } = openServer(url, { keyTimeout: 50, unsent: 3 });
    expect(await counters.add([one('a'), one('b')], 'n1')).toBe(2);
    await expect(counters.add([one('a'), one('b')], 'n2')).rejects.toBeInstanceOf(Unavailable);
    expect(await counters.add([one('c')], 'n2')).toBe(1);
  });

  it('T12: count once what was sent again, where the answer to a commit was lost', async () => {
    const { url, state } = await openWay(await newDatabase());
    const { counters, told } = openServer(url);
    expect(await counters.add([one('a')], 'n0')).toBe(1);
    await expect.poll(async () => (await counters.read('a')).total).toBe(1);
    state.losesCommits = 2;
    for (let number = 1; number <= 20; number++) expect(await counters.add([one('a')], `n${number}`)).toBe(1);
    await expect.poll(() => state.losesCommits).toBe(0);
    await expect.poll(async () => (await counters.read('a').catch(() => undefined))?.total).toBe(21);
    expect(told).toContain(undefined);
    await counters.close();
    expect(await ask(url, `SELECT count FROM downloads`)).toEqual([{ count: '21' }]);
  });

  it('T12: count until the most of a day also where what was counted could not be written', () => {
    const outbox = openOutbox(newFile(), { ...limits, perDay: 3 });
    onTestFinished(outbox.close);
    const full = (): Uint8Array => {
      throw new Error('database or disk is full');
    };
    const report = (network: string, ...names: string[]) => ({ network, downloads: names.map((name) => one(name)) });
    expect(outbox.add('2026-05-01', [report('n1', 'a')], undefined)).toEqual([1]);
    for (let time = 0; time < 3; time++) {
      const markOf = (network: string) => (network === 'n2' ? full() : new Uint8Array(16));
      const reports = [report('n1', 'b'), report('n2', 'a')];
      expect(() => outbox.add('2026-05-01', reports, markOf)).toThrow('full');
    }
    expect(outbox.add('2026-05-01', [report('n1', 'b', 'c', 'd')], undefined)).toEqual([2]);
  });

  it('keep no mark of a day that is over of what could not be sent', () => {
    const outbox = openOutbox(newFile(), limits);
    onTestFinished(outbox.close);
    const marksOf = () => outbox.next()?.counts.map(({ mark }) => mark);
    outbox.add('2026-05-01', [{ network: 'n1', downloads: [one('a')] }], () => new Uint8Array(16));
    expect(marksOf()).toEqual([new Uint8Array(16)]);
    outbox.tidy('2026-05-01');
    expect(marksOf()).toEqual([new Uint8Array(16)]);
    outbox.tidy('2026-05-02');
    expect(marksOf()).toEqual([null]);
  });

  it('leave no file open that cannot be read', () => {
    const file = newFile();
    writeFileSync(file, 'no database'.repeat(1_000));
    const close = vi.spyOn(DatabaseSync.prototype, 'close');
    onTestFinished(() => close.mockRestore());
    expect(() => openOutbox(file, limits)).toThrow('file is not a database');
    expect(close).toHaveBeenCalledOnce();
  });

  it('T15: lose nothing where the file or the database is one of before', async () => {
    const url = await newDatabase();
    const shared = openSharedDownloads(url, limits);
    const file = newFile();
    const outbox = openOutbox(file, limits);
    const send = async () => {
      const batch = outbox.next();
      if (batch === undefined) return false;
      const taken = await shared.take('2026-05-01', batch);
      if (taken) outbox.confirm(batch);
      else outbox.rename();
      return taken;
    };
    const report = (network: string) => outbox.add('2026-05-01', [{ network, downloads: [one('a')] }], undefined);
    report('n1');
    const [first] = [outbox.next()];
    expect(first).toMatchObject({ number: 1, counts: [{ package_id: 'a', count: 1, mark: null }] });
    report('n2');
    expect(outbox.next(), 'what could not be sent for certain stays as it is').toEqual(first);
    // Sent twice, because nobody heard that it had arrived.
    expect(await shared.take('2026-05-01', first as NonNullable<typeof first>)).toBe(true);
    expect(await send()).toBe(true);
    expect(await send()).toBe(true);
    expect(await shared.take('2026-05-01', first as NonNullable<typeof first>), 'long after').toBe(false);
    // A file from before: the database has had its number.
    const database = new DatabaseSync(file);
    database.exec('UPDATE sender SET number = 1');
    report('n3');
    expect([await send(), await send()]).toEqual([false, true]);
    // A database from before: it misses some of its numbers.
    database.exec('UPDATE sender SET number = 9');
    report('n4');
    expect([await send(), await send(), outbox.size]).toEqual([false, true, 0]);
    expect(await shared.read('a')).toEqual(new Map([['2026-05-01', 4]]));
    database.close();
    outbox.close();
    await shared.close();
  });

  it('T12: send what they have when they end', async () => {
    const url = await newDatabase();
    const { counters } = openServer(url, { sendInterval: 3_600_000 });
    expect(await counters.add([one('a')], 'n1')).toBe(1);
    await counters.close();
    expect(await ask(url, 'SELECT package_id, count FROM downloads')).toEqual([{ package_id: 'a', count: '1' }]);
  });

  it('keep no mark of a count that came after its day', async () => {
    const url = await newDatabase();
    const shared = openSharedDownloads(url, limits);
    const count = { day: '2026-04-30', package_id: 'a', package_version: '1', count: 1, mark: Buffer.from('mark') };
    const batch = { sender: randomUUID(), number: 1, counts: [count] };
    expect(await shared.take('2026-05-01', batch)).toBe(true);
    expect(await shared.read('a')).toEqual(new Map([['2026-04-30', 1]]));
    expect(await ask(url, 'SELECT mark FROM downloads_mark')).toEqual([]);
    await shared.close();
  });

  it('take over what a server counted alone, and tell the same totals', async () => {
    const url = await newDatabase();
    const file = newFile();
    const alone = openDownloadsStore(file, { ...limits, counters: 2 });
    for (const [on, id, clients] of [
      ['2026-03-01', 'b', 3],
      ['2026-04-30', 'a', 2],
      ['2026-04-30', 'Z', 2],
      ['2026-05-01', 'a', 4],
    ] as const)
      alone.add(
        on,
        Array.from({ length: clients }, (_, client) => ({ network: `n${client}`, downloads: [one(id)] })),
      );
    alone.close();
    const told = readDownloadTotals(file, '2026-05-01', 10);
    const { counters } = openServer(url, { file });
    await expect.poll(async () => (await counters.read('a')).total).toBe(6);
    expect(await readSharedTotals(url, '2026-05-01', 10)).toEqual(told);
    expect(await readSharedTotals(url, '2026-05-01', 1)).toEqual(told.slice(0, 1));
    // 30 of April is not one of the last thirty days by then.
    expect((await readSharedTotals(url, '2026-05-31', 10)).map(({ last_30_days: month }) => month)).toEqual([0, 0, 0]);
  });

  it('keep no mark and no key of a day that is over, and let two clocks differ by a day', async () => {
    const url = await newDatabase();
    let today = new Date('2026-05-01T23:59:00Z');
    const first = openServer(url, { now: () => today });
    const keys = () => ask<{ day: string }>(url, 'SELECT day FROM downloads_marking');
    expect(await first.counters.add([one('a')], 'n1')).toBe(1);
    await expect.poll(async () => (await ask(url, 'SELECT mark FROM downloads_mark')).length).toBe(1);
    const second = openServer(url, { now: () => new Date(today.getTime() + 120_000) });
    expect(await second.counters.add([one('a')], 'n2')).toBe(1);
    await expect.poll(async () => (await second.counters.read('a')).total).toBe(2);
    expect(await keys()).toEqual([{ day: '2026-05-02' }]);
    expect(await first.counters.add([one('a')], 'n3')).toBe(1);
    await expect.poll(async () => (await first.counters.read('a')).total).toBe(3);
    expect(await keys()).toEqual([{ day: '2026-05-02' }]);
    today = new Date('2026-05-03T00:00:00Z');
    expect(await first.counters.add([one('a')], 'n1')).toBe(1);
    await expect.poll(keys).toEqual([{ day: '2026-05-03' }]);
    await expect.poll(async () => (await ask(url, 'SELECT mark FROM downloads_mark')).length).toBe(1);
  });

  it('destroy the marks of a day that is over also where the database was away when it ended', async () => {
    const database = await newDatabase();
    const before = openServer(database);
    await before.counters.add([one('a')], 'n1');
    await before.counters.close();
    const marks = () => ask(database, 'SELECT mark FROM downloads_mark');
    expect(await marks()).toHaveLength(1);
    const { url, state, cut } = await openWay(database);
    cut();
    // Nobody reports any more.
    const { told } = openServer(url, { now: () => new Date(day.getTime() + 86_400_000), tidyInterval: 20 });
    await expect.poll(() => told).toHaveLength(1);
    state.isOpen = true;
    await expect.poll(marks).toEqual([]);
  });

  it('leave no mark of a day that is over where a server sends it after another has noticed', async () => {
    const url = await newDatabase();
    let today = new Date('2026-05-01T12:00:00Z');
    const [first, second] = [openServer(url, { now: () => today }), openServer(url, { sendInterval: 3_600_000 })];
    const days = async () =>
      (await ask<{ day: string }>(url, 'SELECT day FROM downloads_marking')).map((row) => row.day);
    expect(await second.counters.add([one('a')], 'n1')).toBe(1);
    expect(await days()).toEqual(['2026-05-01']);
    today = new Date('2026-05-02T00:00:00Z');
    expect(await first.counters.add([one('a')], 'n1')).toBe(1);
    await expect.poll(days).toEqual(['2026-05-02']);
    const marks = async () => (await ask(url, 'SELECT mark FROM downloads_mark')).length;
    await expect.poll(marks).toBe(1);
    await second.counters.close();
    expect((await first.counters.read('a')).daily).toEqual([
      { day: '2026-05-01', count: 1 },
      { day: '2026-05-02', count: 1 },
    ]);
    expect(await marks()).toBe(1);
  });

  it.skipIf(!hasClients)('T15: are taken along by a server that counts alone again, as the manual says', async () => {
    const url = await newDatabase();
    const { counters } = openServer(url);
    for (const network of ['n1', 'n2']) expect(await counters.add([one('a'), one('b', '2, "x"')], network)).toBe(2);
    await counters.close();
    await ask(url, "INSERT INTO downloads_beyond VALUES ('a', 40), ('c', 1)");
    const file = newFile();
    const alone = () => createDownloads(file, () => day, { taskTimeout: 20_000 });
    const before = alone();
    expect(await before.add([one('a')], 'n3')).toBe(1);
    await before.close();
    const script = manualBlock('sh', 'sqlite3').replace('/var/lib/debdex/state/downloads.sqlite', '"$FILE"');
    const { stderr, status } = spawnSync('sh', ['-ec', script], {
      ...{ cwd: temporaryFolder(), encoding: 'utf8', env: { ...process.env, OLD: url, FILE: file } },
    });
    expect([stderr, status]).toEqual(['', 0]);
    const after = alone();
    const totals = await Promise.all(['a', 'b', 'c'].map(async (id) => (await after.read(id)).total));
    expect(totals).toEqual([43, 2, 1]);
    expect(await after.add([one('a')], 'n4')).toBe(1);
    expect((await after.read('a')).daily).toEqual([{ day: '2026-05-01', count: 4 }]);
    await after.close();
  });

  it('T15: begin anew where their tables are dropped as the manual says, without counting again what was sent', async () => {
    const url = await newDatabase();
    const first = openServer(url);
    expect(await first.counters.add([one('a')], 'n1')).toBe(1);
    await first.counters.close();
    await ask(url, manualBlock('sql', 'DROP TABLE'));
    const left = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'";
    expect(await ask(url, left)).toEqual([]);
    const again = openServer(url, { file: first.file });
    expect(await again.counters.add([one('a')], 'n2')).toBe(1);
    await again.counters.close();
    expect(await ask(url, 'SELECT package_id, count FROM downloads')).toEqual([{ package_id: 'a', count: '1' }]);
  });

  it('are left alone by a program that does not know their tables', async () => {
    const url = await newDatabase();
    await openServer(url).counters.read('a');
    await ask(url, 'UPDATE downloads_schema SET version = 99');
    const { counters, told } = openServer(url);
    expect(await counters.add([one('a')], 'n1')).toBe(1);
    await expect.poll(() => told[0]).toMatch(/version 99/);
    expect(await ask(url, 'SELECT * FROM downloads')).toEqual([]);
    await expect(readSharedTotals(url, '2026-05-01', 10)).rejects.toThrow('version 99');
  });

  it('T12: beyond the daily counts that are kept add to totals what is new, and go on with what is known', async () => {
    const shared = openSharedDownloads(await newDatabase(), { ...limits, counters: 2 });
    onTestFinished(() => shared.close());
    const sender = randomUUID();
    const today = '2026-05-01';
    for (const [number, ids] of [
      [1, ['a', 'b', 'c']],
      [2, ['a', 'c', 'd']],
    ] as const) {
      const counts = ids.map((id) => ({ ...one(id), day: today, count: 1, mark: null }));
      expect(await shared.take(today, { sender, number, counts })).toBe(true);
    }
    const read = await Promise.all(['a', 'b', 'c', 'd'].map(async (id) => [...(await shared.read(id))]));
    expect(read).toEqual([[[today, 2]], [[today, 1]], [['', 2]], [['', 1]]]);
  });

  it('T12: count once what a server sends again that was away since the days before', async () => {
    const shared = openSharedDownloads(await newDatabase(), limits);
    onTestFinished(() => shared.close());
    const counts = [{ ...one('a'), day: '2026-05-01', count: 1, mark: null }];
    const batch = { sender: randomUUID(), number: 1, counts };
    for (const today of ['2026-05-01', '2026-05-02', '2026-06-01']) {
      await shared.tidy(today);
      expect(await shared.take(today, batch)).toBe(true);
    }
    expect(await shared.read('a')).toEqual(new Map([['2026-05-01', 1]]));
  });

  it('T12: forget a server that has sent nothing for as long as counts are kept, and none sooner', async () => {
    const url = await newDatabase();
    const shared = openSharedDownloads(url, { ...limits, days: 9 });
    onTestFinished(() => shared.close());
    await shared.take('2026-05-01', { sender: randomUUID(), number: 1, counts: [] });
    const left: number[] = [];
    for (const today of ['2026-05-10', '2026-05-11']) {
      await shared.tidy(today);
      left.push((await ask(url, 'SELECT name FROM downloads_sender')).length);
    }
    expect(left).toEqual([1, 0]);
  });

  it('T12: lose nothing where two processes send from one file, and one is told late what arrived', () => {
    const file = newFile();
    const [first, second] = [openOutbox(file, limits), openOutbox(file, limits)];
    onTestFinished(() => {
      for (const outbox of [first, second]) outbox.close();
    });
    const report = (outbox: typeof first, id: string) =>
      outbox.add('2026-05-01', [{ network: 'n1', downloads: [one(id)] }], undefined);
    report(first, 'a');
    const batch = first.next();
    if (batch === undefined) throw new Error('There is nothing to send.');
    expect(second.next()).toEqual(batch);
    second.confirm(batch);
    report(second, 'b');
    const next = second.next();
    expect(next).toMatchObject({ number: batch.number + 1, counts: [{ package_id: 'b' }] });
    first.confirm(batch);
    expect(second.next()).toEqual(next);
    // Nor is what another sender has under that number.
    second.rename();
    const renamed = second.next();
    expect(renamed).toMatchObject({ number: batch.number, counts: [{ package_id: 'b' }] });
    first.confirm(batch);
    expect(second.next()).toEqual(renamed);
  });

  it('T12: go on where another process has sent what this one counted into their file', async () => {
    const url = await newDatabase();
    let today = day;
    const times = { now: () => today, sendInterval: 3_600_000, tidyInterval: 5 };
    const { file, counters } = openServer(url, times);
    expect(await counters.add([one('a')], 'n1')).toBe(1);
    const outbox = openOutbox(file, limits);
    const shared = openSharedDownloads(url, limits);
    for (let batch = outbox.next(); batch !== undefined; batch = outbox.next()) {
      if (await shared.take('2026-05-01', batch)) outbox.confirm(batch);
    }
    outbox.close();
    await shared.close();
    // On the day after, it sends what is left before it tidies.
    today = new Date('2026-05-02T12:00:00Z');
    await expect.poll(() => ask(url, 'SELECT day FROM downloads_marking')).toEqual([{ day: '2026-05-02' }]);
    expect(await counters.add([one('a')], 'n1')).toBe(1);
    expect((await counters.read('a')).total).toBe(2);
  });

  it('T12: keep as many days as they may, and believe that more are over only a clock that seven days of counts bear out', async () => {
    const url = await newDatabase();
    const shared = openSharedDownloads(url, { ...limits, days: 9 });
    onTestFinished(() => shared.close());
    await shared.tidy('2026-05-01');
    const count = (...days: string[]) =>
      ask(url, `INSERT INTO downloads VALUES ${days.map((each) => `('${each}', 'a', '1.0', 1)`).join(', ')}`);
    const leftAt = async (today: string) => {
      while (await shared.tidy(today));
      const rows = await ask<{ day: string }>(url, 'SELECT day FROM downloads ORDER BY day');
      return rows.map((row) => row.day.slice(5));
    };
    await count('2026-05-01', '2026-05-02', '2026-05-20', '2026-05-21', '2026-05-22', '2026-05-23');
    expect(await leftAt('2026-05-23')).toEqual(['05-01', '05-02', '05-20', '05-21', '05-22', '05-23']);
    // The seventh day is the first that the clock need not have been wrong about; what it does not reach back to goes.
    await count('2026-05-10', '2026-05-11', '2026-05-12');
    expect(await leftAt('2026-05-23')).toEqual([
      '05-02',
      '05-10',
      '05-11',
      '05-12',
      '05-20',
      '05-21',
      '05-22',
      '05-23',
    ]);
    // A day after today counts for nothing.
    await count('2026-05-24', '2026-05-25');
    expect((await leftAt('2026-05-23'))[0]).toBe('05-02');
    expect((await leftAt('2026-05-24'))[0]).toBe('05-10');
    expect(await shared.read('a')).toMatchObject({ size: 10 });
  });

  it('T12: fold a day of more counts than one statement takes whole, one server at a time', async () => {
    const url = await newDatabase();
    const open = () => {
      const shared = openSharedDownloads(url, { ...limits, counters: 100_000, perDay: 100_000 });
      onTestFinished(() => shared.close());
      return shared;
    };
    const [first, second] = [open(), open()];
    await first.tidy('2026-05-01');
    await ask(
      url,
      `INSERT INTO downloads SELECT '2026-05-0' || day, 'p' || number, '1.0', day
       FROM generate_series(1, 2) AS day, generate_series(1, 51000) AS number`,
    );
    // Another folds for longer than a lock may be waited for.
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    await other.query('SELECT pg_advisory_lock($1)', [foldingLock]);
    expect(await first.tidy('2026-05-03')).toBe(true);
    expect(await ask(url, 'SELECT * FROM downloads_beyond')).toEqual([]);
    await other.end();
    const tidyWhole = async (server: typeof first) => {
      while (await server.tidy('2026-05-03'));
    };
    await Promise.all([tidyWhole(first), tidyWhole(second)]);
    expect(await ask(url, 'SELECT DISTINCT day FROM downloads')).toEqual([{ day: '2026-05-02' }]);
    expect(await ask(url, 'SELECT count(*)::int AS rows, sum(count)::int AS sum FROM downloads_beyond')).toEqual([
      { rows: 51_000, sum: 51_000 },
    ]);
    // A day that is not over is kept, however much it has.
    const small = openSharedDownloads(url, { ...limits, counters: 100 });
    onTestFinished(() => small.close());
    expect(await small.tidy('2026-05-02')).toBe(false);
    expect(await second.read('p51000')).toEqual(
      new Map([
        ['2026-05-02', 2],
        ['', 1],
      ]),
    );
  });

  it('T12: are tidied for the day it is, however long another server folds: marks of today outlive that', async () => {
    const url = await newDatabase();
    let today = day;
    openServer(url, { now: () => today, tidyInterval: 5 });
    const markingOf = async () => (await ask<{ day: string }>(url, 'SELECT day FROM downloads_marking'))[0]?.day;
    await expect.poll(() => markingOf().catch(() => undefined)).toBe('2026-05-01');
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    onTestFinished(() => other.end());
    await other.query('SELECT pg_advisory_lock($1)', [foldingLock]);
    await ask(url, 'CREATE TABLE made (day text)');
    await ask(
      url,
      `CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO made VALUES (NEW.day); RETURN NEW; END';
       CREATE TRIGGER note AFTER INSERT ON downloads_marking FOR EACH ROW EXECUTE FUNCTION note()`,
    );
    const triesOf = async () =>
      (
        await ask<{ tries: number }>(
          url,
          "SELECT seq_scan::int AS tries FROM pg_stat_user_tables WHERE relname = 'downloads_marking'",
        )
      )[0]?.tries ?? 0;
    // As on an evening, and two days after that.
    for (const date of ['2026-05-02', '2026-05-04']) {
      today = new Date(`${date}T12:00:00Z`);
      await expect.poll(markingOf).toBe(date);
      const before = await triesOf();
      await expect.poll(triesOf, { timeout: 20_000 }).toBeGreaterThan(before + 6);
    }
    expect(await ask(url, 'SELECT day FROM made')).toEqual([{ day: '2026-05-02' }, { day: '2026-05-04' }]);
  });
});
