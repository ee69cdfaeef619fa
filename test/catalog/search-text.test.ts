import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SqlValue, WritableDatabase } from '../../src/catalog/database.ts';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { createTables } from '../../src/catalog/schema.ts';
import { SearchReading } from '../../src/catalog/search-reading.ts';
import { foldText, joinWords, nameTerms, splitParts, splitWords } from '../../src/catalog/search-text.ts';
import {
  addToBucket,
  bucketOfKey,
  composeBucket,
  findDeletionKeys,
  isOneMistakeApart,
  type KeyedTerm,
  termsOfKey,
} from '../../src/catalog/spelling.ts';
import { SpellingWriter } from '../../src/catalog/spelling-writer.ts';
import { findCorrections } from '../../src/search/corrections.ts';
import { temporaryFolder } from '../support/folder.ts';

describe('search text', () => {
  it('disregards case, diacritics, width and ligatures', () => {
    for (const [text, folded] of [
      ['Éclair', 'eclair'],
      ['ＡＢＣ', 'abc'],
      ['Straße', 'strasse'],
      ['Øl Łódź', 'ol lodz'],
      ['İstanbul', 'istanbul'],
      ['ŒUVRE', 'oeuvre'],
    ] as const) {
      expect(foldText(text)).toBe(folded);
    }
  });

  it('leaves out signs of trade marks in time that grows with the text and no faster', () => {
    expect(foldText('Foo™ Bar™℠Baz ™™')).toBe('foo bar baz ');
    const start = process.cpuUsage().user;
    expect(foldText(`${'™'.repeat(60_000)}x`)).toBe(' x');
    expect(process.cpuUsage().user - start).toBeLessThan(1_000_000);
  });

  it('takes names apart at capitals, digits and punctuation, and puts neighbours together', () => {
    expect([...nameTerms('NoFomoFix').words]).toEqual(['no', 'fomo', 'fix', 'nofomofix']);
    expect([...nameTerms('NewTerm2').words]).toContain('newterm2');
    expect([...nameTerms('NewTerm2').words]).toContain('term');
    expect([...nameTerms('AppID').words]).toEqual(['app', 'id', 'appid']);
    expect(nameTerms('Popcorn Time Pro').pairs).toEqual(['popcorntime', 'timepro']);
    expect(splitWords('汉化 tweak')).toEqual(['汉', '化', 'tweak']);
    expect(joinWords('Popcorn-Time!')).toBe('popcorntime');
  });

  it('takes the words of a name in small letters as they are, between others that it takes apart', () => {
    const { words, pairs } = nameTerms('lib-foo2, snow BoardX 2 no');
    expect([...words]).toEqual(['lib', 'foo', '2', 'foo2', 'snow', 'board', 'x', 'boardx', 'no']);
    expect(pairs).toEqual(['libfoo2', 'foo2snow', 'snowboardx', 'boardx2', '2no']);
    const small = fc.array(fc.stringMatching(/^[a-z]{1,6}$/), { maxLength: 5 });
    fc.assert(
      fc.property(small, (all) => {
        const pairsOf = all.slice(1).map((word, index) => `${all[index]}${word}`);
        expect(nameTerms(all.join(' '))).toEqual({ words: new Set(all), pairs: pairsOf });
      }),
    );
  });

  it('takes a word of another script out of a text without blanks, and each character of that as a word', () => {
    expect(splitWords('微信WeChat助手')).toEqual(['微', '信', 'wechat', '助', '手']);
    expect(splitWords('iOS14越狱')).toEqual(['ios14', '越', '狱']);
    expect(splitWords('サーバーApp')).toEqual(['サ', 'ー', 'ハ', 'ー', 'app']);
    expect([...nameTerms('微信WeChat').words]).toEqual(['微', '信', 'we', 'chat', 'wechat']);
  });

  it('gives a name each word of its text, and those without its signs', () => {
    expect([...nameTerms('Winter №5').words]).toEqual(expect.arrayContaining(['winter', '5', 'no5']));
    expect(nameTerms('Foo™ Bar').pairs).toEqual(['foobar', 'footmbar']);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const { words } = nameTerms(text);
        expect(splitWords(text).filter((word) => !words.has(word))).toEqual([]);
      }),
    );
  });

  it('has no parts of a text with more than anybody types', () => {
    expect(splitParts('one two three four five six seven eight')).toHaveLength(8);
    expect(splitParts('one two three four five six seven eight nine')).toEqual([]);
  });

  it('gives the same words for a text and for its folded form', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(splitWords(foldText(text))).toEqual(splitWords(text));
      }),
    );
  });
});

const letters = fc.array(fc.constantFrom(...'abcdefgh'), { minLength: 5, maxLength: 12 }).map((list) => list.join(''));

const openSpelling = () => {
  const database = CatalogFile.open(path.join(temporaryFolder(), 'spelling.sqlite'));
  onTestFinished(() => database.close());
  createTables(database);
  const writes: SqlValue[][] = [];
  const counting: WritableDatabase = {
    prepare: (sql) => database.prepare(sql),
    exec: (sql) => database.exec(sql),
    prepareWrite: (sql) => {
      const statement = database.prepareWrite(sql);
      return {
        run: (...values) => {
          writes.push(values);
          statement.run(...values);
        },
      };
    },
  };
  const reading = new SearchReading(database);
  return { database: counting, writes, corrections: (word: string) => findCorrections(reading, word) };
};

describe('spelling', () => {
  it('finds every mistake of one letter under a common deletion', () => {
    const mistake = fc.record({ word: letters, at: fc.nat(11), kind: fc.nat(3), letter: fc.constantFrom(...'xyz') });
    fc.assert(
      fc.property(mistake, ({ word, at: anywhere, kind, letter }) => {
        const at = anywhere % word.length;
        const [head, rest] = [word.slice(0, at), word.slice(at + 1)];
        const typed = [
          head + rest,
          head + letter + word.slice(at),
          head + letter + rest,
          head + (rest[0] ?? '') + word[at] + rest.slice(1),
        ][kind];
        if (typed === undefined || typed === word) return;
        expect(isOneMistakeApart(typed, word)).toBe(true);
        expect(findDeletionKeys(typed).intersection(findDeletionKeys(word)).size).toBeGreaterThan(0);
      }),
    );
  });

  it('looks at the terms of one key of a bucket, which any that it wrote are among', () => {
    const term = fc.oneof(letters, fc.constantFrom('żółtáb', '日本語です日', 'a0z9a0z9'));
    fc.assert(
      fc.property(fc.uniqueArray(term, { maxLength: 60 }), (terms) => {
        const keyed = terms
          .flatMap((one) => [...findDeletionKeys(one)].map((key): KeyedTerm => [key, one]))
          .sort(([a], [b]) => a - b);
        for (const [bucket, some] of Map.groupBy(keyed, ([key]) => bucketOfKey(key))) {
          const text = composeBucket(some);
          for (const [key, terms] of Map.groupBy(some, ([each]) => each)) {
            expect(termsOfKey(key, text)).toEqual(terms.map(([, one]) => one));
          }
          // In two turns, of which the second has some of the first again.
          const [early, late] = [some.slice(0, some.length / 2), some.slice(some.length / 3)];
          const added = addToBucket(composeBucket(early), late);
          expect(added, String(bucket)).toBe(text);
        }
      }),
    );
    // Groups that nothing is in, before, between and behind others.
    const text = composeBucket([
      [1, 'first'],
      [1, 'second'],
      [3, 'third'],
    ]);
    expect([0, 1, 2, 3, 4, 31].map((key) => termsOfKey(key, text))).toEqual([
      [],
      ['first', 'second'],
      [],
      ['third'],
      [],
      [],
    ]);
    expect(termsOfKey(1, '')).toEqual([]);
    expect(addToBucket('', [[1, 'first']])).toBe(composeBucket([[1, 'first']]));
    expect(addToBucket(text, [])).toBe(text);
    // Before, between and behind the groups that stand there, and a term that is a part of others.
    const more: KeyedTerm[] = [
      [0, 'zeroth'],
      [1, 'irs'],
      [1, 'first'],
      [2, 'between'],
      [3, 'third and more'],
      [31, 'last'],
    ];
    expect([0, 1, 2, 3, 31].map((key) => termsOfKey(key, addToBucket(text, more)))).toEqual([
      ['zeroth'],
      ['first', 'second', 'irs'],
      ['between'],
      ['third', 'third and more'],
      ['last'],
    ]);
  });

  it('is kept in rows to which only new terms are added', () => {
    const { database, writes, corrections } = openSpelling();
    const writer = new SpellingWriter(database);
    const write = (...terms: string[]) => {
      for (const term of terms) writer.add(term);
      writes.length = 0;
      writer.write();
      return writes.length;
    };
    expect(write('snowboard', 'keyboard', 'tweak')).toBeGreaterThan(10);
    expect(write('keyboard', 'tweak')).toBe(0);
    expect(corrections('snowbaord')).toEqual(['snowboard']);
    // Those of which the deletions are, and no other row.
    expect(write('snowboards', 'tweak')).toBe(findDeletionKeys('snowboards').size);
    expect(corrections('snowboardz').sort()).toEqual(['snowboard', 'snowboards']);
    expect(corrections('keyyboard')).toEqual(['keyboard']);
    expect(corrections('nothing')).toEqual([]);
    expect(write()).toBe(0);
  });

  it('does not take two mistakes for one', () => {
    expect(isOneMistakeApart('azure', 'azure')).toBe(false);
    for (const [a, b] of [
      ['azure', 'azxye'],
      ['azure', 'zaeru'],
      ['abcde', 'ecbda'],
      ['snow', 'snowbo'],
    ] as const) {
      expect(isOneMistakeApart(a, b)).toBe(false);
    }
  });
});
