import { describe, expect, it } from 'vitest';
import { CatalogFiles } from '../../functions/node/catalog-files.ts';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import type { SearchReading } from '../../src/catalog/search-reading.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { furthestResult, PackageSearch, pageOf } from '../../src/search/package-search.ts';
import { buildCatalog, packages, parseRecords } from '../support/catalog.ts';
import { named, openSearch } from './open-search.ts';

const nothing = { records: { count: 0, pieces: [] }, more: false, parts: 0 };

const tweaks = packages(
  named('SnowBoard', { Description: 'Theming', Author: 'SparkDev' }),
  named('Popcorn Time', { Description: 'Films like snow on a screen' }),
  named('NoFomoFix'),
  named('AppID'),
  named('Azure'),
  named('Éclair'),
  named('NewTerm 2', { Package: 'ws.hbang.newterm2' }),
  named('Winter', { Package: 'com.example.snow.helper' }),
  named('汉化补丁'),
  named('抖音TikTok去水印', { Package: 'com.example.marks', Description: '支持Melody音乐' }),
  named('Winter №7', { Package: 'com.example.seven' }),
  named('OurTube™ Plus', { Package: 'com.example.tube' }),
  named('Melon Tools', { Package: 'com.example.melon' }),
);

describe('package search', () => {
  it('finds the beginning of words, several words in any order, names together and apart', async () => {
    const { names } = await openSearch({ slug: 'one', packages: tweaks });
    for (const [question, name] of [
      ['sn', 'SnowBoard'],
      ['snow', 'SnowBoard'],
      ['SNOWBOA', 'SnowBoard'],
      ['board', 'SnowBoard'],
      ['app id', 'AppID'],
      ['popcorntime', 'Popcorn Time'],
      ['time pop', 'Popcorn Time'],
      ['nofomofix', 'NoFomoFix'],
      ['fix fomo', 'NoFomoFix'],
      ['eclair', 'Éclair'],
      ['ÉCLAIR', 'Éclair'],
      ['newterm', 'NewTerm 2'],
      ['ws.hb', 'NewTerm 2'],
      ['ws.hbang.newterm2', 'NewTerm 2'],
      ['sparkdev', 'SnowBoard'],
      ['spark snow', 'SnowBoard'],
      ['补丁', '汉化补丁'],
      ['tiktok', '抖音TikTok去水印'],
      ['tiktok 水印', '抖音TikTok去水印'],
      ['melody', '抖音TikTok去水印'],
      ['№7 winter', 'Winter №7'],
      ['ourtube™ plus', 'OurTube™ Plus'],
      ['ourtubetm', 'OurTube™ Plus'],
      ['melon™', 'Melon Tools'],
    ] as const) {
      expect((await names(question))[0], question).toBe(name);
    }
  });

  it('finds the package of a page, a link of a package manager or a file', async () => {
    const { names } = await openSearch({
      slug: 'one',
      packages: packages(
        named('NewTerm 2', { Package: 'ws.hbang.newterm2' }),
        named('Standard', { Package: 'libstdc++6' }),
        named('Trash', { Package: 'com.example.Trash' }),
        named('Package', { Package: 'org.example.package' }),
      ),
    });
    for (const [question, name] of [
      ['https://index.example/package/ws.hbang.newterm2/', 'NewTerm 2'],
      [' https://other.example/repository/one/package/ws.hbang.newterm2?from=feed#versions', 'NewTerm 2'],
      ['sileo://package/ws.hbang.newterm2', 'NewTerm 2'],
      ['zbra://packages/ws.hbang.newterm2?source=https://repo.example', 'NewTerm 2'],
      ['cydia://package/ws.hbang.newterm2', 'NewTerm 2'],
      ['https://repo.example/depictions/?p=ws.hbang.newterm2', 'NewTerm 2'],
      ['ws.hbang.newterm2_2.5-1_iphoneos-arm.deb', 'NewTerm 2'],
      ['https://repo.example/debs/libstdc%2b%2b6_1%3a10.2_amd64.deb', 'Standard'],
      // As folders of pages are called.
      ['https://index.example/package/com.example._trash/', 'Trash'],
    ] as const) {
      expect(await names(question), question).toEqual([name]);
    }
    // Of what is more than an address or a name the words are asked for.
    expect(await names('package sileo://package/ws.hbang.newterm2')).not.toContain('NewTerm 2');
  });

  it('orders by class: exact, beginning, name or identifier, description', async () => {
    const { names } = await openSearch({
      slug: 'one',
      packages: packages(
        named('Something', { Description: 'with snow in it' }),
        named('Let it Snow'),
        named('Snowfall'),
        named('Winter', { Package: 'org.example.snow' }),
        named('Snow'),
      ),
    });
    expect(await names('snow')).toEqual(['Snow', 'Snowfall', 'Winter', 'Let it Snow', 'Something']);
  });

  it('tells names apart that differ in punctuation alone, and keeps to that from page to page', async () => {
    const { names } = await openSearch({
      slug: 'one',
      packages: packages(
        ...['x-dev', 'x++-dev', 'x_dev'].map((name, index) => named(name, { Package: `com.example.number${index}` })),
      ),
    });
    expect(await names('x++-dev')).toEqual(['x++-dev', 'x-dev', 'x_dev']);
    expect((await names('X_DEV'))[0]).toBe('x_dev');
    const pages = [await names('x_dev', 1, 1), await names('x_dev', 1, 2), await names('x_dev', 1, 3)];
    expect(pages.flat().sort()).toEqual(['x++-dev', 'x-dev', 'x_dev']);
  });

  it('finds the last segment of an identifier before words that merely begin so', async () => {
    const { names } = await openSearch({
      slug: 'one',
      packages: packages(
        named('Developer Tools'),
        named('Some Developer'),
        named('Enmity, not yet released', { Package: 'app.enmity.dev' }),
      ),
    });
    expect(await names('dev')).toEqual(['Developer Tools', 'Enmity, not yet released', 'Some Developer']);
  });

  it('prefers better repositories and closer names within a class', async () => {
    const { names } = await openSearch(
      { slug: 'poor', ranking: 5, packages: packages(named('Snow A')) },
      { slug: 'good', ranking: 1, packages: packages(named('Snow Longer'), named('Snow Long')) },
    );
    expect(await names('snow')).toEqual(['Snow Long', 'Snow Longer', 'Snow A']);
  });

  it('does not let the first segment of an identifier outrank the beginning of a name', async () => {
    const { names } = await openSearch({
      slug: 'one',
      packages: packages(named('Zebra'), named('Alpha'), named('Community'), named('Better Com', { Package: 'org.b' })),
    });
    expect((await names('com')).slice(0, 2)).toEqual(['Community', 'Better Com']);
    expect(await names('com')).toHaveLength(4);
  });

  it('takes a mistyped name first for those with a letter more, then for the others, each by rank', async () => {
    const { names } = await openSearch({
      slug: 'one',
      packages: packages(named('Snowbird'), named('Snowboard'), named('Snow-bword'), named('Snowborg')),
    });
    expect(await names('snowbord')).toEqual(['Snowboard', 'Snow-bword', 'Snowbird', 'Snowborg']);
  });

  it('H7: asks the index twice for all names that a mistyped one may mean', () => {
    const asked: string[] = [];
    const reading: Partial<SearchReading> = {
      match: (expression) => {
        asked.push(expression);
        return [];
      },
      names: () => [],
      texts: () => [],
      termsOf: () => Array.from('abcdefghijklm').flatMap((letter) => [`snowb${letter}rd`, `snowbo${letter}ard`]),
      wordsWithInside: () => [],
    };
    new PackageSearch(reading as SearchReading).locate('snowboard', 100, 1);
    const corrected = asked.filter((expression) => expression.startsWith('{key}') && !expression.endsWith('*'));
    expect(corrected).toHaveLength(2);
    expect(corrected[0]?.match(/snowbo[a-m]ard/g)).toHaveLength(13);
  });

  it('forgives one mistake in a word of five letters or more, after everything that matches', async () => {
    const { names } = await openSearch({ slug: 'one', packages: tweaks });
    for (const [question, name] of [
      ['azrue', 'Azure'],
      ['azue', 'Azure'],
      ['snoq', undefined],
      ['azuree', 'Azure'],
      ['snowbord', 'SnowBoard'],
      ['snoqboard', 'SnowBoard'],
      ['popcron time', 'Popcorn Time'],
      ['nofomfix', 'NoFomoFix'],
    ] as const) {
      expect((await names(question))[0], question).toBe(name);
    }
    const { names: both } = await openSearch({ slug: 'one', packages: packages(named('Azure'), named('Azurex')) });
    expect(await both('azurex')).toEqual(['Azurex', 'Azure']);
  });

  it('goes on with names one mistake apart where few are found by all words, before what all words but one fit', async () => {
    const few = ['Libogg OCaml', 'Libour OCaml', 'Libort OCaml'];
    const looser = ['Libao OCaml', 'A OCaml', 'Libox Perl'];
    const { names } = await openSearch({
      slug: 'one',
      packages: packages(...[...few, ...looser].map((one) => named(one))),
    });
    expect((await names('libo ocaml')).slice(0, 5)).toEqual([...few, 'Libao OCaml', 'Libox Perl']);
    const more = await openSearch({
      slug: 'one',
      packages: packages(...[...few, 'Libowl OCaml', ...looser].map((one) => named(one))),
    });
    expect((await more.names('libo ocaml')).slice(4, 6)).toEqual(['Libox Perl', 'A OCaml']);
    // A single word of it is not taken for another, and many names like it say nothing.
    const { names: others } = await openSearch({
      slug: 'one',
      packages: packages(
        ...[
          'Storm Charts',
          'A Charts',
          'Stork Charts',
          ...['Apl Docs', 'Abpl Doc', 'Acpl Doc', 'Adpl Doc', 'Aepl Doc', 'Z Doc'],
          ...['Npl Tips', 'Nbpl Tip', 'Ncpl Tip', 'Ndpl Tip', 'Z Tip'],
        ].map((one) => named(one)),
      ),
    });
    expect((await others('storm char')).slice(0, 3)).toEqual(['Storm Charts', 'A Charts', 'Stork Charts']);
    // Where it is the whole name of something, nothing else is meant, however like it another is.
    expect((await others('storm charts')).slice(0, 2)).toEqual(['Storm Charts', 'A Charts']);
    // What is found is one of those like it: four of these, and five of those.
    expect((await others('npl tip')).slice(0, 4)).toEqual(['Npl Tips', 'Nbpl Tip', 'Ncpl Tip', 'Ndpl Tip']);
    expect((await others('apl doc')).slice(0, 2)).toEqual(['Apl Docs', 'Z Doc']);
  });

  it('finds the same, in the same order, by a rare word beside a common one as by the index alone', async () => {
    const common = Array.from({ length: 400 }, (_, index) => named(`Library ${index}`, { Description: 'with snow' }));
    const rare = [
      named('Zebra', { Author: 'Library Team' }),
      named('Zephyr', { Description: 'a library of winds' }),
      named('Library Zebra'),
      named('Ze Library'),
    ];
    const all = await openSearch({ slug: 'one', packages: packages(...common, ...rare) });
    const few = await openSearch({ slug: 'one', packages: packages(...rare) });
    const fitting = { 'library ze': 4, 'ze library': 4, 'library zebra': 2, 'libra zephyr': 1, 'library team': 1 };
    for (const [question, count] of Object.entries(fitting)) {
      // As many as fit, since looser answers follow them.
      const found = await few.names(question, count);
      expect(await all.names(question, count), question).toEqual(found);
      expect(found, question).toHaveLength(count);
    }
    expect(await all.names('library ze', 4)).toEqual(['Library Zebra', 'Ze Library', 'Zebra', 'Zephyr']);
  });

  it('reads what a package says even if it looks like the record that it is in', async () => {
    const { names } = await openSearch({
      slug: 'one',
      packages: packages(
        named('One', { Description: 'Wallpaper ","price":"Free" and dunes', Maintainer: 'Mira "\\' }),
        named('Two', { Description: 'Dunes \\","price":', Maintainer: 'Wallpaper ,"price":null' }),
        named('Three', { Description: 'Dunes', Author: '","price":"Wallpaper' }),
      ),
    });
    expect(await names('wallpaper dunes')).toEqual(['One', 'Three', 'Two']);
    expect(await names('wallpaper mira', 1)).toEqual(['One']);
  });

  it('takes any text as a question and never as syntax', async () => {
    const { search } = await openSearch({ slug: 'one', packages: tweaks });
    const texts = [
      '"',
      "'",
      '*',
      'AND',
      'NEAR(a b)',
      'a OR b',
      '%',
      '(',
      'name:snow',
      '{name} : x',
      '-snow',
      '^snow',
      '🎉🎉',
    ];
    for (const text of [
      ...texts,
      'שלום עולם',
      'x'.repeat(256),
      'a '.repeat(128),
      '\u0000\u0001',
      "'; DROP TABLE record",
    ]) {
      const { records } = await search.searchPackages(text, 100, 1);
      expect(records.count, text).toBeLessThan(10);
    }
  });

  it('puts names first in which the words stand by themselves, of repositories of one ranking', async () => {
    const of = (name: string) => named(name, { Author: 'Jane Roe' });
    const { names } = await openSearch(
      { slug: 'one', ranking: 2, packages: packages(of('EdgeAlert'), of('Alerts'), of('Long Band Alert')) },
      { slug: 'two', ranking: 1, packages: packages(of('Red AlertBox')) },
    );
    expect(await names('jane alert')).toEqual(['Red AlertBox', 'Long Band Alert', 'Alerts', 'EdgeAlert']);
    expect(await names('alert roe')).toEqual(['Red AlertBox', 'Long Band Alert', 'Alerts', 'EdgeAlert']);
  });

  it('names as the last page one that a page leads to, however many results there are', () => {
    const found = { ids: Array.from({ length: furthestResult }, (_, id) => id), fitting: furthestResult };
    for (const limit of [1, 3, 250]) {
      const { last } = pageOf(found, limit, Number.MAX_SAFE_INTEGER);
      expect(pageOf(found, limit, last)).toMatchObject({ last, more: false });
      expect(pageOf(found, limit, last).ids.at(-1)).toBe(furthestResult - 1);
      expect(pageOf(found, limit, last + 1).ids).toEqual([]);
    }
  });

  it('pages without repeating or losing a record', async () => {
    const many = packages(
      ...Array.from({ length: 57 }, (_, index) => named(`Snow ${index}`, { Package: `a.snow${index}` })),
    );
    const { search, names } = await openSearch({ slug: 'one', packages: many });
    const all = await names('snow', 250);
    const paged: string[] = [];
    for (let page = 1; page <= 6; page++) {
      const { records, more } = await search.searchPackages('snow', 10, page);
      expect(more).toBe(page < 6);
      expect(records.count).toBe(page < 6 ? 10 : 7);
      paged.push(...parseRecords(records).map(({ name }) => `${name}`));
    }
    expect(paged).toEqual(all);
    expect(new Set(paged).size).toBe(57);
    expect(await search.searchPackages('snow', 10, 7)).toEqual({ ...nothing, last: 6 });
    expect(await search.searchPackages('snow', 250, Number.MAX_SAFE_INTEGER)).toEqual({ ...nothing, last: 1 });
  });

  it('ends at result 10,000, and leads nowhere beyond it', async () => {
    // In place of a catalog that takes a minute to build: every question has 20,000 results.
    const reading: Partial<SearchReading> = {
      match: (_, wanted) => Array.from({ length: Math.min(wanted, 20_000) }, (__, id) => id),
      records: (ids) => ({ count: ids.length, pieces: [] }),
      names: () => [],
    };
    const search = new PackageSearch(reading as SearchReading);
    const at = (limit: number, page: number) => {
      const { records, more } = search.find('snow', limit, page);
      return { count: records.count, more };
    };
    expect(at(100, 99)).toEqual({ count: 100, more: true });
    expect(at(100, 100), 'the last page').toEqual({ count: 100, more: false });
    expect(at(100, 101)).toEqual({ count: 0, more: false });
    expect(at(7, 1428)).toEqual({ count: 7, more: true });
    expect(at(7, 1429), 'a last page that is not full').toEqual({ count: 4, more: false });
    expect(at(7, 1430)).toEqual({ count: 0, more: false });
  });

  it('keeps the order of what is alike when repositories are read anew, with what is new behind it', async () => {
    const of = (slug: string, ...stanzas: Record<string, string>[]) => ({ slug, packages: packages(...stanzas) });
    const [a, b, c, d, e] = [named('Snow A'), named('Snow B'), named('Snow C'), named('Snow D'), named('Snow E')];
    const { names, search, state } = await openSearch(of('one', a, b), of('two', c));
    const rebuilt = async (...repositories: Parameters<typeof buildCatalog>[1]) => {
      await buildCatalog(state, repositories);
      search.refresh();
      return names('snow');
    };
    const newer = (stanza: Record<string, string>) => ({ ...stanza, Version: '2.0' });
    expect(await names('snow')).toEqual(['Snow A', 'Snow B', 'Snow C']);
    expect(await rebuilt(of('one', newer(a), b), of('two', c))).toEqual(['Snow A', 'Snow B', 'Snow C']);
    // The first takes no number that one of the other had and gets again.
    expect(await rebuilt(of('one', d, a, b), of('two', e, newer(c)))).toEqual([
      'Snow A',
      'Snow B',
      'Snow C',
      'Snow D',
      'Snow E',
    ]);
    expect(await rebuilt(of('one', newer(a)), of('two', e, c))).toEqual(['Snow A', 'Snow C', 'Snow E']);
    expect(await rebuilt(of('one', { ...a, Name: 'Snow Longer' }, d), of('two', e, c))).toEqual([
      'Snow C',
      'Snow E',
      'Snow D',
      'Snow Longer',
    ]);
  });

  it('answers latest records alone, and forgets those of a repository that is gone', async () => {
    const repository = {
      slug: 'one',
      packages: packages({ Name: 'Snow', Version: '1' }, { Name: 'Snow', Version: '2' }),
    };
    const other = { slug: 'two', packages: packages({ Name: 'Snow', Version: '3' }) };
    const { search, state } = await openSearch(repository, other);
    const versions = async () =>
      parseRecords((await search.searchPackages('snow', 10, 1)).records).map(({ version }) => version);
    expect((await versions()).sort()).toEqual(['2', '3']);
    await buildCatalog(state, [repository]);
    expect((await versions()).sort(), 'a generation stays in force until refreshed').toEqual(['2', '3']);
    search.refresh();
    expect(await versions()).toEqual(['2']);
  });

  it('H7: locks a generation once and not for each statement, beside other readers, and lets go of it at its end', async () => {
    const { search, names, state } = await openSearch({ slug: 'one', packages: packages({ Name: 'Snow' }) });
    const file = catalogPath(state);
    const write = () => {
      const writer = CatalogFile.open(file);
      try {
        writer.exec('BEGIN EXCLUSIVE; ROLLBACK');
      } finally {
        writer.close();
      }
    };
    write();
    expect(await names('snow')).toEqual(['Snow']);
    expect(write).toThrow('locked');
    const reader = new CatalogFiles(state);
    expect((await reader.searchPackages('snow', 1, 1)).records.count).toBe(1);
    reader.close();
    search.close();
    expect(write).not.toThrow();
  });
});
