import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import pg from 'pg';
import { describe, expect, it, onTestFinished, test, vi } from 'vitest';
import { Unavailable } from '../../functions/dependencies.ts';
import { createDownloads } from '../../functions/node/download-counters.ts';
import { openDownloadsStore } from '../../functions/node/downloads-store.ts';
import { countsOf, dailyCounts, one, readCounts } from '../support/download-counts.ts';
import { temporaryFolder } from '../support/folder.ts';
import { newDatabase } from '../support/new-database.ts';
import { patience } from '../support/patience.ts';

const day = new Date('2026-05-01T12:00:00Z');

const many = (start: string, count: number) => Array.from({ length: count }, (_, index) => one(`${start}${index}`));
const network = (number: number) => `192.0.2.${number}`;

/** The database that the counters of a file are sent to, where they are. */
const databases = new Map<string, string>();

const readCounters = async (file: string): Promise<Record<string, number>> => {
  const url = databases.get(file);
  return url === undefined ? readCounts(file) : countsOf(await readDatabase(file, url));
};

const unsentIn = (file: string): number => {
  const database = new DatabaseSync(file, { readOnly: true });
  const unsent = Number(database.prepare('SELECT count(*) AS unsent FROM unsent').get()?.unsent);
  database.close();
  return unsent;
};

const readDatabase = async (file: string, url: string): Promise<Record<string, unknown>[]> => {
  await expect.poll(() => unsentIn(file), patience).toBe(0);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(dailyCounts);
  await client.end();
  return rows;
};

const stores = {
  'in a file': async () => undefined,
  'in a database that several servers have in common': newDatabase,
};

describe.each(Object.entries(stores))('download counters %s', (kind, newStore) => {
  const openCounters = async (limits: Parameters<typeof createDownloads>[2] = {}, now = () => day) => {
    const file = path.join(temporaryFolder(), 'downloads.sqlite');
    const url = await newStore();
    if (url !== undefined) databases.set(file, url);
    const open = () => {
      const all = { taskTimeout: 20_000, sendInterval: 5, keyTimeout: 20_000, ...limits };
      const counters = createDownloads(file, now, all, url === undefined ? undefined : { url, tell: () => {} });
      onTestFinished(() => counters.close());
      return counters;
    };
    return { file, counters: open(), reopen: open };
  };
  const itOfFile = it.skipIf(kind !== 'in a file');

  it('T12: count a version once for each network and day, and survive a restart', async () => {
    let today = day;
    const { file, counters, reopen } = await openCounters({}, () => today);
    expect(await counters.add([one('a'), one('a'), one('a', '2.0'), one('b')], network(1))).toBe(3);
    expect(await counters.add([one('a')], network(1))).toBe(0);
    expect(await counters.add([one('a')], network(2))).toBe(1);
    await counters.close();
    const again = reopen();
    expect(await again.add([one('a')], network(1)), 'after a restart').toBe(0);
    expect(await again.add([one("'; DROP TABLE downloads; --")], network(1))).toBe(1);
    today = new Date('2026-05-02T00:00:00Z');
    expect(await again.add([one('a')], network(1)), 'on the next day').toBe(1);
    await again.close();
    expect(await readCounters(file)).toEqual({
      '2026-05-01 a 1.0': 2,
      '2026-05-01 a 2.0': 1,
      '2026-05-01 b 1.0': 1,
      "2026-05-01 '; DROP TABLE downloads; -- 1.0": 1,
      '2026-05-02 a 1.0': 1,
    });
  });

  it('are kept when the answer comes, whatever becomes of the process', async () => {
    const { file, counters } = await openCounters();
    const counts = await Promise.all(Array.from({ length: 100 }, (_, index) => counters.add([one('a')], `n${index}`)));
    expect(counts).toEqual(counts.map(() => 1));
    expect(await readCounters(file)).toEqual({ '2026-05-01 a 1.0': 100 });
  });

  it('read the total, the last 30 days and the days', async () => {
    let today = new Date('2025-01-01T12:00:00Z');
    const { counters } = await openCounters({}, () => today);
    const none = { package_id: 'a', total: 0, last_30_days: 0, daily: [] };
    expect(await counters.read('a')).toEqual(none);
    for (const [date, networks] of [
      ['2025-01-01', 4],
      ['2025-03-28', 3],
      ['2026-04-01', 2],
      ['2026-04-02', 2],
      ['2026-05-01', 1],
    ] as const) {
      today = new Date(`${date}T23:59:59Z`);
      for (let number = 0; number < networks; number++) {
        await counters.add([one('a'), one('a', '2.0'), one('b')], network(number));
      }
    }
    expect(await counters.read('a')).toEqual({
      package_id: 'a',
      total: 24,
      last_30_days: 6,
      // 400 days, the first of which is 2025-03-28.
      daily: [
        { day: '2025-03-28', count: 6 },
        { day: '2026-04-01', count: 4 },
        { day: '2026-04-02', count: 4 },
        { day: '2026-05-01', count: 2 },
      ],
    });
    expect(await counters.read('c')).toEqual({ ...none, package_id: 'c' });
  });

  it('T12: drop days that are too old from the file, and keep them in the total', async () => {
    let today = new Date('2025-01-01T12:00:00Z');
    const { file, counters } = await openCounters({ tidyInterval: 5 }, () => today);
    await counters.add([one('a'), one('b')], network(1));
    today = new Date('2025-01-02T12:00:00Z');
    await counters.add([one('a')], network(1));
    for (let date = 6; date <= 12; date++) {
      today = new Date(Date.UTC(2026, 1, date));
      await counters.add([one('c')], network(1));
    }
    // Once a day it is looked what is old, by the days that were counted till then.
    today = new Date(Date.UTC(2026, 1, 13));
    await expect
      .poll(async () => Object.keys(await readCounters(file)).filter((row) => !row.includes(' c ')))
      .toEqual([]);
    expect(await counters.read('a')).toEqual({ package_id: 'a', total: 2, last_30_days: 0, daily: [] });
    await counters.add([one('a')], network(1));
    expect(await counters.read('a')).toMatchObject({ total: 3, daily: [{ day: '2026-02-13', count: 1 }] });
    expect(await counters.read('c')).toMatchObject({ total: 7, daily: { length: 7 } });
  });

  it('T12: a clock that is years ahead for some reports takes no daily counts along', async () => {
    const days = Array.from({ length: 10 }, (_, index) => `2026-04-${String(index + 20)}`);
    let today = day;
    let folds = 0;
    const { file, counters } = await openCounters({ tidyInterval: 5 }, () => {
      folds++;
      return today;
    });
    for (const date of days) {
      today = new Date(`${date}T12:00:00Z`);
      await counters.add([one('a')], network(1));
    }
    const before = await counters.read('a');
    expect(before).toMatchObject({ total: 10, daily: { length: 10 } });
    const years = ['2029-01-01', '2029-01-02', '2031-12-31', '2028-01-01', '2027-12-01', '2027-11-01', '2027-10-01'];
    for (const ahead of years) {
      today = new Date(`${ahead}T12:00:00Z`);
      await counters.add([one('b')], network(1));
      const asked = folds;
      await expect.poll(() => folds).toBeGreaterThan(asked + 3);
    }
    today = new Date(`${days.at(-1)}T13:00:00Z`);
    await counters.add([one('b')], network(2));
    const asked = folds;
    await expect.poll(() => folds).toBeGreaterThan(asked + 3);
    expect(await counters.read('a')).toEqual(before);
    // Days that have yet to come are told by none.
    const counted = { total: 8, last_30_days: 1, daily: [{ day: days.at(-1), count: 1 }] };
    expect(await counters.read('b')).toEqual({ package_id: 'b', ...counted });
    expect(Object.keys(await readCounters(file)).filter((row) => row.includes(' a '))).toHaveLength(10);
  });

  it('T12: a flood of one client takes no other one its place', async () => {
    const { counters } = await openCounters({ perNetwork: 20, perSite: 50, perDay: 100 });
    expect(await counters.add([one('honest')], network(1))).toBe(1);
    expect(await counters.add(many('flood', 256), network(2))).toBe(20);
    expect(await counters.add(many('more', 256), network(2))).toBe(0);
    // Thousands of networks, and one site that has them.
    let taken = 0;
    for (let number = 0; number < 10; number++) {
      taken += await counters.add(many(`site${number}`, 20), `2001:db8:1:${number}`);
    }
    expect(taken).toBe(50);
    expect(await counters.add([one('honest')], '2001:db8:2:0')).toBe(1);
    expect(await counters.add(many('rest', 256), network(3))).toBe(20);
    expect(await counters.add(many('rest', 256), network(4)), 'as many as a day has').toBe(8);
    expect(await counters.read('honest')).toMatchObject({ total: 2, daily: [{ count: 2 }] });
  });

  it('T12: beyond the daily counts that are kept, what is new adds to totals, and what is old stays', async () => {
    const { counters, reopen } = await openCounters({ counters: 2 });
    expect(await counters.add([one('a'), one('b'), one('c')], network(1))).toBe(3);
    await counters.close();
    const again = reopen();
    expect(await again.add([one('a'), one('c'), one('d')], network(2))).toBe(3);
    expect(await again.read('a')).toMatchObject({ total: 2, daily: [{ day: '2026-05-01', count: 2 }] });
    // What waits to be sent to a database is told by its day, until that says that there is no more room.
    await expect.poll(() => again.read('c')).toEqual({ package_id: 'c', total: 2, last_30_days: 0, daily: [] });
    expect(await again.read('d')).toMatchObject({ total: 1 });
  });

  it('T12: a day begins with room for what it may count, for which the oldest days go into totals', async () => {
    let today = new Date('2026-05-01T12:00:00Z');
    const { file, counters } = await openCounters({ counters: 40, perDay: 100, tidyInterval: 5 }, () => today);
    for (let number = 1; number <= 4; number++) {
      today = new Date(`2026-05-0${number}T12:00:00Z`);
      await counters.add([...many('a', 9), one('b')], network(1));
    }
    const days = async () => [...new Set(Object.keys(await readCounters(file)).map((key) => key.slice(0, 10)))];
    today = new Date('2026-05-05T00:00:00Z');
    await expect.poll(days, patience).toEqual(['2026-05-02', '2026-05-03', '2026-05-04']);
    expect(await counters.read('b')).toMatchObject({ total: 4, last_30_days: 3, daily: { length: 3 } });
    expect(await counters.add([...many('c', 9), one('b')], network(1))).toBe(10);
    expect(await counters.read('c8')).toMatchObject({ total: 1, daily: [{ day: '2026-05-05', count: 1 }] });
    const after = await counters.read('b');
    expect([after.total, after.daily.at(-1)]).toEqual([5, { day: '2026-05-05', count: 1 }]);
  });

  it('T12: a day in which more is counted than there is room for keeps what it has, and makes room for the next', async () => {
    let today = new Date('2026-05-01T12:00:00Z');
    const { file, counters } = await openCounters({ counters: 40, perDay: 100, tidyInterval: 5 }, () => today);
    expect(await counters.add(many('a', 50), network(1))).toBe(50);
    await expect.poll(async () => Object.keys(await readCounters(file)).length).toBe(40);
    expect((await counters.read('a49')).total + (await counters.read('a0')).total).toBe(2);
    today = new Date('2026-05-02T00:00:00Z');
    await expect.poll(async () => Object.keys(await readCounters(file)), patience).toEqual([]);
    expect(await counters.add(many('a', 40), network(1))).toBe(40);
    expect(await counters.read('a0')).toMatchObject({ total: 2, daily: [{ day: '2026-05-02', count: 1 }] });
  });

  itOfFile('T12: what could not be written takes no place among the daily counts', async () => {
    const { file, counters } = await openCounters({ counters: 3 });
    expect(await counters.add([one('a')], network(1))).toBe(1);
    const other = new DatabaseSync(file);
    other.exec(`CREATE TRIGGER full BEFORE INSERT ON downloads WHEN new.package_id = 'full'
      BEGIN SELECT raise(ABORT, 'the disk is full'); END`);
    for (let time = 0; time < 3; time++) {
      await expect(counters.add([one('b'), one('full')], network(1))).rejects.toBeInstanceOf(Unavailable);
    }
    other.exec('DROP TRIGGER full');
    other.close();
    expect(await counters.add([one('b')], network(1))).toBe(1);
    expect(await counters.read('b')).toMatchObject({ total: 1, daily: [{ day: '2026-05-01', count: 1 }] });
  });

  it('refuse what would wait too long, and may be sent again', async () => {
    const { file, counters } = await openCounters({ waiting: 300 });
    const reports = Array.from({ length: 10 }, (_, index) => counters.add(many('a', 100), network(index)));
    const settled = await Promise.allSettled(reports);
    const refused = settled.filter(({ status }) => status === 'rejected');
    expect(refused.length).toBeGreaterThan(4);
    for (const each of refused) expect((each as PromiseRejectedResult).reason).toBeInstanceOf(Unavailable);
    expect(await counters.add(many('a', 100), network(9))).toBe(100);
    const counted = settled.length - refused.length + 1;
    expect(new Set(Object.values(await readCounters(file)))).toEqual(new Set([counted]));
  });

  it('T12: refuse a network of which much waits, so that another one is counted meanwhile', async () => {
    const { counters } = await openCounters({ waiting: 400, waitingOfNetwork: 200, writtenAtOnce: 100 });
    const flood = Array.from({ length: 10 }, () => counters.add(many('a', 100), network(1)));
    const other = counters.add([one('a0')], network(2));
    const settled = await Promise.allSettled(flood);
    expect(await other).toBe(1);
    // The first is being written, and as much waits as may.
    expect(settled.map(({ status }) => status === 'fulfilled').lastIndexOf(true)).toBe(2);
    for (const each of settled.slice(3)) expect(each).toMatchObject({ reason: { status: 429 } });
    expect(await counters.add(many('b', 100), network(1))).toBe(100);
    // One that is longer by itself could never be counted.
    expect(await counters.add(many('c', 300), network(3))).toBe(300);
  });

  it('T12: count reports of many networks in turn and a part at a time, so that none waits for all', async () => {
    const { counters } = await openCounters({ writtenAtOnce: 100 });
    const ended: string[] = [];
    const report = async (name: string, start: string, count: number, number: number) => {
      await counters.add(many(start, count), network(number));
      ended.push(name);
    };
    const long = Array.from({ length: 8 }, (_, index) => report('long', `a${index}-`, 100, 1));
    await Promise.all([...long, report('short', 'b', 1, 2)]);
    expect(ended.indexOf('short')).toBeLessThan(3);
  });

  it('T12: end with all that waits in one task, so that a slow disk does not hold up the end', async () => {
    const { file, counters } = await openCounters({ writtenAtOnce: 1 });
    const asked = vi.spyOn(Worker.prototype, 'postMessage');
    onTestFinished(() => asked.mockRestore());
    const waiting = Array.from({ length: 20 }, (_, index) => counters.add([one('a')], network(index)));
    await counters.close();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([1]));
    expect(await readCounters(file)).toEqual({ '2026-05-01 a 1.0': 20 });
    expect(asked.mock.calls.filter(([task]) => task.kind === 'add')).toHaveLength(2);
  });

  it('keep nothing of a sender beyond the day, and nothing that leads to one on it', async () => {
    let today = day;
    const { file, counters } = await openCounters({ tidyInterval: 5 }, () => today);
    const files = () => ['', '-wal'].map((ending) => file + ending).filter((name) => existsSync(name));
    const holds = (bytes: Uint8Array | string) =>
      files().some((name) => readFileSync(name).includes(Buffer.from(bytes as string)));
    await counters.add([one('a'), one('b')], '198.51.100.77');
    await counters.add([one('a')], '2001:db8:77:1');
    expect(holds('198.51.100.77') || holds('2001:db8')).toBe(false);
    const database = new DatabaseSync(file, { readOnly: true });
    const marks = ['SELECT key FROM marking', 'SELECT mark FROM mark', 'SELECT network FROM marked_network'].flatMap(
      (query) =>
        database
          .prepare(query)
          .all()
          .map((row) => Object.values(row)[0] as Uint8Array),
    );
    database.close();
    expect(marks).toHaveLength(1 + 3 + 3);
    // Each is in the file or in the log of its writes, which the thread empties into the file every now and then.
    await expect.poll(() => marks.every(holds)).toBe(true);
    // Nobody reports on the day after.
    today = new Date('2026-05-02T00:00:01Z');
    await expect.poll(() => marks.some(holds)).toBe(false);
    expect(await readCounters(file)).toEqual({ '2026-05-01 a 1.0': 2, '2026-05-01 b 1.0': 1 });
  });

  it('T12: a clock that is a day ahead in another process does not make a network count twice', async () => {
    let today = new Date('2026-05-02T00:00:01Z');
    const { counters } = await openCounters({}, () => today);
    expect(await counters.add([one('a')], network(1))).toBe(1);
    today = new Date('2026-05-01T23:59:59Z');
    expect(await counters.add([one('a'), one('b')], network(1))).toBe(1);
    // And one that was years ahead does not keep marks until then.
    today = new Date('2030-01-01T00:00:00Z');
    expect(await counters.add([one('a')], network(1))).toBe(1);
    today = new Date('2026-05-01T23:59:59Z');
    expect(await counters.add([one('a')], network(1))).toBe(1);
  });

  itOfFile('count nothing while the store cannot be written, and all of it again afterwards', async () => {
    const { file, counters } = await openCounters();
    await counters.add([one('before')], network(1));
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    await expect(counters.add([one('meanwhile')], network(1))).rejects.toBeInstanceOf(Unavailable);
    other.exec('ROLLBACK');
    other.close();
    expect(await counters.add([one('meanwhile')], network(1))).toBe(1);
    expect(Object.keys(await readCounters(file))).toEqual(['2026-05-01 before 1.0', '2026-05-01 meanwhile 1.0']);
  });

  itOfFile('say why nothing can be counted', async () => {
    const { file, counters } = await openCounters();
    writeFileSync(
      file,
      'this is no database, but a text that is longer than the head of one is: a hundred bytes or more',
    );
    await expect(counters.probe()).rejects.toThrow('file is not a database');
  });

  itOfFile('go into a new file where theirs was removed', async () => {
    const { file, counters } = await openCounters();
    await counters.add([one('a')], network(1));
    for (const ending of ['', '-wal', '-shm']) renameSync(file + ending, `${file}${ending}.away`);
    await counters.add([one('b')], network(1));
    await counters.close();
    expect(await readCounters(file)).toEqual({ '2026-05-01 b 1.0': 1 });
  });

  it('H2 end in time, however stuck the store is', async () => {
    const { file, counters } = await openCounters({ taskTimeout: 100 });
    writeFileSync(file, '');
    const other = new DatabaseSync(file);
    other.exec('BEGIN EXCLUSIVE');
    const begun = Date.now();
    await expect(counters.add([one('a')], network(1))).rejects.toBeInstanceOf(Unavailable);
    await counters.close();
    // Three tasks may take a tenth of a second each; a machine that is busy with other things adds its own.
    expect(Date.now() - begun).toBeLessThan(30_000);
    other.close();
  });
});

describe('two processes that count into one file', () => {
  it('T12: both go on counting day after day, though one of them begins each', () => {
    const file = path.join(temporaryFolder(), 'downloads.sqlite');
    const limits = { days: 400, counters: 1000, perNetwork: 100, perSite: 100, perDay: 10 };
    const [first, second] = [openDownloadsStore(file, limits), openDownloadsStore(file, limits)];
    onTestFinished(() => {
      first.close();
      second.close();
    });
    for (let number = 1; number <= 6; number++) {
      for (const [at, store] of [first, second].entries()) {
        const report = { network: network(at), downloads: many(`p${at}`, 4) };
        expect(store.add(`2026-05-0${number}`, [report]), `day ${number}`).toEqual([4]);
      }
    }
  });
});

test('T12: the most daily counts hold also where a day could not be folded', () => {
  const file = path.join(temporaryFolder(), 'downloads.sqlite');
  const store = openDownloadsStore(file, { days: 400, counters: 4, perNetwork: 4, perSite: 4, perDay: 4 });
  const other = new DatabaseSync(file);
  onTestFinished(() => {
    store.close();
    other.close();
  });
  const count = (day: string) => store.add(day, [{ network: network(1), downloads: many('p', 4) }]);
  expect(count('2026-05-01')).toEqual([4]);
  // As on a full disk, only the commit fails.
  other.exec(`CREATE TABLE kept (day TEXT REFERENCES kept_days (day) DEFERRABLE INITIALLY DEFERRED);
    CREATE TABLE kept_days (day TEXT PRIMARY KEY);
    CREATE TRIGGER keep AFTER DELETE ON downloads BEGIN INSERT INTO kept VALUES (old.day); END`);
  for (let time = 0; time < 2; time++) expect(() => store.tidy('2026-05-02')).toThrow('constraint');
  other.exec('DROP TRIGGER keep');
  expect(store.tidy('2026-05-02')).toBe(true);
  expect(store.tidy('2026-05-02')).toBe(false);
  expect(count('2026-05-02')).toEqual([4]);
  expect(count('2026-05-03')).toEqual([4]);
  expect(countsOf(other.prepare(dailyCounts).all())).toEqual(
    Object.fromEntries([0, 1, 2, 3].map((number) => [`2026-05-02 p${number} 1.0`, 1])),
  );
});

test('T12: what is counted on a day is not folded before it is over, however little room is left', () => {
  const file = path.join(temporaryFolder(), 'downloads.sqlite');
  const store = openDownloadsStore(file, { days: 400, counters: 4, perNetwork: 4, perSite: 4, perDay: 4 });
  onTestFinished(store.close);
  expect(store.add('2026-05-01', [{ network: network(1), downloads: many('p', 4) }])).toEqual([4]);
  expect(store.tidy('2026-05-01')).toBe(false);
  expect(store.read('2026-05-01', 'p0').daily).toEqual([{ day: '2026-05-01', count: 1 }]);
  expect(store.tidy('2026-05-02')).toBe(true);
});
