import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readEntry } from '../../src/components/client/index-entry.ts';
import { containing, correct } from '../../src/components/client/names.ts';
import { type Ordering, prepareFiles, searchFiles } from '../../src/components/client/search-files.ts';
import type { Chosen } from '../../src/results/chosen-facets.ts';
import { indexEntry, indexRoot } from '../../src/results/file-index.ts';
import { buildSearchIndex } from '../../src/site/search-index.ts';
import { SiteCatalog } from '../../src/site/site-catalog.ts';
import { lastBuild, type Source, sources, stanza, temporaryFolder, writeCatalog } from './fixture.ts';

// The scripts of the site that search the files, asked without a browser: of their host they know no more than `fetch`.
// Those of a page keep what they read, so all of these tests are of one page, whose host has another index at the end.

type Fields = Readonly<Record<string, string>>;

/** The host of the files: what is asked of it, and how it answers other than with them. */
const host = {
  asked: [] as string[],
  /** How what a cache has is to be used, by what is asked. */
  caches: new Map<string, (string | undefined)[]>(),
  answer: (_file: string): Response | undefined => undefined,
};
const { fetch } = globalThis;
const { folder, remove } = temporaryFolder();

const buildIndex = async (packages: readonly Fields[]): Promise<void> => {
  const file = path.join(folder, 'catalog.sqlite');
  const written = packages.map((fields) => stanza({ Description: 'Of somebody', ...fields })).join('');
  await writeCatalog(file, [{ ...(sources[0] as Source), packages: written }], 'https://index.example');
  const catalog = new SiteCatalog(file, lastBuild);
  await buildSearchIndex(catalog, path.join(folder, 'out', indexRoot));
  catalog.close();
};

const named = (...names: readonly string[]): Fields[] =>
  names.map((name) => ({ Package: `org.named.${name.toLowerCase().replaceAll(' ', '-')}`, Name: name }));

beforeAll(async () => {
  globalThis.fetch = async (address, options) => {
    const name = String(address).slice(String(address).indexOf(indexRoot));
    host.asked.push(name);
    host.caches.set(name, [...(host.caches.get(name) ?? []), options?.cache]);
    const file = path.join(folder, 'out', name);
    const given = host.answer(name);
    return given ?? (existsSync(file) ? new Response(readFileSync(file)) : new Response(null, { status: 404 }));
  };
  await buildIndex([
    ...named('Lamp', 'Lamps', 'Lamps Extra', 'Bold', 'Gold', 'Cable', 'Cables', 'Alphas', 'Alpha Tools Helper'),
    ...named('Snowboard', 'Snow Plough', 'Overblown', 'Unblownaways', 'Many Letters'),
    ...named(...Array.from({ length: 10 }, (_, number) => `Unit${number}`)),
    { Package: 'org.builds.arm', Name: 'Far Zone', Architecture: 'iphoneos-arm' },
    { Package: 'org.builds.all', Name: 'My Zone', Architecture: 'all' },
    { Package: 'org.builds.area', Name: 'Area Zone', Section: 'Themes' },
    { Package: 'org.text.a', Name: 'Aaa', Description: 'Common words of a text' },
    { Package: 'org.text.b', Name: 'Bbb', Description: 'Common words of another' },
    { Package: 'org.text.c', Name: 'Ccc', Description: 'A seldom words' },
    { Package: 'org.text.d', Name: 'Common', Description: 'Of nobody' },
  ]);
});
afterAll(() => {
  globalThis.fetch = fetch;
  remove();
});
beforeEach(() => {
  host.asked.length = 0;
  host.caches.clear();
  host.answer = () => undefined;
});

const namesOf = async ({ read }: Awaited<ReturnType<typeof searchFiles>>) =>
  (await read(0, 20)).map(({ name }) => name);
const ask = async (text: string, chosen: Chosen = {}, order: Ordering = {}) =>
  namesOf(await searchFiles(text, chosen, order));
const lists = (asked: readonly string[] = host.asked) => asked.filter((name) => name.startsWith('search-index/names/'));

// Before anything else was read.
describe('the entry of the index', () => {
  it('is read once by all who ask, after another comparison of what a cache has, and again after a failure', async () => {
    host.answer = () => new Response('{}', { status: 503 });
    await expect(Promise.all([readEntry(), readEntry()])).rejects.toThrow('503');
    expect(host.asked).toEqual([indexEntry]);
    host.answer = () => undefined;
    const first = await readEntry();
    expect(await readEntry()).toBe(first);
    expect(host.asked).toEqual([indexEntry, indexEntry]);
    expect((await readEntry(true)).text).toBe(first.text);
    expect(host.asked).toHaveLength(3);
    expect(host.caches.get(indexEntry)).toEqual(['no-cache', 'no-cache', 'no-cache']);
  });
});

describe('what a typed name may mean', () => {
  it('is not known where the host does not answer, which is asked again', async () => {
    host.answer = (file) => (lists([file]).length > 0 ? new Response('', { status: 503 }) : undefined);
    await expect(correct('lampp')).rejects.toThrow('names: 503');
    // Nothing was found, and that is what is said.
    expect(await ask('lampp')).toEqual([]);
    host.answer = () => undefined;
    expect(await correct('lampp')).toEqual(['lamps', 'lamp']);
  });

  it('is in no list that the host refuses, or has a page for: none is as long as that', async () => {
    host.answer = (file) => {
      if (file.endsWith('/15.json')) return new Response('', { status: 403 });
      const page = { headers: { 'content-type': 'text/html; charset=utf-8' } };
      return file.endsWith('/14.json') ? new Response('<p>Here?</p>', page) : undefined;
    };
    expect(await correct('alphatoolshelpr')).toEqual(['alphatoolshelper']);
    expect(lists()).toEqual([16, 15, 14].map((length) => `search-index/names/${length}.json`));
  });

  it('is first what has a letter more, then as many, then one less, and before these what begins so', async () => {
    expect(await correct('cabls')).toEqual(['cables', 'cable']);
    expect(await correct('gbold')).toEqual(['gold', 'bold']);
    expect(await correct('gold')).toEqual([]);
  });

  it('is one of eight at most, and of several words each by itself, unless it is one', async () => {
    expect(await correct('unitx')).toHaveLength(8);
    expect(await correct('alpha tolls helpr')).toEqual(['alpha tools helper']);
    expect(await correct('alpha tools helper')).toEqual([]);
    const seven = 'alpha tools helper alpha tools helper alpha';
    expect(await correct(`${seven} helpr`)).toEqual([`${seven} helper`]);
    expect(await correct(`${seven} tools helpr`)).toEqual([]);
  });

  it('has the text inside, not at its beginning, and at most five letters more; the shortest first', async () => {
    expect(await containing('blown')).toEqual(['overblown']);
    expect(await containing('nowb')).toEqual(['snowboard']);
    expect(await containing('snow')).toEqual([]);
    expect(await containing('nits')).toEqual([]);
    expect(await containing('nit')).toEqual([]);
    expect(await containing('ette')).toEqual(['letters']);
  });

  it('is looked for in no list of which there is none', async () => {
    expect(await correct('abc')).toEqual([]);
    expect(await correct('x'.repeat(33))).toEqual([]);
    expect(lists().every((name) => /\/(?:[4-9]|[12]\d|3[0-2])\.json$/.test(name))).toBe(true);
  });
});

describe('the search of the files', () => {
  it('shows of several names that may be meant the best of each before the rest of any, and says the first', async () => {
    const answer = await searchFiles('lampp', {});
    expect(await namesOf(answer)).toEqual(['Lamps', 'Lamp', 'Lamps Extra']);
    expect(answer).toMatchObject({ total: 3, fit: { kind: 'corrected', meant: 'Lamps' } });
    const words = await searchFiles('tolls helpr', {});
    expect(words).toMatchObject({ total: 1, fit: { kind: 'corrected', meant: 'tools helper' } });
  });

  it('leaves out one word: where that is a name, else where the fewest are left, and not where a letter is', async () => {
    const part = { kind: 'part' };
    const named = await searchFiles('common zzqq', {});
    expect([await namesOf(named), named.fit]).toEqual([['Common', 'Aaa', 'Bbb'], part]);
    // Two have the first two words, one the last two, and none the others.
    const least = await searchFiles('common words seldom', {});
    expect([await namesOf(least), least.fit]).toEqual([['Ccc'], part]);
    const isName = await searchFiles('common seldom', {});
    expect([(await namesOf(isName))[0], isName.fit]).toEqual(['Common', part]);
    const letter = await searchFiles('c zzqq', {});
    expect([letter.total, letter.fit]).toEqual([0, { kind: 'asked' }]);
    expect(await searchFiles('zzqq qqzz', {})).toMatchObject({ total: 0, fit: { kind: 'asked' } });
  });

  // Before any of the others has read how packages are filtered.
  it('fails as the host does where the index is the same, and asks that no second time', async () => {
    const { count } = await searchFiles('unit', {});
    host.asked.length = 0;
    host.answer = (file) => (file.includes('/values/') ? new Response('', { status: 503 }) : undefined);
    await expect(count()).rejects.toThrow('503');
    expect(host.asked.map((name) => (name === indexEntry ? 'entry' : 'part'))).toEqual(['part', 'entry']);
  });

  it('takes the address of a page for its package, and a word inside another for that where nothing else is', async () => {
    expect(await ask('https://repo.example/package/org.named.bold/')).toEqual(['Bold']);
    const inside = await searchFiles('owboar', {});
    expect([await namesOf(inside), inside.fit]).toEqual([['Snowboard'], { kind: 'asked' }]);
  });

  it('sorts by name, and puts first what is for a device of this architecture unless one is chosen', async () => {
    expect(await ask('zone')).toEqual(['Area Zone', 'Far Zone', 'My Zone']);
    const device = { architecture: 'iphoneos-arm' };
    expect(await ask('zone', {}, device)).toEqual(['Far Zone', 'My Zone', 'Area Zone']);
    expect(await ask('zone', { architecture: 'iphoneos-arm64' }, device)).toEqual(['Area Zone', 'My Zone']);
    expect(await ask('common')).toEqual(['Common', 'Aaa', 'Bbb']);
    expect(await ask('common', {}, { sort: 'name' })).toEqual(['Aaa', 'Bbb', 'Common']);
  });

  it('counts what each choice leaves of all that was found, whatever is chosen', async () => {
    const { count, total } = await searchFiles('zone', { section: 'themes' });
    expect(total).toBe(1);
    expect(Object.fromEntries((await count()).section)).toEqual({ other: 2, themes: 1 });
  });

  it('reads nothing again, for the letters that follow neither', async () => {
    await prepareFiles('snowb');
    host.asked.length = 0;
    await searchFiles('snowboa', {});
    expect(host.asked).toEqual([]);
  });

  describe('where the host has answered with something else in place of a part', () => {
    const others = ['{"error":"Service unavailable"}', 'null', '[]', '""', '{"combinations":[],"of":""}', '{"lone":"'];
    const questions = [
      ['words', 'words', () => ask('lone')],
      ['rows', 'rows', () => ask('lone')],
      ['choices', 'values', async () => (await searchFiles('lone', {})).count()],
      ['order', 'values', () => ask('lone', {}, { sort: 'newest' })],
    ] as const;

    it.each(questions)('reads that of the %s anew, past every cache', async (name, kind, question) => {
      // Of which nothing was read yet.
      await buildIndex(named('Lone', `Lone ${name}`));
      await readEntry(true);
      for (const other of others) {
        host.answer = (file) => (file.includes(`/${kind}/`) ? new Response(other) : undefined);
        await expect(question(), other).rejects.toThrow();
      }
      const [part = ''] = [...host.caches.keys()].filter((file) => file.includes(`/${kind}/`));
      expect(host.caches.get(part)).toEqual(['default', ...others.slice(1).map(() => 'reload')]);
      host.answer = () => undefined;
      await question();
    });
  });

  // The last: from here on the host has another index.
  it('asks another index that has replaced the one it knows, where that has nothing', async () => {
    await buildIndex(named('Later One', 'Later Two'));
    expect(await ask('later')).toEqual(['Later One', 'Later Two']);
    expect(await ask('snowboard')).toEqual([]);
  });
});
