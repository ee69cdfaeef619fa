import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { findDiffering, type Held, Serving } from '../../functions/cloudflare/serving.ts';
import type { CatalogDatabase } from '../../src/catalog/database.ts';
import { DocumentReading } from '../../src/catalog/document-reading.ts';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { catalogFormat } from '../../src/catalog/schema.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import type { Generation } from '../../src/contract/generation.ts';
import { olderOperations } from '../../src/contract/older-addresses/operations.ts';
import { BuiltPublication } from '../support/built-publication.ts';
import { packages, type SourceRepository } from '../support/catalog.ts';

// What answers in an object of an edge host, over the engine of Node.

/** A repository whose list is longer than what is composed before it is sent. */
const large: SourceRepository = {
  slug: 'large',
  packages: packages(
    ...Array.from({ length: 400 }, (_, at) => ({ Package: `com.example.p${at}`, Description: `${at} `.repeat(300) })),
  ),
};

interface Published {
  readonly database: CatalogDatabase;
  readonly held: Held;
  readonly generation: Generation;
}

/** What all of these tests read, and none changes. */
let published: Published & { readonly publication: BuiltPublication };
beforeAll(async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'debdex-serving-'));
  const publication = new BuiltPublication(folder);
  const generation = await publication.publish([large]);
  const database = CatalogFile.openReadOnly(catalogPath(publication.state));
  published = { database, held: { text: JSON.stringify(generation), jws: null }, generation, publication };
  return () => {
    database.close();
    rmSync(folder, { recursive: true });
  };
});

/** A catalog of which each statement tells when it is asked; what it answers from then on is of nobody's concern. */
const watched = (database: CatalogDatabase, tell: (sql: string) => void): CatalogDatabase => ({
  prepare: (sql) => {
    const statement = database.prepare<never>(sql);
    return {
      all: (...values) => {
        tell(sql);
        return statement.all(...values);
      },
      get: (...values) => {
        tell(sql);
        return statement.get(...values);
      },
      iterate: (...values) => {
        tell(sql);
        return statement.iterate(...values);
      },
    };
  },
});

const settings = {
  files: { read: async () => undefined },
  hasPages: false,
  publicKey: undefined,
  interval: 1,
  rate: 0,
  olderAddresses: true,
  downloads: undefined,
};

const serve = (database: CatalogDatabase, { held, generation }: Published, more: Partial<typeof settings> = {}) => {
  const serving = new Serving({ ...settings, ...more }, database);
  serving.use({ ...held, ...{ format: catalogFormat } }, generation);
  const ask = (target: string, headers: Record<string, string> = {}) =>
    serving.answer(new Request(`https://edge.example${target}`, { headers }));
  return { serving, ask };
};

const listOf = '/v2/jailbreak/repository/large/packages';
const search = '/v2/jailbreak/package/search?q=p1';

interface Health {
  readonly data: { readonly service_data: { readonly search_index_healthy: boolean } };
}

interface Replica {
  readonly data: { readonly replica: { number: number; age: number; confirmed: string | null; generation: number } };
}

it('E2: says from which generation it answers, how old that is, and when it was last known to be the newest', async () => {
  const { serving, ask } = serve(published.database, published);
  const replica = async () => ((await (await ask('/v2/healthz')).json()) as Replica).data.replica;
  const { number, date } = published.generation;
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(date) + 90_500 });
  onTestFinished(() => void vi.useRealTimers());
  expect(await replica()).toEqual({ generation: number, published: date, age: 90, confirmed: null });
  serving.confirm();
  expect((await replica()).confirmed).toBe(new Date(Date.parse(date) + 90_500).toISOString());
  serving.use(published.held, published.generation);
  expect((await replica()).confirmed).toBeNull();
  // A clock that is behind.
  vi.setSystemTime(Date.parse(date) - 5000);
  expect((await replica()).age).toBe(0);
});

it('E2: is not well while nothing was taken, while the catalog cannot be read, and when it was given up', async () => {
  const told: { event: string; leaf: string; reason: string }[] = [];
  const log = vi.spyOn(console, 'error').mockImplementation((line: string) => void told.push(JSON.parse(line)));
  onTestFinished(() => log.mockRestore());
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const isWell = async (serving: Serving) => {
    // What was found is kept for a while.
    vi.setSystemTime(Date.now() + 60_000);
    const answer = await serving.answer(new Request('https://edge.example/v2/healthz'));
    return ((await answer.json()) as Health).data.service_data.search_index_healthy;
  };
  const empty = new Serving(settings, published.database);
  expect(await isWell(empty)).toBe(false);
  let isBroken = false;
  const database = watched(published.database, () => {
    if (isBroken) throw new Error('disk I/O error');
  });
  const { serving } = serve(database, published);
  expect(await isWell(serving)).toBe(true);
  isBroken = true;
  told.length = 0;
  expect(await isWell(serving)).toBe(false);
  const { leaf, reason } = told.find(({ event }) => event === 'unhealthy') ?? {};
  expect([leaf, reason]).toEqual(['service_data.search_index_healthy', expect.stringContaining('disk I/O error')]);
  isBroken = false;
  expect(await isWell(serving)).toBe(true);
  serving.end();
  expect(await isWell(serving)).toBe(false);
});

it('E2: who reads while the catalog is replaced gets an error, in the place of half of two generations', async () => {
  const told = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => told.mockRestore());
  let during: (() => void) | undefined;
  const readers: number[] = [];
  const database = watched(published.database, (sql) => {
    if (sql.includes('search MATCH')) during?.();
  });
  const { serving, ask } = serve(database, published);
  expect((await ask(search)).status).toBe(200);
  during = () => {
    readers.push(serving.readers);
    serving.use(published.held, published.generation);
  };
  const answer = await ask(search);
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
  expect(new Set(readers)).toEqual(new Set([1]));
  during = undefined;
  expect([serving.readers, (await ask(search)).status]).toEqual([0, 200]);
  expect(told.mock.calls.map(([line]) => JSON.parse(line))).toEqual([
    expect.objectContaining({ event: 'fault', message: expect.stringContaining('replaced while it was read') }),
  ]);
});

it('E2: makes one large answer at a time, since several of the largest would not fit the memory of an object', async () => {
  const readers: number[] = [];
  const database = watched(published.database, (sql) => {
    if (sql.includes('search MATCH')) readers.push(serving.readers);
  });
  const { serving, ask } = serve(database, published);
  // The clock of an object stands still while it computes; here each look at it is late enough for a pause.
  let seconds = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => 1000 * seconds++);
  onTestFinished(() => clock.mockRestore());
  const answers = await Promise.all([1, 2, 3].map(() => ask(`${search}&limit=250`)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(new Set(readers)).toEqual(new Set([1]));
});

it('E2: a client that asks much at once delays another by little of it', async () => {
  const { serving } = serve(published.database, published);
  // Few records each: those of many are made one at a time anyway.
  const from = async (client: string, query: string) => {
    const headers = { 'cf-connecting-ip': client };
    await (await serving.answer(new Request(`https://edge.example${search}${query}&limit=9`, { headers }))).text();
  };
  // As in an object, where it stands still while anything is computed.
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
  onTestFinished(() => clock.mockRestore());
  let done = 0;
  const many = Array.from({ length: 40 }, async (_, at) => {
    await from('192.0.2.1', `&page=${at + 1}`);
    done++;
  });
  await from('198.51.100.7', '');
  expect(done).toBeLessThan(10);
  await Promise.all(many);
});

it('E2: a long document is composed while it is sent, who reads it is waited for, and it breaks off where the catalog is replaced', async () => {
  const { serving, ask } = serve(published.database, published);
  const whole = await ask(listOf);
  const text = published.publication.read('v2/jailbreak/repository/large/packages.json').toString();
  expect(text.length).toBeGreaterThan(256 * 1024);
  expect(await whole.text()).toBe(text);
  const answer = await ask(listOf);
  const reader = answer.body?.getReader();
  const first = await reader?.read();
  // Its beginning alone: the rest is not made before it is asked.
  expect(first?.value?.length).toBeLessThan(1000);
  // Who leaves is waited for no more.
  const other = (await ask(listOf)).body?.getReader();
  await other?.read();
  expect(serving.readers).toBe(2);
  await other?.cancel();
  expect(serving.readers).toBe(1);
  serving.end();
  await expect(
    (async () => {
      while (!(await reader?.read())?.done);
    })(),
  ).rejects.toThrow('replaced while it was read');
  expect(serving.readers).toBe(0);
});

it('H5: the tag of a long document is another where its content is, or its date', async () => {
  const tagsOf = async (database: CatalogDatabase, published: Published) => {
    const { ask } = serve(database, published);
    const answer = await ask(listOf);
    await answer.body?.cancel();
    return answer.headers.get('etag');
  };
  const tag = await tagsOf(published.database, published);
  expect(tag).toBe(await tagsOf(published.database, published));
  const changed = (change: (row: unknown[]) => unknown[]): CatalogDatabase => ({
    prepare: (sql) => {
      const statement = published.database.prepare<never>(sql);
      const isEntry = /\bdigest\b/.test(sql) && /\bpath = \?/.test(sql);
      const get = (...values: never[]) => {
        const row = statement.get(...values);
        return (row && isEntry ? change([...(row as unknown[])]) : row) as never;
      };
      return { all: statement.all.bind(statement), get, iterate: statement.iterate.bind(statement) };
    },
  });
  const otherDate = changed((row) =>
    row.map((one) => (typeof one === 'string' && /^\d{4}-.*Z$/.test(one) ? '2026-05-09T00:00:00.000Z' : one)),
  );
  const otherDigest = changed((row) => row.map((one) => (one instanceof Uint8Array ? new Uint8Array(16) : one)));
  const others = [await tagsOf(otherDate, published), await tagsOf(otherDigest, published)];
  expect(new Set([tag, ...others]).size).toBe(3);
});

it('P3: has the generation and its signature as they were taken, and none where there was none', async () => {
  const digest = hash('sha256', published.held.text);
  const textsOf = async (held: Held) => {
    const { ask } = serve(published.database, { ...published, held });
    return Promise.all(
      ['generation.json', 'generation.jws', `signatures/${digest}.jws`, 'signatures/0.jws'].map(async (name) => {
        const answer = await ask(`/v2/${name}`);
        return answer.status === 200 ? await answer.text() : answer.status;
      }),
    );
  };
  const { text } = published.held;
  expect(await textsOf(published.held)).toEqual([text, 404, 404, 404]);
  // The publication has those of earlier generations.
  expect(await textsOf({ ...published.held, jws: 'a.b.c' })).toEqual([text, 'a.b.c', 'a.b.c', 307]);
});

it('E2: a document that cannot be made of the catalog is a fault of ours for the moment, and the log says which', async () => {
  const told = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => told.mockRestore());
  let isBroken = false;
  const database = watched(published.database, (sql) => {
    if (isBroken && !/\bdigest\b/.test(sql)) throw new Error('disk I/O error');
  });
  const { ask } = serve(database, published);
  isBroken = true;
  expect((await ask('/v2/jailbreak/package/com.example.p1')).status).toBe(503);
  expect(JSON.parse(told.mock.calls[0]?.[0])).toEqual({
    event: 'fault',
    operation: expect.any(String),
    message: 'Error: disk I/O error',
  });
});

it('E1: answers at addresses from before /v2 unless it is configured not to', async () => {
  const older = '/v1/community/packages/search?query=p1';
  const { ask } = serve(published.database, published);
  expect((await ask(older)).status).toBe(200);
  const { ask: askNewer } = serve(published.database, published, { olderAddresses: false });
  // To the publication, as with whatever is not known here.
  expect((await askNewer(older)).status).toBe(307);
});

it('E2: looks at a few documents of many before a catalog is in force', async () => {
  let asked = 0;
  const database = watched(published.database, () => asked++);
  await findDiffering(database, 10);
  const few = asked;
  await findDiffering(database, 1000);
  expect(asked - few).toBeGreaterThan(10 * few);
});

it('E2: looks at no document then that is too long to be held in one piece', async () => {
  let asked = 0;
  const database = watched(published.database, (sql) => {
    if (/\bFROM record\s+WHERE id >= \?/.test(sql)) asked++;
  });
  await findDiffering(database, 1000);
  expect(asked).toBe(0);
  // The list is one, and is made by such statements.
  await (await serve(database, published).ask('/v2/jailbreak/repository/large/packages')).text();
  expect(asked).toBeGreaterThan(0);
});

it('E2: finds where documents would not have the bytes that were published', async () => {
  const { database } = published;
  expect(await findDiffering(database, 1000)).toBeUndefined();
  const altered: CatalogDatabase = {
    prepare: (sql) => {
      const statement = database.prepare<never>(sql);
      const alter = (rows: unknown[][]) =>
        rows.map((row) =>
          row.map((one) => (typeof one === 'string' ? one.replaceAll('"com.example.p7"', '"com.example.q7"') : one)),
        );
      return {
        all: (...values) => alter(statement.all(...values) as unknown[][]) as never,
        get: (...values) => {
          const row = statement.get(...values);
          return row && (alter([row])[0] as never);
        },
        iterate: (...values) => alter([...statement.iterate(...values)] as unknown[][]) as never,
      };
    },
  };
  expect(await findDiffering(altered, 10_000)).toMatch(/com\.example\.p7\b/);
});

it('E2: a client that asks more than is allowed waits, as on Node', async () => {
  const { ask } = serve(published.database, published, { rate: 3 });
  const from = (client: string) => ask(search, { 'cf-connecting-ip': client });
  const statuses: number[] = [];
  for (let asked = 0; asked < 20; asked++) statuses.push((await from('192.0.2.1')).status);
  expect(statuses.slice(0, 6)).toEqual([200, 200, 200, 200, 200, 200]);
  expect(statuses).toContain(429);
  expect((await from('198.51.100.7')).status).toBe(200);
  // Less than one in two seconds is one at once all the same.
  const { ask: seldom } = serve(published.database, published, { rate: 0.1 });
  expect([(await seldom(search)).status, (await seldom(search)).status]).toEqual([200, 429]);
});

it('E2: its log says once that the bundle has another safety list than the publication', () => {
  const told = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => told.mockRestore());
  const entry = DocumentReading.prototype.entry;
  const text = JSON.stringify(['bad.example', 'worse.example']);
  const listed = vi.spyOn(DocumentReading.prototype, 'entry').mockImplementation(function (
    this: DocumentReading,
    path: string,
  ) {
    const found = entry.call(this, path);
    if (path !== olderOperations.unsafeHosts.file) return found;
    return { date: '', size: text.length, digest: new Uint8Array(16), ...found, text };
  });
  onTestFinished(() => listed.mockRestore());
  const { serving } = serve(published.database, published);
  serving.use(published.held, published.generation);
  expect(told.mock.calls.map(([line]) => JSON.parse(line))).toEqual([
    {
      event: 'other-safety-list',
      message: expect.stringMatching(/^The safety check calls bad\.example and 1 more safe, .* Bundle with --data/),
    },
  ]);
});
