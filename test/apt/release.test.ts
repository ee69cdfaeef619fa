import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkValidity, parseDate, parseRelease } from '../../src/apt/release.ts';

const vectors = new URL('../../../shared/vectors/', import.meta.url);
const md5 = '0'.repeat(31);

const parse = (text: string) => parseRelease(Buffer.from(text));

const codes = (text: string): string[] => parse(text).findings.map((finding) => finding.code);

describe('parseRelease', () => {
  it('reads fields and joins the hashes of each path', () => {
    const release = parse(
      `Origin: O\nLabel:L\nSuite: stable\nCodename: c\nVersion: 1\nDescription: d\n more\nArchitectures: all amd64\n` +
        `Components: main contrib\nAcquire-By-Hash: Yes\nPayment-Gateway: https://pay.example/v2\nDate: D\nValid-Until: V\n` +
        `MD5Sum:\n ${md5}a 5 ./main/Packages\nSHA256:\n ${'AB'.repeat(32)}   5  main/Packages\n ${'1'.repeat(64)} 9 a b\n`,
    );
    expect(release).toMatchObject({
      ...{ origin: 'O', label: 'L', suite: 'stable', codename: 'c', version: '1', description: 'd\nmore' },
      ...{ architectures: ['all', 'amd64'], components: ['main', 'contrib'], acquireByHash: true, date: 'D' },
      ...{ validUntil: 'V', paymentGateway: 'https://pay.example/v2', findings: [] },
    });
    expect([...release.files.values()]).toEqual([
      { path: 'main/Packages', size: 5, md5: `${md5}a`, sha256: 'ab'.repeat(32) },
      { path: 'a b', size: 9, sha256: '1'.repeat(64) },
    ]);
  });

  it('takes what real repositories write', () => {
    const release = parse(
      `\ufeffOrigin:O\r\nArchitecture: iphoneos-arm\r\n\r\n\r\nMD5Sum:\r\n${md5}a 5 Packages\r\n\r\n\tMD5 6 x\r\nSHA1:\r\n#c\r\njunk\r\nSuite: s`,
    );
    expect(release.files.get('Packages')).toEqual({ path: 'Packages', size: 5, md5: `${md5}a` });
    expect(release).toMatchObject({ origin: 'O', suite: 's', architectures: ['iphoneos-arm'] });
    expect(release.findings.map((finding) => finding.code)).toEqual([
      ...['release-blank-line', 'release-blank-line', 'release-hash-malformed', 'release-line-malformed'],
      ...['release-architecture-singular', 'release-hash-empty'],
    ]);
  });

  it('C11: leaves control characters out of what is published of a repository, but for the ends of lines', () => {
    const release = parse('Origin: A\0B\x1b[31m\x85C\rD\nLabel: \x07\nDescription: a\tb\0\n c\n');
    expect(release).toMatchObject({ origin: 'AB[31mCD', label: null, description: 'a b\nc' });
  });

  it('reports hash lines that are not usable, and paths listed in two ways', () => {
    expect(codes(`MD5Sum:\n ${md5} 5 short\n ${md5}g 5 nohex\n ${md5}a x size\n ${md5}a 5\n`)).toEqual([
      ...Array.from({ length: 4 }, () => 'release-hash-malformed'),
      'release-hash-empty',
    ]);
    expect(codes(`MD5Sum:\n ${md5}a 5 P\n ${md5}b 5 ./P\n`)).toEqual(['release-entry-conflict']);
    expect(parse(`MD5Sum:\n ${md5}a 5 P\n ${md5}b 6 P\n`).files.get('P')).toMatchObject({ md5: `${md5}a`, size: 5 });
    expect(parse(`MD5Sum:\n ${md5}a 5 P\nMD5Sum:\n ${md5}b 6 P\n`).files.get('P')?.md5).toBe(`${md5}b`);
    const release = parse(`SHA256:\n ${'1'.repeat(64)} 6 P\nMD5Sum:\n ${md5}a 5 P\n`);
    expect(release.files.get('P')?.size).toBe(6);
    expect(release.findings).toEqual([{ code: 'release-entry-conflict', detail: 'size: P' }]);
  });

  it('takes a payment gateway only over https', () => {
    expect(parse('Payment-Gateway: http://pay.example/').paymentGateway).toBeNull();
    expect(codes('Payment-Gateway: javascript:alert(1)')).toEqual(['release-payment-gateway-malformed']);
  });

  it('reads a line that is not UTF-8 as Windows-1252', () => {
    const release = parseRelease(
      Buffer.concat([Buffer.from('Label: é\nOrigin: J'), Buffer.from([0xf6]), Buffer.from('rg\n')]),
    );
    expect(release).toMatchObject({ label: 'é', origin: 'Jörg', findings: [{ code: 'release-encoding-not-utf8' }] });
  });

  it('C2: reads a long Release in time that grows with its size alone, whatever is in it', () => {
    const bytes = 2_000_000;
    const texts = {
      'continued lines': `Description: a\n${' x\n'.repeat(bytes / 3)}`,
      'one line': `Description: ${'a'.repeat(bytes)}`,
      dots: `SHA256:\n ${'0'.repeat(64)} 1 ${'./'.repeat(1_000_000)}x`,
      blanks: `SHA256:\n 00${' '.repeat(bytes)}x`,
      'fields of their own': Array.from({ length: bytes / 10 }, (_, index) => `f${index}: x\n`).join(''),
    };
    for (const text of Object.values(texts)) parse(text);
    expect(parse(texts.dots).files.get('x')).toMatchObject({ size: 1 });
  });

  it('C2: cuts a field to a length that every record may repeat', () => {
    const release = parse(`Label: ${'\u{1f600}'.repeat(5000)}\nOrigin: short\nDescription: a\n${' x\n'.repeat(5000)}`);
    expect(release).toMatchObject({ origin: 'short' });
    for (const field of [release.label, release.description]) {
      const bytes = Buffer.byteLength(JSON.stringify(field));
      expect(bytes).toBeGreaterThan(3500);
      expect(bytes).toBeLessThanOrEqual(4098);
    }
    expect('\u{1f600}'.repeat(2048).startsWith(release.label ?? 'x')).toBe(true);
    expect(release.findings).toEqual([
      { code: 'release-field-oversized', detail: 'label (limit releaseFieldBytes: 4,096 bytes)' },
      { code: 'release-field-oversized', detail: 'description (limit releaseFieldBytes: 4,096 bytes)' },
    ]);
  });

  it('C10: keeps __proto__ for a path, and ignores it for a field', () => {
    const release = parse(`__proto__: x\nMD5Sum:\n ${md5}a 5 __proto__\n`);
    expect([...release.files.keys()]).toEqual(['__proto__']);
    expect(release.origin).toBeNull();
  });

  it('never throws, whatever the bytes', () => {
    const line = fc.constantFrom('SHA256:', ` ${'a'.repeat(64)} 1 x`, 'Date: x', '', '\r', ' x', 'x', ':', '\0: y');
    fc.assert(fc.property(fc.uint8Array(), (bytes) => parseRelease(bytes).files instanceof Map));
    fc.assert(fc.property(fc.array(line), (lines) => parse(lines.join('\n')).files instanceof Map));
    expect(parse('')).toMatchObject({ origin: null, architectures: [], findings: [] });
  });

  it('reads 20,000 lines of any kind, and reports a bounded number of them', () => {
    for (const line of ['junk', ` ${md5}a 1 p`, ' x', 'A: b', 'MD5Sum:']) {
      expect(parse(`MD5Sum:\n${`${line}\n`.repeat(20_000)}`).findings.length).toBeLessThan(300);
    }
  });
});

describe('parseDate', () => {
  it.each([
    ['Sat, 10 Feb 2024 09:58:12 UTC', '2024-02-10T09:58:12.000Z'],
    ['Sat, 10 Feb 2024 9:8:2 +0000', '2024-02-10T09:08:02.000Z'],
    ['1 Jan 70 00:00:00 GMT', '1970-01-01T00:00:00.000Z'],
    ['Tue, 09 Mar 2021 02:15 -0330', '2021-03-09T05:45:00.000Z'],
    ['Tue, 09 Mar 2021 02:15:57 +14:00', '2021-03-08T12:15:57.000Z'],
    ['Fri, 21 Nov 1997 09:55:06 EST (comment)', '1997-11-21T14:55:06.000Z'],
    ['21 Nov 97 09:55:06 Z', '1997-11-21T09:55:06.000Z'],
    ['21 Nov 2030 09:55:06 CEST', '2030-11-21T09:55:06.000Z'],
    ['Sat Feb 10  9:58:12 2024', '2024-02-10T09:58:12.000Z'],
    ['29 Feb 2024 23:59:60', '2024-03-01T00:00:00.000Z'],
  ])('reads %s', (text, expected) => {
    expect(parseDate(text)?.toISOString()).toBe(expected);
  });

  it.each([
    ...['', 'yesterday', '2024', '30 Feb 2024 00:00:00 UTC', '29 Feb 2023 00:00:00 UTC', '1 Foo 2024 00:00:00 UTC'],
    ...['1 Jan 2024 24:00:00 UTC', '1 Jan 2024 00:60:00 UTC', '0 Jan 2024 00:00:00 UTC', '1 Jan 2024 00:00:00 +0099'],
    ...['1 Jan 2024', '1 Jan 2024 00:00:00 UTC x', `${'1 '.repeat(5000)}`],
  ])('refuses %s', (text) => {
    expect(parseDate(text)).toBeNull();
  });
});

describe('checkValidity', () => {
  const now = new Date('2024-06-01T00:00:00Z');

  it('reports dates that nobody can read, and nothing of those that are absent', () => {
    expect(checkValidity({ date: null, validUntil: null }, now)).toEqual([]);
    expect(checkValidity({ date: 'x', validUntil: 'y' }, now).map(({ code }) => code)).toEqual([
      'release-date-unreadable',
      'release-date-unreadable',
    ]);
  });

  // Each as apt 2.6.1 reads it.
  it('reports dates that only apt cannot read', () => {
    const codes = (date: string) => checkValidity({ date, validUntil: null }, now).map(({ code }) => code);
    for (const zone of ['UTC', 'GMT', 'Z', '+0000', '-0000'])
      expect(codes(`Fri, 31 May 2024 10:00:00 ${zone}`)).toEqual([]);
    expect(codes('fri,  1 march 24 1:00:60  UTC')).toEqual([]);
    expect(codes('Fri May  3 10:00:00 2024')).toEqual([]);
    const refused = ['Fri, 31 May 2024 10:00:00 +0200', 'Fri, 31 May 2024 10:00:00 CEST', 'Fri, 31 May 2024 10:00:00'];
    const odd = [
      'Fri May 31 10:00:00 UTC 2024',
      '31 May 2024 10:00:00 UTC',
      'Fri 31 May 2024 10:00:00 UTC',
      'Fri, 31 May 2024 10:00 UTC',
    ];
    for (const date of [...refused, ...odd]) expect(codes(date), date).toEqual(['release-date-unreadable']);
    expect(checkValidity({ date: null, validUntil: 'Sat, 01 Jun 2024 10:00:00 +0200' }, now)).toEqual([
      { code: 'release-date-unreadable', detail: 'Valid-Until: Sat, 01 Jun 2024 10:00:00 +0200' },
    ]);
  });

  it('C5: reports a Valid-Until that is past and a Date that is ahead', () => {
    const past = 'Fri, 31 May 2024 23:59:59 UTC';
    expect(checkValidity({ date: null, validUntil: past }, now)).toEqual([{ code: 'release-expired', detail: past }]);
    const written = 'Fri May 31 23:59:59 2024';
    expect(checkValidity({ date: null, validUntil: written }, now)).toEqual([
      { code: 'release-expired', detail: written },
    ]);
    expect(checkValidity({ date: 'Sat, 1 Jun 2024 12:00:00 UTC', validUntil: null }, now)).toEqual([
      { code: 'release-in-future', detail: 'Sat, 1 Jun 2024 12:00:00 UTC' },
    ]);
  });

  it.skipIf(!existsSync(vectors))(
    'C5: agrees with apt on every row of its tables in which nothing is configured (in ../shared)',
    () => {
      const unit: Record<string, number> = { hour: 3600, day: 86400 };
      const relative = (text: string): string | null => {
        const match = /^now ([+-]) (\d+) (hour|day)s?$/.exec(text);
        if (!match) return null;
        const seconds = Number(`${match[1]}${match[2]}`) * (unit[match[3] ?? ''] ?? 0);
        return new Date(now.getTime() + seconds * 1000).toUTCString();
      };
      let rows = 0;
      for (const [file, columns] of [
        ['apt-release-date.tsv', 4],
        ['apt-valid-until.tsv', 5],
      ] as const) {
        for (const line of readFileSync(new URL(file, vectors), 'utf8').split('\n')) {
          if (line === '' || line.startsWith('#')) continue;
          const cells = line.split('\t');
          const [verdict, date = ''] = cells;
          if (cells.slice(columns - 2, columns).some((option) => option !== '-')) continue;
          const validUntil = columns === 5 ? relative(cells[2] ?? '') : null;
          const found = checkValidity({ date: relative(date), validUntil }, now);
          expect(found.length === 0 ? 'accepted' : 'rejected', line).toBe(verdict);
          rows += 1;
        }
      }
      expect(rows).toBeGreaterThanOrEqual(6);
    },
  );
});
