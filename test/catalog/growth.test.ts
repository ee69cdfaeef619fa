import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CatalogFiles } from '../../functions/node/catalog-files.ts';
import { collectExamples } from '../../scripts/examples/collect.ts';
import { readService } from '../../scripts/read-service.ts';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { readStatistics } from '../../src/catalog/reading.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import type { Examples } from '../../src/contract/openapi.ts';
import { composeLanding } from '../../src/documents/descriptions.ts';
import { publishBuild } from '../support/built.ts';
import { base, packages, type SourceRepository } from '../support/catalog.ts';
import { createPublished, type Published } from '../support/published.ts';
import { replaceFunctions } from '../support/replaced-functions.ts';

// Times tell little on a machine that does other work, and nothing of ten times the size. What is counted here is the
// same on every machine: calls of statements, rows that they give, bytes that they are given, and files put in place.

const files = { placed: 0, looked: 0 };
const { renameSync: rename, lstatSync: look, opendirSync: open } = fs;
replaceFunctions(fs, {
  renameSync: (from, to) => {
    // Those of the packages of `b` aside, each of which says when its repository changed.
    if (!/\/v2\/jailbreak\/package\/(?:com\.b|org\.both)\./.test(String(to))) files.placed++;
    rename(from, to);
  },
  lstatSync: ((...asked: Parameters<typeof look>) => {
    files.looked++;
    return look(...asked);
  }) as typeof look,
  opendirSync: (...asked) => {
    const directory = open(...asked);
    const read = directory.readSync.bind(directory);
    directory.readSync = () => {
      files.looked++;
      return read();
    };
    return directory;
  },
});

/** What some work asked of the database and of the disk. */
interface Work {
  readonly calls: number;
  readonly rows: number;
  readonly bytes: number;
  readonly files: number;
  /** How many files it looked at, by name or in a folder. */
  readonly looked: number;
}

let counts = { calls: 0, rows: 0, bytes: 0 };
/** How often each statement was called since that was forgotten. */
const called = new Map<string, number>();
/** Each statement that was prepared, and on which database. */
const prepared = new Map<string, DatabaseSync>();

const sizeOf = (value: unknown): number =>
  typeof value === 'string' || value instanceof Uint8Array ? value.length : 8;

const counted = (statement: StatementSync, sql: string): StatementSync =>
  new Proxy(statement, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...values: unknown[]) => {
        const result: unknown = Reflect.apply(member, target, values);
        if (name !== 'all' && name !== 'get' && name !== 'run' && name !== 'iterate') return result;
        counts.calls++;
        called.set(sql, (called.get(sql) ?? 0) + 1);
        for (const value of values) counts.bytes += sizeOf(value);
        if (name === 'all') counts.rows += (result as unknown[]).length;
        if (name === 'get' && result !== undefined) counts.rows++;
        if (name === 'iterate') {
          return (function* () {
            for (const row of result as Iterable<unknown>) {
              counts.rows++;
              yield row;
            }
          })();
        }
        return result;
      };
    },
  });

const { prepare } = DatabaseSync.prototype;
beforeAll(() => {
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql: string) {
    prepared.set(sql, this);
    return counted(prepare.call(this, sql), sql);
  };
});
afterAll(() => {
  DatabaseSync.prototype.prepare = prepare;
});

const measure = async (work: () => Promise<unknown>): Promise<Work> => {
  counts = { calls: 0, rows: 0, bytes: 0 };
  files.placed = 0;
  files.looked = 0;
  await work();
  return { ...counts, files: files.placed, looked: files.looked };
};

const words = ['control', 'center', 'dark', 'status', 'bar', 'lock', 'screen', 'notify', 'swipe', 'badge', 'folder'];
const wordOf = (number: number): string => words[number % words.length] ?? '';

/** So many packages as a community has them: shared words and people, several versions, relations, faults, one bytes twice. */
const stanzasOf = (count: number, slug: string, changed?: number): string =>
  packages(
    ...Array.from({ length: count }, (_, index) => ({
      Package: `com.${slug}.p${index}`,
      Version: index === changed ? '2.0' : `1.${index % 7}`,
      Architecture: index % 3 === 0 ? 'iphoneos-arm64' : 'iphoneos-arm',
      Name: `${wordOf(index)} ${wordOf(Math.floor(index / 11))} ${index}`,
      Author: `Person ${index % 50}`,
      Section: `Section ${index % 12}`,
      Depends: `com.${slug}.p${(index * 7) % count}, mobilesubstrate, firmware (>= ${9 + (index % 8)}.0)`,
      ...(index % 5 === 0 ? { Provides: `gives-${index % 20}` } : {}),
      Description: `A ${wordOf(index + 3)} for the ${wordOf(index + 5)}, number ${index}`,
    })),
    // A package of as many versions as there is room for, and packages that two repositories have with other bytes.
    ...Array.from({ length: count / 10 }, (_, index) => ({ Package: `com.${slug}.many`, Version: `1.${index}` })),
    ...Array.from({ length: count / 10 }, (_, index) => ({
      Package: `org.both.p${index}`,
      SHA256: slug.slice(0, 1).repeat(64),
    })),
  );

const repositoriesOf = (count: number, changed?: number): SourceRepository[] => [
  { slug: 'a', packages: stanzasOf(count, 'a') },
  { slug: 'b', packages: stanzasOf(count, 'b', changed) },
];

const later = new Date('2026-05-03T00:00:00Z');

describe('the work', () => {
  const [small, large] = [100, 400];
  const growth = large / small;
  const built = new Map<number, { published: Published; cold: Work; changed: Work; unchanged: Work }>();
  const of = (count: number) => built.get(count) ?? expect.unreachable();

  beforeAll(async () => {
    for (const count of [small, large]) {
      const published = createPublished();
      const build = (changed?: number, now?: Date) => publishBuild(repositoriesOf(count, changed), published, now);
      const cold = await measure(() => build());
      const changed = await measure(() => build(5, later));
      const unchanged = await measure(() => build(5, later));
      built.set(count, { published, cold, changed, unchanged });
    }
  });
  afterAll(() => {
    for (const { published } of built.values()) published.remove();
  });

  it('of a cold build is no more for each package where there are four times as many', () => {
    for (const kind of ['calls', 'rows', 'bytes', 'files', 'looked'] as const) {
      const [less, more] = [of(small).cold[kind], of(large).cold[kind]];
      expect(less, kind).toBeGreaterThan(0);
      expect(more / less, kind).toBeLessThan(growth * 1.1);
    }
  });

  it('of a build in which one package changed puts no more files in place, however many others there are', () => {
    expect(of(small).changed.files).toBeLessThan(60);
    expect(of(large).changed.files).toBeLessThanOrEqual(of(small).changed.files + 1);
    expect(of(large).changed.calls / of(small).changed.calls).toBeLessThan(growth * 1.1);
    expect(of(large).changed.bytes / of(small).changed.bytes).toBeLessThan(growth * 1.1);
  });

  it('of a build in which little changed looks at each document, and twice through their folder', () => {
    for (const kind of ['changed', 'unchanged'] as const) {
      expect(of(small)[kind].looked, kind).toBeGreaterThan(0);
      expect(of(large)[kind].looked / of(small)[kind].looked, kind).toBeLessThan(growth * 1.1);
      // Of each of two repositories, and some of both and of all.
      expect(of(large)[kind].looked, kind).toBeLessThan(3 * (2 * large + 100));
    }
  });

  it('of a build in which nothing changed writes and reads little, however many there are', () => {
    expect(of(small).unchanged.files).toBeLessThanOrEqual(of(small).changed.files);
    expect(of(large).unchanged.rows).toBeLessThan(of(large).cold.rows / 2);
    expect(of(large).unchanged.bytes).toBeLessThan(of(large).cold.bytes / 20);
  });

  it('of a build writes each row of the words once, however many repositories they are of', async () => {
    const published = createPublished();
    const slugs = Array.from({ length: 12 }, (_, index) => `r${index}`);
    called.clear();
    await publishBuild(
      slugs.map((slug) => ({ slug, packages: stanzasOf(10, slug) })),
      published,
    );
    const database = new DatabaseSync(path.join(published.state, 'catalog.sqlite'), { readOnly: true });
    for (const table of ['spelling', 'word_list', 'inner_word']) {
      const { rows } = prepare.call(database, `SELECT count(*) AS rows FROM ${table}`).get() as { rows: number };
      const writes = [...called].filter(([sql]) => sql.includes(`INTO ${table} `)).map(([, times]) => times);
      expect(rows, table).toBeGreaterThan(5);
      expect(writes, table).toEqual([rows]);
    }
    database.close();
    published.remove();
  });

  it('of a build is no more for each repository where there are four times as many', async () => {
    const build = async (count: number) => {
      const published = createPublished();
      const slugs = Array.from({ length: count }, (_, index) => `r${index}`);
      const of = (changed?: number) =>
        slugs.map((slug, index) => ({ slug, packages: stanzasOf(10, slug, index === 0 ? changed : undefined) }));
      const cold = await measure(() => publishBuild(of(), published));
      const changed = await measure(() => publishBuild(of(5), published, later));
      published.remove();
      return { cold, changed };
    };
    const [less, more] = [await build(12), await build(48)];
    for (const kind of ['calls', 'rows', 'bytes'] as const) {
      expect(more.cold[kind] / less.cold[kind], kind).toBeLessThan(growth * 1.1);
      expect(more.changed[kind] / less.changed[kind], kind).toBeLessThan(growth * 1.1);
    }
  });

  it('of a build reads for the examples of its API no more of a list than they show, however long that is', async () => {
    const examples = async (count: number): Promise<Work> => {
      const database = CatalogFile.openReadOnly(catalogPath(of(count).published.state));
      const statistics = readStatistics(database, new Date()) ?? expect.unreachable();
      const landing = composeLanding({ base, service: readService(), version: '1', site: false }, statistics, '1');
      const nothing = { failures: new Map(), seenSince: () => undefined };
      let found: Examples | undefined;
      const work = await measure(async () => {
        found = await collectExamples({ database, base, landing, ...nothing });
      });
      database.close();
      expect(Object.keys(found?.answers ?? {})).toEqual(expect.arrayContaining(['health', 'package', 'packageSearch']));
      return work;
    };
    const [less, more] = [await examples(small), await examples(large)];
    // The first package of the list has more versions, which are put in order a few times.
    expect(more.rows).toBeLessThanOrEqual(less.rows + 12 * ((large - small) / 10));
    expect(more.calls).toBeLessThanOrEqual(less.calls + 2);
  });

  const ask = async (count: number, questions: (index: CatalogFiles) => Promise<unknown>): Promise<Work> => {
    const index = new CatalogFiles(of(count).published.state);
    try {
      await index.searchPackages('warm', 1, 1);
      await questions(index);
      return await measure(() => questions(index));
    } finally {
      index.close();
    }
  };

  it.each([
    ['a word that many names have', 'control'],
    ['a beginning', 'co'],
    ['two words', 'dark status'],
    ['a typing mistake', 'controk'],
    ['a part of a word', 'ontro'],
    ['one word too many', 'dark status nonesuch'],
    ['an identifier', 'com.a.p3'],
    ['nothing that is there', 'zzzzzz'],
  ])('H7: of a search for %s does not grow with the index', async (_, question) => {
    const search = (index: CatalogFiles) => index.searchPackages(question, 10, 1);
    const [less, more] = [await ask(small, search), await ask(large, search)];
    expect(less.calls).toBeGreaterThan(0);
    expect(less.calls).toBeGreaterThan(0);
    expect(more.calls).toBeLessThanOrEqual(less.calls + 2);
    // Where a question fits up to 127, those are looked at one by one.
    expect(more.rows).toBeLessThanOrEqual(less.rows + 127);
  });

  it('H7: of known versions, latest records and a page of a list is as much as was asked for', async () => {
    const ids = Array.from({ length: 50 }, (_, number) => `com.a.p${number}`);
    for (const questions of [
      (index: CatalogFiles) => index.latest(ids, 'default'),
      (index: CatalogFiles) => index.known(ids.map((id) => ({ package_id: id, package_version: '1.0' }))),
      (index: CatalogFiles) => index.repositoryPackages('a', 10, 6),
    ]) {
      const [less, more] = [await ask(small, questions), await ask(large, questions)];
      expect(less.rows).toBeGreaterThan(0);
      expect(more.calls).toBeLessThanOrEqual(less.calls);
      expect(more.rows).toBeLessThanOrEqual(less.rows);
    }
  });

  it('H7: of no statement of a search goes through a whole table', async () => {
    prepared.clear();
    const index = new CatalogFiles(of(small).published.state);
    await index.searchPackages('control zz', 10, 1);
    const plans = [...prepared].map(([sql, database]) => ({
      sql,
      plan: prepare
        .call(database, `EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map(({ detail }) => String(detail)),
    }));
    index.close();
    // In the order of the table, a walk ends where its limit is reached.
    const isShort = (sql: string, plan: string[]) =>
      /LIMIT \?(?: OFFSET \?)?$/.test(sql) && !plan.some((detail) => detail.includes('TEMP B-TREE'));
    const through = plans
      .filter(({ plan }) => plan.some((detail) => /^SCAN (?:record|search_document|provision|document)\b/.test(detail)))
      .filter(({ sql, plan }) => !isShort(sql, plan))
      .map(({ sql }) => sql.replace(/\s+/g, ' '));
    expect(plans.length).toBeGreaterThan(10);
    expect(through).toEqual([]);
  });
});
