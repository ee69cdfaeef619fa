import fs, { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { packagePageSchema } from '../../src/contract/envelope.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { NotOfCatalog } from '../../src/documents/catalog-documents.ts';
import { linksOf } from '../../src/documents/list-pages.ts';
import { TakenCatalog } from '../../src/following/taken-catalog.ts';
import { publishBuild } from '../support/built.ts';
import { base, packages, type SourceRepository } from '../support/catalog.ts';
import { orderlessPackages } from '../support/long-list.ts';
import { createPublished, type Published } from '../support/published.ts';
import { replaceFunctions } from '../support/replaced-functions.ts';

// Every single removal and every file that gets its name is a moment at which the process may end.
const changed = { tell: (_file: string) => {} };
const { rmSync: remove, renameSync: rename } = fs;
replaceFunctions(fs, {
  rmSync: (file, options) => {
    remove(file, options);
    changed.tell(String(file));
  },
  renameSync: (from, to) => {
    rename(from, to);
    changed.tell(String(to));
  },
});

const long = (count: number): SourceRepository => ({
  slug: 'long',
  aliases: ['former'],
  packages: orderlessPackages(count),
});
const other: SourceRepository = { slug: 'other', packages: packages({ Package: 'com.example.p00007' }) };

let published: Published;
/** A build of a list of three pages, which the last test that takes it builds upon. */
let large: Published;
beforeAll(async () => {
  large = await publishBuild([long(2500), other]);
});
afterAll(() => large.remove());
beforeEach(() => {
  published = createPublished();
});
afterEach(() => {
  changed.tell = () => {};
  if (published !== large) published.remove();
});

const fileOf = (document: string): string => path.join(published.folder, document);
const read = (document: string): string => readFileSync(fileOf(document), 'utf8');
const pageOf = (number: number): string => documentPath.repositoryPackagesPage('long', number);
const pages = (): string[] => {
  const folder = path.dirname(fileOf(pageOf(1)));
  return existsSync(folder) ? readdirSync(folder).sort() : [];
};
const sliceOf = (text: string): string => text.slice(text.indexOf('"data":[') + 8, -2);
const addressOf = (number: number): string => `${base}/v2/jailbreak/repository/long/packages/${number}`;

/** What pages name, by what tells one state of a file from the next: most stay as they are from moment to moment. */
const namedBy = new Map<string, readonly (string | undefined)[]>();
const namedIn = (page: string): readonly (string | undefined)[] => {
  const { ino, mtimeNs, size } = statSync(fileOf(page), { bigint: true });
  const key = `${page} ${ino} ${mtimeNs} ${size}`;
  const known = namedBy.get(key);
  if (known !== undefined) return known;
  const found = [...read(page).matchAll(/https:\/\/index\.example(\/v2\/[^"]+)"/g)];
  const named = [...new Set(found.map(([, file]) => file))];
  namedBy.set(key, named);
  return named;
};

/** The pages, and the records in them, that name a document which is not there. */
const findDangling = (): string[] =>
  pages().flatMap((name) => {
    const named = namedIn(path.posix.join(path.posix.dirname(pageOf(1)), name));
    return named.filter((file) => !existsSync(fileOf(`${file}.json`))).map((file) => `${name} names ${file}`);
  });

describe('the list of a large repository', () => {
  it('H5: is there in pages too, which are the whole of it by the links to the next', async () => {
    published = large;
    expect(pages()).toEqual(['1.json', '2.json', '3.json']);
    const texts = [1, 2, 3].map((number) => read(pageOf(number)));
    expect(texts.map(sliceOf).join(',') === sliceOf(read(documentPath.repositoryPackages('long')))).toBe(true);
    const parsed = texts.map((text) => packagePageSchema.parse(JSON.parse(text)));
    expect(parsed.map(({ count, data }) => [count, data.length])).toEqual([
      [1000, 1000],
      [1000, 1000],
      [500, 500],
    ]);
    expect(parsed.map(({ refs }) => refs)).toEqual([
      { nextPage: addressOf(2) },
      { nextPage: addressOf(3), previousPage: addressOf(1) },
      { previousPage: addressOf(2) },
    ]);
    expect(existsSync(fileOf('v2/jailbreak/repository/other/packages'))).toBe(false);
    expect(existsSync(fileOf('v2/jailbreak/repository/former/packages'))).toBe(false);
  });

  it('P2: is made of the catalog alone by a replica, to the byte', () => {
    published = large;
    const database = CatalogFile.openReadOnly(catalogPath(published.state));
    try {
      const taken = new TakenCatalog(database);
      const whole = new Map([...taken.large()].map((one) => [one.path, one]));
      for (const number of [1, 2, 3]) {
        const document = pageOf(number);
        expect(taken.read(document)?.toString() === read(document), document).toBe(true);
        const listed = whole.get(document) ?? expect.fail('a page is larger than what is composed at once');
        const file = fileOf(`taken-${number}`);
        taken.write(listed, file);
        expect(readFileSync(file, 'utf8') === read(document), document).toBe(true);
      }
      expect(taken.read(pageOf(4))).toBeUndefined();
      expect(() => taken.documents.compose(pageOf(4))).toThrow(NotOfCatalog);
    } finally {
      database.close();
    }
  });

  it('P4: names files where files alone are named', () => {
    const record = JSON.stringify({ refs: { packages: 'https://a.test/v2/jailbreak/repository/a/packages.json' } });
    expect(linksOf(record, 2, 3)).toEqual({
      nextPage: 'https://a.test/v2/jailbreak/repository/a/packages/3.json',
      previousPage: 'https://a.test/v2/jailbreak/repository/a/packages/1.json',
    });
  });

  it('C13: keeps pages that did not change, bytes and date, and mends those that are damaged', async () => {
    published = large;
    const before = [1, 2, 3].map((number) => [read(pageOf(number)), statSync(fileOf(pageOf(number))).mtimeMs]);
    const later = new Date('2026-05-03T00:00:00Z');
    await publishBuild([long(2500), { ...other, packages: packages({ Package: 'zz' }) }], published, later);
    expect([1, 2, 3].map((number) => [read(pageOf(number)), statSync(fileOf(pageOf(number))).mtimeMs])).toEqual(before);
    rmSync(fileOf(pageOf(2)));
    await publishBuild([long(2500)], published, later);
    expect(read(pageOf(2))).toBe(before[1]?.[0]);
    expect(statSync(fileOf(pageOf(1))).mtimeMs).toBe(before[0]?.[1]);
  });

  it('C12, H5: has pages from 1,001 records on, and names nothing that is not there, whenever the build ends while it grows, shrinks and goes', async () => {
    let moments = 0;
    const onSecond: number[] = [];
    changed.tell = (file) => {
      if (!file.startsWith(published.folder) || !file.includes('/repository/')) return;
      moments++;
      expect(findDangling(), file).toEqual([]);
    };
    for (const [repositories, left] of [
      [
        [long(1001), other],
        ['1.json', '2.json'],
      ],
      [
        [long(2001), other],
        ['1.json', '2.json', '3.json'],
      ],
      [
        [long(1100), other],
        ['1.json', '2.json'],
      ],
      [[long(1000), other], []],
      [
        [long(1001), other],
        ['1.json', '2.json'],
      ],
      [[other], []],
    ] as const) {
      moments = 0;
      await publishBuild(repositories, published);
      expect(pages()).toEqual(left);
      expect(moments).toBeGreaterThan(3);
      if (left.length === 2) onSecond.push(JSON.parse(read(pageOf(2))).count);
    }
    expect(onSecond).toEqual([1, 100, 1]);
    expect(existsSync(fileOf('v2/jailbreak/repository/long'))).toBe(false);
  });
});
