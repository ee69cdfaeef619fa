import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CatalogDatabase, SqlValue, Statement } from '../../src/catalog/database.ts';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import type { SearchReading } from '../../src/catalog/search-reading.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { prepareWordsWithInside, WordListWriter, wordListTables } from '../../src/catalog/word-list.ts';
import { PackageSearch } from '../../src/search/package-search.ts';
import { allButOneWord } from '../../src/search/question.ts';
import { buildCatalog, packages, type SourceRepository } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';
import { named, openSearch } from './open-search.ts';

const one = (...stanzas: Record<string, string>[]): SourceRepository => ({
  slug: 'one',
  packages: packages(...stanzas),
});

/** The tables of words of a catalog, without the order in which some came. */
const readVocabulary = (state: string): string[][] => {
  const database = CatalogFile.openReadOnly(catalogPath(state));
  try {
    return ['spelling', 'word_list', 'inner_word'].map((table) =>
      database
        .prepare<SqlValue[]>(`SELECT * FROM ${table}`)
        .all()
        .map((row) => row.map((value) => String(value).split('\n').sort().join(' ')).join(' '))
        .sort(),
    );
  } finally {
    database.close();
  }
};

describe('what follows where few hold all words', () => {
  it('holds a question of four letters or more inside a word of its name or identifier', async () => {
    const { names } = await openSearch(
      one(named('snowboard'), named('Board'), named('Winter', { Package: 'org.example.keyboarder' }), named('Aboa')),
    );
    expect(await names('boar')).toEqual(['Board', 'Winter', 'snowboard']);
    expect(await names('owboar')).toEqual(['snowboard']);
    expect(await names('owbo')).toEqual(['snowboard']);
    expect(await names('owb'), 'three letters').toEqual([]);
    expect(await names('OWBÖARD'), 'folded as all is').toEqual(['snowboard']);
  });

  it('comes after one typing mistake, and before what lacks a word', async () => {
    const { names } = await openSearch(one(named('xnowboard'), named('Boards'), named('snowboarder')));
    expect(await names('nowboard')).toEqual(['xnowboard', 'snowboarder']);
    const { names: mistaken } = await openSearch(one(named('Azure'), named('xxazrue')));
    expect(await mistaken('azrue')).toEqual(['Azure', 'xxazrue']);
  });

  it('matches all words but one: names first, then the rarest words, then descriptions', async () => {
    const { names } = await openSearch(
      one(
        ...Array.from({ length: 40 }, (_, index) => named(`Tweak ${index}`)),
        named('Choicy Rootless'),
        named('Choicy'),
        named('Zebra', { Description: 'like choicy' }),
      ),
    );
    const found = await names('choicy tweak');
    expect(found.slice(0, 2)).toEqual(['Choicy', 'Choicy Rootless']);
    expect(found.slice(2, 42).every((name) => name?.startsWith('Tweak'))).toBe(true);
    expect(found[42]).toBe('Zebra');
    expect(await names('choicy qvxkz')).toEqual(['Choicy', 'Choicy Rootless', 'Zebra']);
    expect(await names('qvxkz choicy rootless')).toEqual(['Choicy Rootless']);
    expect(await names('qvxkz choicy zzzz'), 'two words too many').toEqual([]);
    expect(await names('choicy 7'), 'and none of the tweaks for their digit').toEqual([
      'Choicy',
      'Choicy Rootless',
      'Zebra',
    ]);
    expect(await names('qvxkz 7'), 'nothing but a digit').toEqual([]);
  });

  it('takes a version for one word, and so what is typed before the name of what it is for or behind it of iOS', async () => {
    const { names } = await openSearch(
      one(named('Choicy'), named('Choicy 1'), named('White Point Module'), named('Two for One'), named('1.2.3 of 4')),
    );
    for (const more of ['1.2.3~beta4', 'v1.2-3+debug', 'iOS 14', 'for  iOS 14', 'on ios 16.5.1', '(iOS 15-16)']) {
      expect((await names(`choicy ${more}`))[0], more).toBe('Choicy');
      expect((await names(`white point module ${more}`))[0], more).toBe('White Point Module');
    }
    for (const before of ['tweak for', 'some-thing for', '2.0']) {
      expect((await names(`${before} choicy`))[0], before).toBe('Choicy');
    }
    expect((await names('choicy 1 zzzz'))[0], 'what is called more of it').toBe('Choicy 1');
    expect(await names('two for one'), 'what is called so').toEqual(['Two for One']);
    expect(await names('choicy zzzz qvxkz'), 'two words').toEqual([]);
    const { names: others } = await openSearch(one(named('Package'), named('Lib Foo Plus')));
    expect((await others('lib-foo package'))[0], 'no version').toBe('Lib Foo Plus');
    expect(await names('a b c d e f g 1.2 choicy'), 'more than anybody types').toEqual([]);
  });

  it('is found of four words and more as well, each of which may be the one too many', async () => {
    const words = ['alpha', 'bravo', 'charlie', 'delta', 'echo', 'foxtrot', 'golf', 'hotel'];
    const { names } = await openSearch(one(named(words.join(' ')), named('alpha bravo'), named('Other')));
    for (let count = 4; count <= words.length; count++) {
      for (let left = 0; left < count; left++) {
        const asked = words.slice(0, count).with(left, 'xyxyx');
        expect(await names(asked.join(' ')), asked.join(' ')).toEqual([words.join(' ')]);
      }
    }
    expect(await names('alpha bravo xyxyx zyzyz')).toEqual([]);
    expect(await names('a b c d e xyxyx'), 'letters').toEqual([words.join(' ')]);
  });

  it('asks for exactly the texts that hold all words but one, however many they are', () => {
    const expression = fc
      .integer({ min: 2, max: 8 })
      .chain((count) =>
        fc.record({ count: fc.constant(count), held: fc.array(fc.boolean(), { minLength: count, maxLength: count }) }),
      );
    fc.assert(
      fc.property(expression, ({ count, held }) => {
        const words = Array.from({ length: count }, (_, index) => `w${index}`);
        const condition = allButOneWord('name', words)
          .replace('{name} : ', '')
          .replace(/"w(\d)" \*/g, (_, index) => `${held[Number(index)]}`)
          .replaceAll('AND', '&&')
          .replaceAll('OR', '||');
        const lacking = held.filter((has) => !has).length;
        expect(new Function(`return ${condition}`)(), condition).toBe(lacking <= 1);
      }),
    );
  });

  it('does not follow where as many fit as were asked for, and keeps to one order from page to page', async () => {
    const both = Array.from({ length: 12 }, (_, index) => named(`Snow Board ${index}`));
    const single = Array.from({ length: 60 }, (_, index) => named(`Snow ${index}`));
    const { names, search } = await openSearch(one(...both, ...single, named('Board A')));
    expect(await names('snow board', 5, 3), 'the last that fit').toHaveLength(2);
    expect((await search.searchPackages('snow board', 5, 3)).more).toBe(false);
    const all = await names('snow board', 250);
    expect(all).toHaveLength(73);
    for (const limit of [13, 20, 33, 50]) {
      const pages: (string | null)[] = [];
      for (let page = 1; page <= Math.ceil(73 / limit); page++) pages.push(...(await names('snow board', limit, page)));
      expect(pages, `${limit} a page`).toEqual(all);
    }
  });

  it('finds the maintainer if there is no author, and nobody else', async () => {
    const { names } = await openSearch(
      one(
        named('Alpha', { Maintainer: 'Jane Roe <jane@mail.example>' }),
        named('Bravo', { Maintainer: 'Jane Roe <jane@mail.example>', Author: 'John Doe' }),
      ),
    );
    expect(await names('jane alph')).toEqual(['Alpha']);
    expect(await names('jane')).toEqual(['Alpha']);
    expect(await names('john')).toEqual(['Bravo']);
    expect(await names('mail')).toEqual([]);
  });

  it('puts those descriptions first that hold the words together and by themselves, and the shorter ones', async () => {
    const of = (name: string, Description: string) => named(name, { Description });
    const { names } = await openSearch(
      one(
        of('A', 'themes for the icons of all your applications'),
        of('Bb', 'a theme that has the icon, and much more besides'),
        of('Ccc', 'the icon of a theme'),
        of('Dddd', 'a theme icon in a text that is as long as it may be'),
      ),
    );
    expect(await names('theme icon')).toEqual(['Dddd', 'Ccc', 'Bb', 'A']);
  });

  it('looks at a hundred descriptions for the shortest, and at none where they are too long for that', async () => {
    const of = (name: string, Description: string) => named(name, { Description });
    const many = (count: number, more: string) =>
      Array.from({ length: count }, (_, index) => of(`Package ${index}`, `a theme with icon number ${index}${more}`));
    const first = async (...packages: ReturnType<typeof named>[]) => {
      const { names } = await openSearch(one(...packages, of('Something else', 'theme icon')));
      return (await names('theme icon', 1))[0];
    };
    expect(await first(...many(126, ''))).toBe('Something else');
    // From here on the order of the index tells: the shorter names come first.
    expect(await first(...many(127, ''))).toBe('Package 0');
    expect(await first(...many(20, `, ${'and so on '.repeat(1400)}`))).toBe('Package 0');
  });

  it('tells descriptions of as many words apart by their letters', async () => {
    const { names } = await openSearch(
      one(named('A', { Description: 'theme icon considerable' }), named('Bb', { Description: 'theme icon small' })),
    );
    expect(await names('icon theme')).toEqual(['Bb', 'A']);
  });

  it('takes a description for no longer by its short words', async () => {
    const { names } = await openSearch(
      one(
        named('A', { Description: 'icon, every single theme' }),
        named('Bb', { Description: 'the icon of a theme or two, for you and for me' }),
      ),
    );
    expect(await names('theme icon')).toEqual(['Bb', 'A']);
  });

  it('finds characters of an unspaced script together, those too that come twice', async () => {
    const { names } = await openSearch(
      one(named('A', { Description: 'ただの表示' }), named('Bb', { Description: 'ただただ表示を変更する' })),
    );
    expect(await names('ただただ')).toEqual(['Bb', 'A']);
    expect(await names('表示')).toEqual(['A', 'Bb']);
    // Of a word of two characters one alone is another word.
    for (const question of ['表音', '表音!', '「表音」']) expect(await names(question), question).toEqual([]);
    expect(await names('表示 音')).toEqual(['A', 'Bb']);
  });
});

describe('a long name in a script without blanks', () => {
  it('is not found by one that only begins alike', async () => {
    const { names } = await openSearch(
      one(
        named('微信自动抢红包插件专业版', { Package: 'a.pro' }),
        named('微信自动抢红包插件免费版', { Package: 'a.free' }),
      ),
    );
    expect(await names('微信自动抢红包插件专业版')).toEqual(['微信自动抢红包插件专业版']);
    expect(await names('微信自动抢红包插件')).toHaveLength(2);
  });
});

describe('H7 what follows where few hold all words', () => {
  it('asks the index hardly more often the more words there are', () => {
    const questionsFor = (words: number) => {
      let asked = 0;
      // Every word is known, and no question finds enough.
      const reading: Partial<SearchReading> = {
        match: (_, wanted) => {
          asked++;
          return wanted === 1 ? [1] : [];
        },
        names: () => [],
        texts: () => [],
        termsOf: () => [],
        wordsWithInside: () => [],
      };
      const text = Array.from({ length: words }, (_, index) => `${index}word`).join(' ');
      new PackageSearch(reading as SearchReading).locate(text, 100, 1);
      return asked;
    };
    // One more for each word, which is whether it is known.
    expect(questionsFor(8) - questionsFor(4)).toBeLessThanOrEqual(4);
    expect(questionsFor(100)).toBe(questionsFor(8));
    expect(questionsFor(8)).toBeLessThan(25);
  });
});

describe('H7 words that hold a text', () => {
  const openWords = (...words: readonly string[]) => {
    const database = CatalogFile.open(path.join(temporaryFolder(), 'words.sqlite'));
    onTestFinished(() => database.close());
    database.exec(wordListTables);
    const writer = new WordListWriter(database);
    const write = (...more: readonly string[]) => {
      for (const word of more) writer.add([word]);
      writer.write();
    };
    write(...words);
    return { database, write, find: prepareWordsWithInside(database) };
  };

  it('are found inside and not at the beginning, the shortest first', () => {
    const { find, write } = openWords(
      'abcabc',
      'board',
      'boardboard',
      'xboardboard',
      'snowboarding',
      'keyboard',
      'wordpad',
    );
    expect(find('board', 10)).toEqual(['keyboard', 'xboardboard', 'snowboarding']);
    expect(find('board', 1)).toEqual(['keyboard']);
    expect(find('zzzz', 10)).toEqual([]);
    expect(find('boar', 10)).toEqual(['keyboard', 'xboardboard', 'snowboarding']);
    expect(find('oar', 10)).toEqual([]);
    expect(find('o'.repeat(500), 10)).toEqual([]);
    // Each four of its letters stand in some word, and all of them in none.
    expect(find('nowboardboard', 10)).toEqual([]);
    write('xboard', 'keyboard');
    expect(find('board', 10)).toEqual(['xboard', 'keyboard', 'xboardboard', 'snowboarding']);
    expect(openWords().find('zzzz', 10)).toEqual([]);
  });

  it('are found by reading those alone that have its rarest four letters, and of these a bounded number', () => {
    const many = Array.from({ length: 9000 }, (_, index) => `xcommon${index}`);
    const { database, write } = openWords(...many, 'xcommonrare');
    let read = 0;
    const counting: CatalogDatabase = {
      prepare: <R extends readonly SqlValue[]>(sql: string): Statement<R> => {
        const statement = database.prepare<R>(sql);
        const count = (row: R) => {
          for (const value of row) read += typeof value === 'string' ? value.length : 0;
          return row;
        };
        return {
          get: (...values) => {
            const row = statement.get(...values);
            return row === undefined ? undefined : count(row);
          },
          all: (...values) => statement.all(...values).map(count),
          iterate: (...values) => statement.iterate(...values),
        };
      },
    };
    const find = prepareWordsWithInside(counting);
    expect(find('commonrare', 10)).toEqual(['xcommonrare']);
    expect(read).toBeLessThan(20);
    // A longer word than thousands of others with the same letters is not looked for; a shorter one is.
    write('aacommon', 'common'.padStart(60, 'a'));
    expect(find('common', 10)).toContain('aacommon');
    const [kept = 0] = database.prepare<[number]>('SELECT max(size) FROM inner_word').get() ?? [];
    expect(kept).toBe(8192);
    expect(find('common', 100_000)).toHaveLength(8192);
  });

  it('are bounded for each package, and no word of another is lost to one with many', async () => {
    const many = Array.from({ length: 400 }, (_, index) => `q${index}vxkzjw`).join(' ');
    const { names } = await openSearch(one(named(many, { Package: 'com.example.many' }), named('snowboard')));
    expect(await names('owboard')).toEqual(['snowboard']);
    expect(await names('399vxkzjw')).toEqual([]);
  });

  it('go with the last package that is called so, and take the place of no other then', async () => {
    const letters = [...'abcdefghi'];
    const gone = letters.flatMap((first) => letters.map((second) => named(`${first}${second}owboard`)));
    const kept = named('snowboard');
    const two = (...stanzas: ReturnType<typeof named>[]) => ({ slug: 'two', packages: packages(...stanzas) });
    const { state, search, names } = await openSearch(
      one(...gone, kept, named('Choicy Tap')),
      two(kept, named('Choicyy')),
    );
    expect(await names('owboard')).toHaveLength(64);
    const left = [one(named('Choicy Tap', { Version: '2' })), two(kept, named('Keyboard'))];
    await buildCatalog(state, left);
    search.refresh();
    expect(await names('owboard')).toEqual(['snowboard']);
    expect(await names('eyboard')).toEqual(['Keyboard']);
    expect(readVocabulary(state)).toEqual(readVocabulary((await openSearch(...left)).state));
  });
});

it('counts no name that is gone among those that a mistyped one may mean', async () => {
  const gone = ['snabper', 'snacper', 'snadper', 'snafper', 'snagper'].map((name) => named(name));
  const left = [named('Snap Per Three'), named('Snipper')];
  const { state, search, names } = await openSearch(one(...left, ...gone));
  expect(await names('snap per')).toEqual(['Snap Per Three']);
  await buildCatalog(state, [one(...left)]);
  search.refresh();
  expect(await names('snap per')).toEqual(['Snap Per Three', 'Snipper']);
  expect(readVocabulary(state)).toEqual(readVocabulary((await openSearch(one(...left))).state));
});
