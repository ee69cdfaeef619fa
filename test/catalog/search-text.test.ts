import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldText, joinWords, nameTerms, splitWords } from '../../src/catalog/search-text.ts';
import { deletionBuckets, isOneMistakeApart } from '../../src/catalog/spelling.ts';

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

  it('takes names apart at capitals, digits and punctuation, and puts neighbours together', () => {
    expect([...nameTerms('NoFomoFix').words]).toEqual(['no', 'fomo', 'fix', 'nofomofix']);
    expect([...nameTerms('NewTerm2').words]).toContain('newterm2');
    expect([...nameTerms('NewTerm2').words]).toContain('term');
    expect([...nameTerms('AppID').words]).toEqual(['app', 'id', 'appid']);
    expect(nameTerms('Popcorn Time Pro').pairs).toEqual(['popcorntime', 'timepro']);
    expect(splitWords('汉化 tweak')).toEqual(['汉', '化', 'tweak']);
    expect(joinWords('Popcorn-Time!')).toBe('popcorntime');
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
        expect(deletionBuckets(typed).intersection(deletionBuckets(word)).size).toBeGreaterThan(0);
      }),
    );
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
