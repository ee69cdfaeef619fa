import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSafetyList, safetyFile } from '../../scripts/read-safety-list.ts';
import { safetyEntrySchema } from '../../src/contract/safety.ts';
import { createSafetyList } from '../../src/safety/safety-list.ts';

const entry = (host: string, path?: string) => ({
  host,
  ...(path === undefined ? {} : { path }),
  reason: 'Listed for the tests.',
  date: '2026-05-01',
  source: 'https://source.test/',
});

const list = createSafetyList([
  entry('bad.example'),
  entry('Bücher.example'),
  entry('shared.example', '/bad/Repo'),
  entry('192.0.2.7'),
  entry('[2001:db8::7]'),
]);

describe('safety list', () => {
  it.each([
    'https://bad.example/',
    'https://bad.example',
    'http://bad.example/x',
    'bad.example',
    'bad.example/x',
    '//bad.example/x',
    'BAD.Example',
    'https://a.bad.example/',
    'https://a.b.bad.example/',
    'https://bad.example./',
    'https://bad.example:8443/',
    'bad.example:8443/x',
    'https://good.example@bad.example/',
    'https://user:pass@bad.example/',
    'https://bad.example\\@good.example/',
    'https:\\\\bad.example\\',
    'https:bad.example',
    'https:/bad.example/',
    'https:///bad.example/',
    'ftp://bad.example/',
    'apt+https://bad.example/',
    'https://b%61d.example/',
    'https://bad%2Eexample/',
    'https://bad。example/',
    'https://ｂａｄ.example/',
    'https://ba\u00add.example/',
    ' https://bad.example/ ',
    'https://bad.\texample/',
    'https://https://bad.example/',
    'https://bücher.example/',
    'https://BÜCHER.example/',
    'https://bu\u0308cher.example/',
    'https://xn--bcher-kva.example/',
    'https://shared.example/bad/Repo',
    'https://shared.example/bad/repo/',
    'https://shared.example/BAD/REPO/x',
    'https://shared.example//bad//repo',
    'https://shared.example/./bad/repo',
    'https://shared.example/x/../bad/repo',
    'https://shared.example/b%61d/repo',
    'https://shared.example/b%2561d/repo',
    'https://shared.example/bad%2Frepo',
    'https://shared.example/b%61d/repo/%zz',
    'https://shared.example/b%61d/%ff/../repo',
    'https://shared.example/b%25252525252525252525252561d/repo',
    'https://shared.example/bad\\repo',
    'https://shared.example/bad/repo?x#y',
    'https://192.0.2.7/',
    'https://0xc0000207/',
    'https://192.0.519/',
    'https://[2001:db8::7]/',
    'https://[2001:DB8:0:0::7]/',
  ])('%j is listed', (uri) => {
    expect(list.check(uri)).toBe(false);
  });

  it.each([
    '',
    ' ',
    'not a uri',
    'https://',
    'https:///',
    'https://a b/',
    '%',
    'https://[::1',
    ':::',
    'javascript:alert(1)',
  ])('%j is no URI', (uri) => {
    expect(list.check(uri)).toBe(false);
  });

  it.each([
    'https://good.example/',
    'good.example',
    'https://notbad.example/',
    'https://bad.example.org/',
    'https://example/bad.example',
    'https://good.example/?next=https://bad.example/',
    'https://bad.example@good.example/',
    'https://shared.example/',
    'https://shared.example/bad/',
    'https://shared.example/bad/repository',
    'https://shared.example/good/bad/repo',
    'https://x.shared.example/bad',
    'https://192.0.2.70/',
    'https://1.192.0.2.7.example/',
    'http://127.0.0.1:8080/repo/',
    'https://Good.example/Path+With/Capitals/',
  ])('%j is not', (uri) => {
    expect(list.check(uri)).toBe(true);
  });

  it('answers any text, and no text gets around the list by what is put around its host', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(typeof list.check(text)).toBe('boolean');
        expect(list.check(`https://bad.example/${text}`)).toBe(false);
      }),
    );
  });

  it('H6 takes no longer for an address that was encoded ten thousand times', () => {
    const nested = `https://shared.example/%${'25'.repeat(30_000)}61`;
    const begun = performance.now();
    for (let round = 0; round < 50; round++) expect(list.check(nested)).toBe(true);
    expect(list.check(`https://shared.example/b%${'25'.repeat(30_000)}61d/repo`)).toBe(false);
    // Passes that each take off one layer would need hours.
    expect(performance.now() - begun).toBeLessThan(5000);
  });

  it('refuses an entry that would list nothing', () => {
    expect(() => createSafetyList([entry('a..%%')])).toThrow(TypeError);
    for (const host of ['https://bad.example', 'bad.example/x', 'bad.example:80', '', 'a b']) {
      expect(safetyEntrySchema.safeParse(entry(host)).success, host).toBe(false);
    }
    expect(safetyEntrySchema.safeParse(entry('bad.example', 'x')).success).toBe(false);
    expect(safetyEntrySchema.safeParse({ ...entry('bad.example'), because: 'x' }).success).toBe(false);
  });

  it('the list that ships is valid and lists its hosts', () => {
    const shipped = readSafetyList(safetyFile);
    expect(shipped.check('https://repo.hackyouriphone.org/')).toBe(false);
    expect(shipped.check('https://repo.chariz.com/')).toBe(true);
  });
});
