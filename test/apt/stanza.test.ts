import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createStanzaReader } from '../../src/apt/stanza.ts';
import { limits } from '../../src/contract/limits.ts';

type Event = { stanza: Record<string, string> } | { finding: string; detail: string };

const readPieces = (pieces: Uint8Array[], maxStanzaBytes?: number): Event[] => {
  const events: Event[] = [];
  const reader = createStanzaReader(
    {
      stanza: (fields) => events.push({ stanza: Object.fromEntries(fields) }),
      finding: (finding, detail) => events.push({ finding, detail }),
    },
    maxStanzaBytes === undefined ? {} : { maxStanzaBytes },
  );
  for (const piece of pieces) reader.write(piece);
  reader.end();
  return events;
};

const read = (text: string | Uint8Array, maxStanzaBytes?: number): Event[] =>
  readPieces([Buffer.from(text as string)], maxStanzaBytes);

const stanzas = (text: string | Uint8Array): Record<string, string>[] =>
  read(text).flatMap((event) => ('stanza' in event ? [event.stanza] : []));

const findings = (text: string | Uint8Array): string[] =>
  read(text).flatMap((event) => ('finding' in event ? [event.finding] : []));

describe('createStanzaReader', () => {
  it('reads fields, continuation lines and several stanzas', () => {
    expect(stanzas('Package: a\nDescription: one\n two\n  three\n .\n\tfour\n\n\n\nPackage:b')).toEqual([
      { package: 'a', description: 'one\ntwo\n three\n.\nfour' },
      { package: 'b' },
    ]);
  });

  it('takes CRLF, mixed line ends, a separator that is CR alone, and a byte order mark', () => {
    const expected = [{ package: 'a', version: '1' }, { package: 'b' }, { package: 'c' }];
    expect(stanzas('\ufeffPackage: a\r\nVersion: 1\r\n\r\nPackage: b\n\r\nPackage: c\r\n')).toEqual(expected);
    expect(stanzas('\n\r\n\nPackage: a\nVersion: 1\n\r\n\r\n\nPackage: b\r\n\nPackage: c')).toEqual(expected);
  });

  it('keeps a line of blanks inside a field, as no separator', () => {
    expect(stanzas('Package: a\nDescription: x\n \n y\n\t\r\nVersion: 1\n')).toEqual([
      { package: 'a', description: 'x\n\ny\n', version: '1' },
    ]);
  });

  it('V2: matches names without regard to case, and the last of two equal fields wins', () => {
    expect(stanzas('PACKAGE: a\npackage: b\nSHA256 : x\n')).toEqual([{ package: 'b', sha256: 'x' }]);
    expect(findings('Package: a\npackage: b\n')).toEqual(['field-repeated']);
    // Text that is not UTF-8 is decoded field by field.
    expect(stanzas(Buffer.from('Name: \xe9\nPackage: a\npackage: b\n', 'latin1'))).toEqual([
      { name: 'é', package: 'b' },
    ]);
  });

  it('drops what is no field, with its continuation, and never the field after it', () => {
    const text =
      'Package: a\nFilename ./x.deb\n more\nSize: 1\n//Icon: x\n y\n# Name: n\nTag: t\n# c\n u\nsee http://x\n: z\n';
    expect(read(text)).toEqual([
      { finding: 'field-malformed', detail: 'Filename ./x.deb' },
      { finding: 'field-commented-out', detail: '//Icon: x' },
      { finding: 'field-commented-out', detail: '# Name: n' },
      { finding: 'field-commented-out', detail: '# c' },
      { finding: 'field-malformed', detail: 'see http://x' },
      { finding: 'field-malformed', detail: ': z' },
      { stanza: { package: 'a', size: '1', tag: 't\nu' } },
    ]);
    expect(read(' x\nPackage: a\n\n \n')).toEqual([
      { finding: 'continuation-orphaned', detail: 'x' },
      { stanza: { package: 'a' } },
      { finding: 'stanza-empty', detail: 'blanks' },
    ]);
  });

  // Of each of these texts apt 2.6.2 says "Encountered a section with no Package: header", or takes it.
  it('notices what makes apt refuse an index though each stanza is whole', () => {
    const [one, other] = ['Package: a\n', 'Package: b\n'];
    const refused: Readonly<Record<string, string>> = {
      [`\ufeff${one}`]: 'a byte order mark before the first stanza',
      [`\n\n${one}`]: '2 blank lines before the first stanza',
      [`\r\n\r\n\n${one}`]: '3 blank lines before the first stanza',
      [`# about\n# us\n\n${one}`]: '# about',
      [`${one}\n# b\n\n${other}`]: '# b',
      [`${one}\n \n`]: 'blanks',
      [`# about us\n${one}`]: '# about us (before Package)',
      [`${one}\n// b\nno field\n${other}`]: '// b (before Package)',
      [`X: y\nno field\n more\n${one}`]: 'no field (before Package)',
      [`${one}# the end\n`]: '# the end (at the end)',
      [`${one}\n${other}\x1a`]: '\x1a (at the end)',
    };
    for (const [text, detail] of Object.entries(refused)) {
      expect(read(text), text).toContainEqual({ finding: 'stanza-empty', detail });
    }
    for (const text of [`\n${one}`, `\r\n${one}`, `${one}\n\n\n${other}\n\n\n`, '\n\n\n']) {
      expect(findings(text), text).toEqual([]);
    }
    // A colon that follows ends the name of a field, whatever that is then.
    const lost = [`# a: b\n${one}`, `no field\n x: y\n${one}`, `${one}no field\n\n${other}`, `${one}# a\n# b: c\n`];
    for (const text of lost) {
      expect(read(text), text).not.toContainEqual(expect.objectContaining({ finding: 'stanza-empty' }));
    }
    // Nor is one at the end that a stanza follows which is too large to be read.
    const oversized = `${other}Description: ${'x'.repeat(100)}\n`;
    expect(read(`${one}no field\n\n${oversized}`, 99)).not.toContainEqual(
      expect.objectContaining({ finding: 'stanza-empty' }),
    );
  });

  it('reads a field that is not UTF-8 as Windows-1252, and the other fields as UTF-8', () => {
    const bytes = Buffer.concat([
      Buffer.from('Package: a\nName: Grüße 🎉\nAuthor: '),
      Buffer.from([0x4a, 0xf6, 0x72, 0x67, 0x80]),
      Buffer.from('\n\nPackage: é\n'),
    ]);
    expect(read(bytes)).toEqual([
      { finding: 'encoding-not-utf8', detail: 'author: Jörg€' },
      { stanza: { package: 'a', name: 'Grüße 🎉', author: 'Jörg€' } },
      { stanza: { package: 'é' } },
    ]);
  });

  it('C10: takes names such as __proto__ for ordinary fields', () => {
    const seen: string[] = [];
    const reader = createStanzaReader({
      stanza: (fields) => seen.push(...[...fields].map(([name, value]) => `${name}=${value}`)),
      finding: () => {},
    });
    reader.write(Buffer.from('__proto__: x\nconstructor: y\ntoString: z\n'));
    reader.end();
    expect(seen).toEqual(['__proto__=x', 'constructor=y', 'tostring=z']);
  });

  it('keeps NUL bytes where they are', () => {
    expect(stanzas('Package: a\0b\nName: \0\n')).toEqual([{ package: 'a\0b', name: '\0' }]);
  });

  it('skips a stanza over the limit and leaks nothing of it into the next', () => {
    const huge = `Package: big\nDescription: ${'x'.repeat(300)}\nVersion: 9\n`;
    expect(read(`Package: a\n\n${huge}\nPackage: b\n`, 100)).toEqual([
      { stanza: { package: 'a' } },
      { finding: 'stanza-oversized', detail: 'Package: big' },
      { stanza: { package: 'b' } },
    ]);
    const exact = 'Package: a\nName: bc\n';
    expect(read(`${exact}\n`, exact.length)).toEqual([{ stanza: { package: 'a', name: 'bc' } }]);
    expect(read(`${exact}\n`, exact.length - 1)).toEqual([{ finding: 'stanza-oversized', detail: 'Package: a' }]);
  });

  it('C7: skips a stanza of more fields than any has, and reads the next one', () => {
    const long = (fields: number) => Array.from({ length: fields }, (_, index) => `F${index}: x\n`).join('');
    const most = limits.stanzaFields;
    expect(stanzas(`${long(most)}\nPackage: b\n`).map((stanza) => Object.keys(stanza).length)).toEqual([most, 1]);
    expect(read(`Package: a\n\n${long(most + 1)} y\n\nPackage: b\n`)).toEqual([
      { stanza: { package: 'a' } },
      { finding: 'stanza-oversized', detail: 'F0: x' },
      { stanza: { package: 'b' } },
    ]);
    expect(findings('x\n'.repeat(3 * most))).toHaveLength(most + 1);
    expect(findings(' x\n'.repeat(3 * most))).toHaveLength(most + 1);
  });

  it('reads stanzas larger than its own batches, and holds no more of an endless one than the limit', () => {
    const long = 'y'.repeat(700_000);
    expect(stanzas(`Package: a\nDescription: ${long}\n\nPackage: b\n`)).toEqual([
      { package: 'a', description: long },
      { package: 'b' },
    ]);
    const endless = Buffer.alloc(1 << 16, 'Field: value\n');
    const holds = (pieces: number): number => {
      const before = process.memoryUsage().arrayBuffers;
      const events = readPieces(Array.from({ length: pieces }, () => endless));
      expect(events).toEqual([{ finding: 'stanza-oversized', detail: 'Field: value' }]);
      return process.memoryUsage().arrayBuffers - before;
    };
    const most = (2000 * endless.length) / 10;
    // What nobody holds any more counts until it is collected, so the least of a few tries says what is held.
    let held = Number.POSITIVE_INFINITY;
    for (let tries = 0; tries < 5 && held >= most; tries++) held = Math.min(held, holds(4000) - holds(2000));
    expect(held).toBeLessThan(most);
  });

  it('V2: gives the same whatever the chunk boundaries', () => {
    const line = fc.constantFrom(
      ...[
        'Package: a',
        'Version: 1',
        'package: é',
        ' more',
        '\tmore',
        ' ',
        '',
        '\r',
        '\r',
        '\n',
        '# c',
        '//x: y',
        'bad',
      ],
      ...['x'.repeat(30), ': n', 'Name:\u3000', 'T: \u00a0', '\ufeffA: b', ' \r', '-a: b', '\0: x'],
    );
    const bytes = fc
      .array(fc.tuple(fc.oneof(line, fc.constant('\u00ff\u00c3')), fc.constantFrom('\n', '\r\n', '')))
      .map((lines) =>
        Buffer.concat(
          lines.flatMap(([text, end]) => [
            Buffer.from(text, text.startsWith('\u00ff') ? 'latin1' : 'utf8'),
            Buffer.from(end),
          ]),
        ),
      );
    fc.assert(
      fc.property(bytes, fc.array(fc.nat(40)), fc.constantFrom(10, 25, 60, 1000), (whole, sizes, limit) => {
        const pieces: Uint8Array[] = [];
        let at = 0;
        for (const size of sizes) {
          pieces.push(whole.subarray(at, at + size));
          at += size;
        }
        pieces.push(whole.subarray(at));
        const expected = readPieces([whole], limit);
        expect(readPieces(pieces, limit)).toEqual(expected);
        expect(
          readPieces(
            [...whole].map((byte) => Uint8Array.of(byte)),
            limit,
          ),
        ).toEqual(expected);
      }),
      { numRuns: 1000 },
    );
  });
});
