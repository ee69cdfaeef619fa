import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeFileName, decodeFolderName, encodeFileName, encodeFolderName } from '../../src/contract/filenames.ts';
import { anyCharacter } from '../support/any-character.ts';

const ofAnyCharacters = (maxLength: number) =>
  fc.string({ unit: anyCharacter, minLength: 1, maxLength, size: 'max' }).map((text) => text.toWellFormed());

const hostile = fc.oneof(
  // A file name holds 250 characters: few are longer, because to make one is what the test takes.
  { arbitrary: ofAnyCharacters(300), weight: 1 },
  { arbitrary: ofAnyCharacters(40), weight: 5 },
  {
    arbitrary: fc.string({
      unit: fc.constantFrom('a', 'A', '.', '/', '\\', '_', '=', '~', '%', ' ', 'é', '\u0301', '\u0000'),
      minLength: 1,
    }),
    weight: 6,
  },
  {
    arbitrary: fc.constantFrom(
      '.',
      '..',
      '../../etc/passwd',
      'CON',
      'con',
      'nul.',
      'a.',
      'a ',
      '__proto__',
      'constructor',
      '_a',
      '=5f',
      '\ufeffa',
    ),
    weight: 6,
  },
);

const slug = fc
  .tuple(
    fc.constantFrom('a', 'A', '1', 'json', 'index'),
    fc.string({ unit: fc.constantFrom('a', 'A', '1', '.', '_', '-', '.json', '.html', '.br', '.JSON'), maxLength: 5 }),
  )
  .map((parts) => parts.join(''));

describe('names of the files and folders of slugs', () => {
  it('C9: folders are called as files are, but for a dot at the end or before the ending of a file', () => {
    for (const name of ['foo', '1', 'a.b', 'a..b', 'a-1', 'json']) expect(encodeFolderName(name)).toBe(name);
    expect(['A.b_C', 'foo.json', 'index.html', 'a.json.br', 'a.', 'x.JSON'].map(encodeFolderName)).toEqual([
      '_a.b=5f_c',
      'foo=2ejson',
      'index=2ehtml',
      'a=2ejson.br',
      'a=2e',
      'x._j_s_o_n',
    ]);
  });

  it('C9: can be turned back and are one segment, which no other slug has, in any letter case (5,000 pairs)', () => {
    fc.assert(
      fc.property(slug, slug, (a, b) => {
        const folder = encodeFolderName(a);
        expect(decodeFolderName(folder)).toBe(a);
        expect(folder).toMatch(/^[a-z0-9=_-][a-z0-9.=_-]{0,250}$/);
        expect(folder).not.toMatch(/\.(?:json|html|$)/);
        expect(folder === encodeFolderName(b).toLowerCase()).toBe(a === b);
        // What lies beside it: the documents of slugs, and their compressed copies.
        for (const ending of ['.json', '.json.br', '.json.gz'])
          expect(`${encodeFileName(b)}${ending}`).not.toBe(folder);
      }),
      { numRuns: 5000 },
    );
    for (const name of ['', 'foo.json', 'a.', 'A', '=2e/', 'a=2eb']) expect(decodeFolderName(name)).toBeUndefined();
  });
});

describe('file names of identifiers', () => {
  it('C9: leave identifiers of lower-case letters, digits, dots, plus and minus as they are', () => {
    for (const id of ['com.example.one', 'libstdc++6', 'a', '0', 'g++-12', '.', '..', '-']) {
      expect(encodeFileName(id)).toBe(id);
    }
  });

  it('C9: can be turned back, stay in their folder and fit any disk (10,000 names)', () => {
    fc.assert(
      fc.property(hostile, (id) => {
        const file = encodeFileName(id);
        expect(decodeFileName(file)).toBe(id);
        const segments = file.split('/');
        expect(segments.slice(0, -1).every((segment) => segment.endsWith('_'))).toBe(true);
        for (const segment of segments) {
          expect(segment).toMatch(/^[a-z0-9.+\-_=]+$/);
          expect(segment.length).toBeLessThanOrEqual(251);
        }
        expect(`${segments.at(-1)}.json`.length).toBeLessThanOrEqual(255);
      }),
      { numRuns: 10_000 },
    );
  });

  it('C9: do not meet on a disk that ignores letter case or composes Unicode', () => {
    fc.assert(
      fc.property(hostile, hostile, (a, b) => {
        const same =
          encodeFileName(a).toLowerCase().normalize('NFC') === encodeFileName(b).toLowerCase().normalize('NFC');
        expect(same).toBe(a === b);
      }),
      { numRuns: 10_000 },
    );
    expect(encodeFileName('com.Example')).not.toBe(encodeFileName('com.example'));
    expect(encodeFileName('e\u0301')).not.toBe(encodeFileName('\u00e9'));
  });

  it('C9: can be turned back where an identifier begins with a byte order mark', () => {
    for (const id of ['\ufeffa', '\ufeff\ufeffA', `\ufeff${'z'.repeat(255)}`])
      expect(decodeFileName(encodeFileName(id))).toBe(id);
  });

  it('refuses what it made of no identifier', () => {
    for (const file of ['', 'A', '_', '=zz', 'a/b', '=41', '_-', 'a_/b']) expect(decodeFileName(file)).toBeUndefined();
  });
});
