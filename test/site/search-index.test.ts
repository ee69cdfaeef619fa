import { hash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SafetyEntry } from '../../src/contract/safety.ts';
import {
  decodeAscending,
  decodeDigit,
  decodeNumbers,
  filesOf,
  type IndexEntry,
  indexEntry,
  nameLength,
} from '../../src/results/file-index.ts';
import { FileIndexSearch } from '../../src/results/file-index-search.ts';
import { splitWords } from '../../src/results/words.ts';
import { composeTerms, IndexWords } from '../../src/site/index-words.ts';
import { buildSearchIndex, IndexParts } from '../../src/site/search-index.ts';
import { SiteCatalog } from '../../src/site/site-catalog.ts';
import { openBuiltIndex } from '../support/file-index.ts';
import { temporaryFolder } from '../support/folder.ts';
import { countDownloads, lastBuild, type Source, sources, stanza, writeCatalog } from './fixture.ts';

type Fields = Readonly<Record<string, string>>;
const [alpha, beta] = sources as [Source, Source, ...Source[]];

const openCatalog = async (packages: readonly Fields[]): Promise<SiteCatalog> => {
  const file = path.join(temporaryFolder(), 'catalog.sqlite');
  const written = packages.map((fields) => stanza({ Description: 'Of somebody', ...fields }));
  await writeCatalog(file, [{ ...alpha, packages: written.join('') }], 'https://index.example');
  return new SiteCatalog(file, lastBuild);
};

const openIndex = async (packages: readonly Fields[], onRead?: (file: string, content: string) => void) => {
  const catalog = await openCatalog(packages);
  try {
    return await openBuiltIndex(catalog, onRead);
  } finally {
    catalog.close();
  }
};

/** Fills a folder with the index of some packages, and returns its files. */
const buildInto = async (folder: string, packages: readonly Fields[]): Promise<ReadonlyMap<string, string>> => {
  const catalog = await openCatalog(packages);
  const files = await buildSearchIndex(catalog, folder);
  catalog.close();
  return new Map(files.map((file) => [file, readFileSync(path.join(folder, file), 'latin1')]));
};

/** Packages of which many words begin alike, some share words, and each has one of its own. */
const manyPackages = (count: number): Fields[] =>
  Array.from({ length: count }, (_, number) => ({
    Package: `com.example.p${number}`,
    Name: `Lib${number.toString(36)}helper ${['Red', 'Green', 'Blue'][number % 3]}Tool`,
    Description: `Says word${number * 7} and thing${number % 50}`,
  }));

/** Two contents of which the digests give a part the same name. */
const collidingContents = ['["row 1515090"]', '["row 1694618"]'] as const;

describe('the search index among the files', () => {
  it('finds by words, their beginnings, parts of a name, a name in one word, an identifier, an author and the summary', async () => {
    const index = await openIndex([
      {
        Package: 'com.alpha.board',
        Name: 'SnowBoard',
        Description: 'Themes for all',
        Author: 'Ada Example <a@b.example>',
      },
      { Package: 'com.alpha.icon', Name: 'Éclair Icon', Description: 'A cake on snow' },
      { Package: 'com.beta.night-light', Name: 'Popcorn Time Pro' },
      { Package: 'com.beta.one-two-three', Name: 'Counting' },
      { Package: 'com.beta.long', Name: 'y'.repeat(40) },
      { Package: 'com.beta.chat', Name: '微信WeChat助手', Description: '支持Melody音乐' },
    ]);
    const ask = async (text: string) =>
      (await index.rows(await index.find(text))).map(({ id }) => id.split('.').at(-1));
    expect(await ask('sno')).toEqual(['board', 'icon']);
    expect(await ask('snow')).toEqual(['board', 'icon']);
    expect(await ask('board')).toEqual(['board']);
    expect(await ask('snow board')).toEqual(['board']);
    expect(await ask('com.alpha.board')).toEqual(['board']);
    expect(await ask('comalphaboard')).toEqual(['board']);
    expect(await ask('eclair')).toEqual(['icon']);
    expect(await ask('ECLAIR ico')).toEqual(['icon']);
    expect(await ask('eclairicon')).toEqual(['icon']);
    expect(await ask('ada exa')).toEqual(['board']);
    expect(await ask('themes for')).toEqual(['board']);
    // Two words of a name, or of a part of an identifier, in one.
    expect(await ask('timepro')).toEqual(['night-light']);
    expect(await ask('nightlight')).toEqual(['night-light']);
    // And all words of such a part.
    expect(await ask('onetwothree')).toEqual(['one-two-three']);
    for (const text of ['微信', 'wechat', '助手', '音乐', 'melody', '信', '微信WeChat'])
      expect(await ask(text), text).toEqual(['chat']);
    for (const text of ['nowboard', 'snow zzz', 'zzzzqq', '!!', '™']) expect(await ask(text), text).toEqual([]);
    // A word that is longer than any in the index is found by its beginning, as it was cut there.
    expect(await ask('x'.repeat(1000))).toEqual([]);
    expect(await ask('y'.repeat(40))).toEqual(['long']);
    expect(await ask('alpha '.repeat(500))).toEqual(['icon', 'board']);
    // Of more words than anybody types the first count.
    expect(await ask(`${'snow '.repeat(31)}zzz`)).toEqual([]);
    expect(await ask(`${'snow '.repeat(32)}zzz`)).toEqual(['board', 'icon']);
    expect((await ask('')).length).toBe(6);
  });

  it('finds by any word of a description, of which a row shows one line', async () => {
    const index = await openIndex([
      {
        Package: 'com.alpha.board',
        Name: 'SnowBoard',
        Description: 'Themes for all\n And wallpapers.\n .\n With seasons',
      },
      { Package: 'com.alpha.icon', Name: 'Icon', Description: `${'A cake. '.repeat(30)}On snow` },
      { Package: 'com.alpha.long', Name: 'Long', Description: `${'cake '.repeat(500)}unread`, Author: 'Ada' },
    ]);
    const ask = async (text: string) => (await index.rows(await index.find(text))).map(({ name }) => name);
    expect(await ask('wallpapers season')).toEqual(['SnowBoard']);
    expect(await ask('snow')).toEqual(['SnowBoard', 'Icon']);
    expect(await ask('unread')).toEqual([]);
    expect(await ask('ada')).toEqual(['Long']);
    expect((await index.rows(await index.find('season')))[0]?.summary).toBe('Themes for all');
  });

  it('puts first what is called so, then what begins so, then what has the word in its name, its identifier, its text', async () => {
    const index = await openIndex([
      { Package: 'com.alpha.e', Name: 'Aaa', Description: 'Uses choicy' },
      { Package: 'com.choicy.d', Name: 'Bbb' },
      { Package: 'com.alpha.c', Name: 'Choicyloader' },
      { Package: 'com.alpha.b', Name: 'For Choicy' },
      { Package: 'com.alpha.a', Name: 'Choicy' },
      { Package: 'com.alpha.f', Name: 'Unrelated' },
      // The best of its words counts.
      { Package: 'com.alpha.g', Name: 'Choicy and Choicyfier' },
    ]);
    const ids = async (text: string) => (await index.rows(await index.find(text))).map(({ id }) => id.at(-1)).join('');
    expect(await ids('choicy')).toBe('acgbde');
    expect(await ids('choicy com')).toBe('agbcde');
  });

  it('puts those whose identifier begins so first only where an identifier is typed: "com" is before many', async () => {
    const index = await openIndex([
      { Package: 'com.p.aaa', Name: 'Aaa' },
      { Package: 'com.other.bbb', Name: 'Compactor', Description: 'Of com p and all' },
      { Package: 'com.other.ccc', Name: 'Ccc', Description: 'A companion' },
    ]);
    const names = async (text: string) => (await index.rows(await index.find(text))).map(({ name }) => name);
    expect(await names('comp')).toEqual(['Compactor', 'Ccc', 'Aaa']);
    expect(await names('com.p')).toEqual(['Aaa', 'Compactor', 'Ccc']);
    expect(await names('compaaa')).toEqual(['Aaa']);
    // Somebody has begun to type it, and a blank behind it says nothing.
    expect(await names('com.p ')).toEqual(['Aaa', 'Compactor', 'Ccc']);
    const others = await openIndex([
      { Package: 'com.p.aaa', Name: 'Aaa' },
      { Package: 'com.other.ddd', Name: 'Aa of Com P' },
      { Package: 'com.other.eee', Name: 'Eee', Description: 'Of com p and aaa' },
      { Package: 'com.other.fff', Name: 'P Com of Aaa' },
    ]);
    const among = async (text: string) => (await others.rows(await others.find(text))).map(({ name }) => name);
    expect(await among('com.p aa')).toEqual(['Aa of Com P', 'P Com of Aaa', 'Aaa', 'Eee']);
    expect(await among('com.p.aaa')).toEqual(['Aaa', 'P Com of Aaa', 'Eee']);
  });

  it('takes the words of a query for one word or apart, whichever says more of a package', async () => {
    const index = await openIndex([
      { Package: 'com.a.aaa', Name: 'Snow Board Extra' },
      { Package: 'com.a.bbb', Name: 'SnowBoard' },
      { Package: 'snow.boarding', Name: 'Board of Snow' },
      { Package: 'com.a.ddd', Name: 'Ddd', Description: 'Of snow and board' },
    ]);
    const found = await index.rows(await index.find('snow board'));
    expect(found.map(({ name }) => name)).toEqual(['SnowBoard', 'Snow Board Extra', 'Board of Snow', 'Ddd']);
  });

  it('puts first of those called the same what is spelled as typed', async () => {
    const index = await openIndex([
      { Package: 'libplist++-dev' },
      { Package: 'libplist-dev' },
      { Package: 'org.example.libplistdev', Name: 'libplist_dev' },
      { Package: 'org.example.lib-plist-dev', Name: 'Another' },
      { Package: 'libplist-dev-doc' },
    ]);
    const first = async (text: string) => (await index.rows(await index.find(text)))[0]?.name;
    for (const text of ['libplist-dev', 'LibPlist-Dev ']) expect(await first(text), text).toBe('libplist-dev');
    for (const text of ['libplist++-dev', 'libplist_dev']) expect(await first(text), text).toBe(text);
    expect(await first('org.example.libplistdev')).toBe('libplist_dev');
    // What is no more than begun stays behind them.
    const found = await index.rows(await index.find('libplist dev'));
    expect(found.map(({ name }) => name)).toEqual([
      'libplist++-dev',
      'libplist-dev',
      'libplist_dev',
      'libplist-dev-doc',
      'Another',
    ]);
    const two = await openIndex([{ Package: 'x++-dev' }, { Package: 'x-dev' }]);
    for (const text of ['x-dev', 'x++-dev'])
      expect((await two.rows(await two.find(text))).map(({ name }) => name)[0], text).toBe(text);
  });

  it('puts of equal names that of the better ranked repository first, and what is unsafe last', async () => {
    const file = path.join(temporaryFolder(), 'catalog.sqlite');
    const same = (id: string) => stanza({ Package: id, Name: 'Same', Description: 'Of somebody' });
    const written = [
      { ...beta, packages: same('com.a.beta') },
      { ...alpha, packages: same('com.b.alpha') },
    ];
    await writeCatalog(file, written, 'https://index.example');
    const ids = async (safety: readonly SafetyEntry[]) => {
      const catalog = new SiteCatalog(file, lastBuild, undefined, safety);
      const index = await openBuiltIndex(catalog);
      catalog.close();
      return (await index.rows(await index.find('same'))).map(({ id }) => id);
    };
    expect(await ids([])).toEqual(['com.b.alpha', 'com.a.beta']);
    const unsafe = { reason: 'It serves malware.', date: '2026-01-01', source: 'https://news.example/' };
    expect(await ids([{ host: 'alpha.example', ...unsafe }])).toEqual(['com.a.beta', 'com.b.alpha']);
  });

  it('puts of equal names, and equally ranked repositories, the more downloaded first, by twice as many', async () => {
    const file = path.join(temporaryFolder(), 'catalog.sqlite');
    const written = ['a', 'b', 'c'].map((letter) =>
      stanza({ Package: `com.${letter}.same`, Name: letter === 'c' ? 'SAME' : 'Same' }),
    );
    await writeCatalog(file, [{ ...alpha, packages: written.join('') }], 'https://index.example');
    const ids = async (counts: Readonly<Record<string, number>>) => {
      countDownloads(file, counts);
      const catalog = new SiteCatalog(file, lastBuild);
      const index = await openBuiltIndex(catalog);
      catalog.close();
      return (await index.rows(await index.find('same'))).map(({ id }) => id[4]).join('');
    };
    expect(await ids({ 'com.a.same': 12, 'com.b.same': 13, 'com.c.same': 100 })).toBe('cab');
  });

  it('takes a rare word for more than one that many have', async () => {
    const index = await openIndex([
      { Package: 'com.alpha.a', Name: 'Common', Description: 'And rare' },
      { Package: 'com.alpha.b', Name: 'Rare', Description: 'And common' },
      ...['c', 'd', 'e'].map((letter) => ({ Package: `com.alpha.${letter}`, Name: `Common ${letter}` })),
    ]);
    const found = await index.rows(await index.find('rare common'));
    expect(found.map(({ id }) => id.at(-1))).toEqual(['b', 'a']);
  });

  it('agrees with a look at every package, whatever begins how many words, and reads little', async () => {
    const catalog = await openCatalog(manyPackages(1000));
    let read: string[] = [];
    const open = () => openBuiltIndex(catalog, (file) => read.push(file));
    const index = await open();
    const terms = new Map([...catalog.packages.values()].map((one) => [one.id, [...composeTerms(one).keys()]]));
    const fits = (id: string, text: string): boolean => {
      const words = splitWords(text);
      const begins = (word: string) => (terms.get(id) as string[]).some((term) => term.startsWith(word));
      return words.every(begins) || begins(words.join(''));
    };
    const questions = [
      ...[
        'lib',
        'lib1',
        'lib1a',
        'word',
        'word7',
        'word70',
        'thing4',
        'red',
        'redtool',
        'tool',
        'hel',
        'says',
        'l',
        'li',
        'co',
        'com',
      ],
      ...[
        'lib tool',
        'red thing12',
        'thing1 word',
        'com.example.p12',
        'comexamplep1',
        'p999',
        'lib2b helper',
        'green lib',
      ],
    ];
    for (const text of questions) {
      read = [];
      const found = (await index.rows(await index.find(text))).map(({ id }) => id).sort();
      const wanted = [...terms.keys()].filter((id) => fits(id, text)).sort();
      expect(found, text).toEqual(wanted);
      expect(wanted.length, text).toBeGreaterThan(0);
    }
    for (const text of ['lib', 'word', 'com', 'l', 'tool']) {
      const fresh = await open();
      read = [];
      const found = await fresh.find(text);
      // Files of words, or one of them and a head.
      expect(read.length, text).toBeLessThanOrEqual(2);
      if (text === 'lib') expect(read[1]).toMatch(/heads/);
      read = [];
      await fresh.find(text);
      await fresh.prepare(text);
      expect(read, 'what was read is kept').toEqual([]);
      await fresh.rows(found.slice(0, 20));
      expect(read.length).toBeLessThanOrEqual(20);
    }
    catalog.close();
  });

  it('prepares what the letters that follow need', async () => {
    let read = 0;
    const index = await openIndex(manyPackages(40), () => read++);
    await index.prepare('lib1');
    expect(read).toBeGreaterThan(0);
    read = 0;
    await index.find('lib12');
    expect(read).toBe(0);
  });

  it('puts first what is called as a word that begins very many, then the shortest names', async () => {
    const short = ['Libzz', 'Libz'].map((name) => ({ Package: `com.short.${name}`, Name: name }));
    const more = [{ Package: 'lib', Name: 'Zebra' }];
    let heads = 0;
    const index = await openIndex([...manyPackages(1000), ...short, ...more], (file) => {
      if (file.includes('/heads/')) heads++;
    });
    const first = async (text: string, count: number) =>
      (await index.rows((await index.find(text)).slice(0, count))).map(({ name }) => name);
    expect(await first('lib', 4)).toEqual(['Zebra', 'Libz', 'Libzz', 'Lib0helper RedTool']);
    expect(heads).toBe(1);
    expect(await index.find('lib')).toHaveLength(1003);
  });

  it('tries again what could not be read', async () => {
    let isAway = true;
    const index = await openIndex(manyPackages(40), () => {
      if (isAway) throw new Error('away');
    });
    await expect(index.find('lib')).rejects.toThrow('away');
    isAway = false;
    expect(await index.find('lib')).toHaveLength(40);
  });

  it('filters and counts each choice beside the others, and sorts by name without regard to case and accents, and by day', async () => {
    const index = await openIndex([
      { Package: 'com.alpha.z', Name: 'zebra', Section: 'Tweaks' },
      { Package: 'com.alpha.e', Name: 'Éclair', Section: 'Tweaks', Tag: 'cydia::commercial' },
      { Package: 'com.alpha.d', Name: 'Donut', Section: 'Themes' },
      { Package: 'com.alpha.f', Name: 'fig', Section: 'Themes', Architecture: 'all' },
    ]);
    const all = await index.find('');
    expect((await index.rows(all)).map(({ name }) => name)).toEqual(['Donut', 'Éclair', 'fig', 'zebra']);
    const names = async (numbers: readonly number[]) => (await index.rows(numbers)).map(({ name }) => name);
    expect(await names(await index.filter(all, { section: 'themes' }))).toEqual(['Donut', 'fig']);
    expect(await names(await index.filter(all, { section: 'tweaks', price: 'paid' }))).toEqual(['Éclair']);
    expect(await index.filter(all, {})).toEqual(all);
    const counts = await index.count(all, { price: 'paid' });
    expect(Object.fromEntries(counts.price)).toEqual({ free: 3, paid: 1 });
    expect(Object.fromEntries(counts.section)).toEqual({ tweaks: 1 });
    // What is for all is for any that is no device's, and for the devices that its repository serves.
    expect(await names(await index.filter(all, { architecture: 'amd64' }))).toEqual(['fig']);
    const others = await openIndex([
      { Package: 'one', Architecture: 'amd64' },
      { Package: 'two', Architecture: 'arm64' },
      { Package: 'docs', Architecture: 'all' },
    ]);
    const every = await others.find('');
    expect((await others.filter(every, { architecture: 'amd64' })).length).toBe(2);
    const offered = (await others.count(every, {})).architecture;
    expect(Object.fromEntries(offered)).toEqual({ all: 1, amd64: 2, arm64: 2 });
    // Its repository serves nothing for these.
    expect(await index.filter(all, { architecture: 'iphoneos-arm64e' })).toEqual([]);
    // What nothing of them has is no choice.
    expect(Object.fromEntries((await index.count(all.slice(0, 1), {})).section)).toEqual({ themes: 1 });
    expect(await names(await index.filter(all, { architecture: 'iphoneos-arm64' }))).toEqual([
      'Donut',
      'Éclair',
      'fig',
      'zebra',
    ]);
    // All of one day keep their order, and nothing was downloaded.
    expect(await index.sort(all, 'newest')).toEqual(all);
    expect(await index.sort(all, 'downloads')).toEqual(all);
  });

  it('sorts by the day on which a package changed, but by none to come, and by how often it was downloaded', async () => {
    const file = path.join(temporaryFolder(), 'catalog.sqlite');
    const written = ['2026-11-01', '2026-11-02', '2099-01-01'].map((day, number) => ({
      ...(sources[number] as Source),
      before: [],
      at: `${day}T10:00:00.000Z`,
      packages: stanza({ Package: `com.day${number}`, Name: `Day ${number}`, Description: 'Of somebody' }),
    }));
    await writeCatalog(file, written, 'https://index.example');
    countDownloads(file, { 'com.day0': 5, 'com.day2': 7 });
    const catalog = new SiteCatalog(file, lastBuild);
    const index = await openBuiltIndex(catalog);
    catalog.close();
    expect(await index.sort([0, 1, 2], 'newest')).toEqual([1, 0, 2]);
    expect(await index.sort([0, 1, 2], 'downloads')).toEqual([2, 0, 1]);
    // The last visit to the second one failed.
    expect(await index.filter([0, 1, 2], { state: 'stale' })).toEqual([1]);
  });

  it('has in a row what lists say of a package and of its repository', async () => {
    const file = path.join(temporaryFolder(), 'catalog.sqlite');
    const packages = stanza({ Package: 'com.a', Name: 'A', Description: 'Of somebody', Tag: 'cydia::commercial' });
    await writeCatalog(file, [{ ...alpha, packages }], 'https://index.example');
    const unsafe = { reason: 'It serves malware.', date: '2026-01-01', source: 'https://news.example/' };
    const catalog = new SiteCatalog(file, lastBuild, undefined, [{ host: 'alpha.example', ...unsafe }]);
    const index = await openBuiltIndex(catalog);
    catalog.close();
    const row = { id: 'com.a', name: 'A', version: '1.0', summary: 'Of somebody', paid: true, place: 'Alpha Repo' };
    expect(await index.rows([0])).toEqual([
      { ...row, architectures: ['iphoneos-arm64'], runs: 'rootless', trouble: 'unsafe' },
    ]);
    const others = await openIndex([{ Package: 'tool', Architecture: 'amd64' }]);
    const [tool] = await others.rows([0]);
    expect(tool, 'there is no device that it could be for').not.toHaveProperty('runs');
  });

  it('S6: filters by no more architectures than there are, and has in rows those that they show', async () => {
    const madeUp = Array.from({ length: 150 }, (_, number) => ({
      ...{ Package: 'com.example.flood', Version: '1.0', Architecture: `${'a'.repeat(200)}${number}` },
      Filename: `flood${number}.deb`,
    }));
    const honest = ['b', 'c'].map((letter) => ({ Package: `com.example.${letter}`, Name: letter }));
    const index = await openIndex([...madeUp, ...honest]);
    const all = await index.find('');
    const { architecture } = await index.count(all, {});
    expect(architecture.size).toBe(100);
    expect([...architecture].filter(([, count]) => count > 1)).toEqual([['iphoneos-arm64', 2]]);
    expect((await index.rows(all)).map(({ architectures }) => architectures)).toEqual([
      ['iphoneos-arm64'],
      ['iphoneos-arm64'],
      [],
    ]);
  });

  it('C13: is the same from the same packages, and keeps its files where one changed, came or went', async () => {
    const folder = temporaryFolder();
    const packages = manyPackages(200);
    const before = await buildInto(folder, packages);
    expect(await buildInto(temporaryFolder(), packages)).toEqual(before);
    const stamps = () => [...before.keys()].map((file) => lstatSync(path.join(folder, file)).ino);
    const stamped = stamps();
    await buildInto(folder, packages);
    expect(stamps()).toEqual(stamped);
    const changed = async (now: readonly Fields[]) => {
      const after = await buildInto(folder, now);
      const fresh = [...after].filter(([file, content]) => before.get(file) !== content).map(([file]) => file);
      // Nothing that is no more of it is left.
      const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      expect(found.length).toBe(after.size);
      return fresh.map((file) => file.split('/')[0]);
    };
    const updated = packages.map((one, number) => (number === 100 ? { ...one, Version: '2.0' } : one));
    // And the first suggestions, which have its version.
    expect((await changed(updated)).filter((file) => file !== 'beginnings').sort()).toEqual(['index.json', 'rows']);
    const added = [...packages, { Package: 'com.example.new', Name: 'Lib7new', Description: 'One more' }];
    expect((await changed(added)).filter((file) => file === 'rows').length).toBeLessThanOrEqual(2);
    expect((await changed(packages.toSpliced(100, 1))).filter((file) => file === 'rows').length).toBeLessThanOrEqual(2);
    expect(await buildInto(folder, packages)).toEqual(before);
  });

  it('C13: has between eight and 63 packages in a file with rows, and where it ends is decided by its packages', async () => {
    const rowsOf = async (packages: readonly Fields[]): Promise<number[]> => {
      const entry = (await buildInto(temporaryFolder(), packages)).get(path.basename(indexEntry)) ?? '';
      const { rows } = JSON.parse(entry) as IndexEntry;
      return Array.from({ length: rows.length / (nameLength + 1) }, (_, file) =>
        decodeDigit(rows, file * (nameLength + 1) + nameLength),
      );
    };
    // Each could end a file, and none.
    const endsFile = ({ Package = '' }: Fields) => Number.parseInt(hash('sha256', Package).slice(0, 2), 16) % 16 === 0;
    const numbered = Array.from({ length: 400 }, (_, number) => ({ Package: `com.p${number}` }));
    expect(await rowsOf(numbered.filter(endsFile).slice(0, 20))).toEqual([8, 8, 4]);
    expect(await rowsOf(numbered.filter((one) => !endsFile(one)).slice(0, 70))).toEqual([63, 7]);
  });

  it('S6: gives a part another name where one with other content has it, which somebody with many packages can bring about', () => {
    const parts = new IndexParts();
    const [one, other] = collidingContents;
    const named = parts.compose('rows', one);
    expect(parts.compose('rows', other).name).not.toBe(named.name);
    expect(JSON.parse(parts.compose('rows', other).file.content.toString())).toEqual(JSON.parse(other));
    expect(new IndexParts().compose('rows', other).name, 'they collide').toBe(named.name);
    // The same content has the same name, and so has any of another kind.
    expect(parts.compose('rows', one)).toEqual(named);
    expect(parts.compose('words', other).name).toBe(named.name);
  });

  it('C9: makes anew what was damaged, is missing or is a link, be it to the same bytes, and removes what is left', async () => {
    const folder = temporaryFolder();
    const before = await buildInto(folder, manyPackages(40));
    const [rows] = [...before.keys()].filter((file) => file.startsWith('rows/'));
    const entry = path.basename(indexEntry);
    writeFileSync(path.join(folder, entry), (before.get(entry) as string).replace(/[a-z]/, '?'));
    rmSync(path.join(folder, rows as string));
    const [, other] = [...before.keys()].filter((file) => file.startsWith('rows/'));
    const linked = path.join(folder, other as string);
    const elsewhere = path.join(temporaryFolder(), 'elsewhere');
    renameSync(linked, elsewhere);
    // As long as the file is, which is how long a link seems that leads to so many letters.
    symlinkSync(elsewhere.padStart(lstatSync(elsewhere).size, '/'), linked);
    writeFileSync(path.join(folder, 'rows', 'left.json'), 'of before');
    symlinkSync('nowhere', path.join(folder, 'rows', 'link.json'));
    expect(await buildInto(folder, manyPackages(40))).toEqual(before);
    expect(lstatSync(linked).isFile()).toBe(true);
    for (const left of ['left.json', 'link.json']) expect(readdirSync(path.join(folder, 'rows'))).not.toContain(left);
  });

  it('has for beginnings of very many words what all of them find, in its best place and in order', () => {
    const words = new IndexWords();
    const count = 4000;
    for (let number = 0; number < count; number++)
      words.add(
        {
          ...{ id: 'com', author: '' },
          // The last ones are the shortest.
          name: `name${(count - number) * 17}`,
          // Before and after the words of the name.
          description: number % 2 ? `nab${number} name` : `nax${number} namez${number}`,
        },
        'alpha',
      );
    const shelved = words.shelve();
    const shelf = shelved.words.map(({ first }) => [first, ''] as const);
    const contents = shelved.heads.map(({ content }) => Object.entries(JSON.parse(content) as Record<string, string>));
    expect(contents.length).toBeGreaterThan(1);
    const beginnings = contents.flat().map(([beginning]) => beginning);
    expect(beginnings).toEqual(beginnings.toSorted());
    expect(shelved.heads.map(({ first }) => first)).toEqual(contents.map(([member]) => member?.[0]));
    for (const beginning of beginnings) {
      const [from, to] = filesOf(shelf, beginning);
      expect(to - from, beginning).toBeGreaterThan(2);
    }
    const all = Array.from({ length: count }, (_, number) => number);
    const placed = (beginning: string) => {
      const [, text = ''] = contents.flat().find(([one]) => one === beginning) ?? [];
      const [shortest = '', ...numbers] = text.split(' ');
      return { shortest: decodeNumbers(shortest), numbers: numbers.map(decodeAscending) };
    };
    // From "name85" to "name17": of equally long ones the first.
    expect(placed('name').shortest.slice(0, 5)).toEqual([3995, 3996, 3997, 3998, 3999]);
    expect(placed('name').shortest).toHaveLength(20);
    for (const beginning of ['n', 'na', 'nam', 'name']) expect(placed(beginning).numbers, beginning).toEqual([all]);
    expect(placed('nab').numbers).toEqual([[], [], [], all.filter((number) => number % 2)]);
  });

  it('finds by less than three letters what has them in its name, by three what has them in other text, and first what has just them', async () => {
    const words = new IndexWords();
    for (let number = 0; number < 4000; number++) {
      const description = number === 3000 ? 'tex' : `text${number * 17}`;
      words.add({ id: 'com', name: 'A', author: '', description }, 'alpha');
    }
    const shelved = words.shelve();
    const heads = Object.assign({}, ...shelved.heads.map(({ content }) => JSON.parse(content)));
    expect([heads.t, heads.te]).toEqual([' ', ' ']);
    expect(decodeAscending(heads.tex.split(' ').at(-1))).toHaveLength(4000);
    const shelf = (kind: 'words' | 'heads') =>
      shelved[kind].map(({ first }, number): [string, string] => [first, `${number}`]);
    const entry = { packages: 4000, words: shelf('words'), heads: shelf('heads'), rows: '', facets: '', orders: {} };
    const index = new FileIndexSearch(entry, async (kind, name) =>
      JSON.parse(shelved[kind as 'words' | 'heads'][Number(name)]?.content ?? ''),
    );
    expect((await index.find('tex')).slice(0, 2)).toEqual([3000, 0]);
  });

  it('is written in the form that browsers read', () => {
    const words = new IndexWords();
    words.add({ id: 'com.b', name: 'Bee', author: 'Ada', description: '' }, 'alpha');
    words.add({ id: 'com.c', name: 'Sea', author: 'Ada', description: 'Bee' }, 'alpha');
    expect(words.shelve()).toEqual({
      words: [
        {
          first: 'ada',
          content:
            '{"ada":"   AB","b":"  A","bee":"A   B","c":"  B","com":"  AB","comb":"    A","comc":"    B","sea":"B"}',
        },
      ],
      heads: [],
    });
  });

  it('S6: looks at words about once each, however many begin alike and for how long', () => {
    const words = new IndexWords();
    const count = 20_000;
    for (let number = 0; number < count; number++)
      words.add(
        { id: 'com.example', name: `${'x'.repeat(27)}${number + 10_000}`, author: '', description: '' },
        'alpha',
      );
    let looks = 0;
    const { startsWith } = String.prototype;
    String.prototype.startsWith = function (...searched) {
      looks++;
      return startsWith.apply(this, searched);
    };
    try {
      const { heads } = words.shelve();
      expect(heads.length).toBeGreaterThan(0);
    } finally {
      String.prototype.startsWith = startsWith;
    }
    // Each of the 27 beginnings that all have looked at all of them, and so did each file for each of its beginnings.
    expect(looks).toBeLessThan(3 * count);
  });

  it('S6: takes no more words of a repository than fit into memory, and those of others however many it has', () => {
    const words = new IndexWords(100);
    const add = (name: string, repository: string) =>
      words.add({ id: 'com.example', name, author: '', description: '' }, repository);
    for (let number = 0; number < 200; number++) add(`madeup${number + 1000}`, 'flood');
    add('Honest', 'alpha');
    add('Honest', 'flood');
    const [only] = words.shelve().words;
    const content: Record<string, string> = JSON.parse(only?.content ?? '{}');
    expect(Object.keys(content)).toHaveLength(101);
    // What others have too is found with them.
    expect(decodeAscending(content.honest?.split(' ')[0] ?? '')).toEqual([200, 201]);
  });

  it('S6: takes no more of a package than somebody says of one', async () => {
    const words = Array.from({ length: 5000 }, (_, number) => `w${number}`).join(' ');
    const terms = composeTerms({ id: 'com.example.p', name: 'x'.repeat(5000), author: words, description: words });
    expect(terms.size).toBe(256);
    // A query is divided as a name is, whatever signs are in it.
    const signs = { id: 'a', name: 'Tool№™Pro', author: '', description: '' };
    expect([...composeTerms(signs).keys()]).toEqual(expect.arrayContaining(splitWords(signs.name)));
    // An author is looked for more than the end of a description.
    expect(composeTerms({ id: 'a', name: 'A', author: 'Zoe', description: words }).has('zoe')).toBe(true);
    expect(Math.max(...[...terms.keys()].map(({ length }) => length))).toBe(32);
    // Names that objects have of themselves are words like any.
    const index = await openIndex([
      { Package: 'com.example.constructor', Name: 'constructor', Description: '__proto__ toString' },
    ]);
    for (const word of ['constructor', 'proto', 'tostring']) expect(await index.find(word), word).toHaveLength(1);
  });
});
