import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSafetyEntries, readSafetyList, safetyFile } from '../../functions/node/safety-file.ts';
import { safetyEntrySchema } from '../../src/contract/safety.ts';
import { createSafetyList } from '../../src/safety/safety-list.ts';

// The list of the older index, where it lies beside the project.
const older = path.join(import.meta.dirname, '..', '..', '..', 'shared', 'manifests', 'piracy-repositories.json');

const entry = (host: string, path?: string) => ({
  host,
  ...(path === undefined ? {} : { path }),
  reason: 'Listed for the tests.',
  date: '2026-05-01',
  source: 'https://source.test/',
});

// What holds for a few holds among all that ship.
const list = createSafetyList([
  ...readSafetyEntries(safetyFile),
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
    'https://bad.example../',
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
    'ht\ntps://bad.example/',
    'ht\ttps:/\n/bad.example/',
    'https://good.example\r@b\tad.example/',
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
    'https://shared.example/%ff%2f%2e%2e%2f%62ad/repo',
    'https://shared.example/b%25252525252525252525252561d/repo',
    // An escape of which the digits are escaped again and again, each time by one decoding.
    `https://shared.example/b${Array.from({ length: 7 }).reduce<string>((text) => text.replaceAll(/\d/g, '%3$&'), '%61')}d/repo`,
    'https://shared.example/bad\\repo',
    'https://shared.example/bad/repo?x#y',
    'https://192.0.2.7/',
    'https://0xc0000207/',
    'https://192.0.519/',
    'https://[2001:db8::7]/',
    'https://[2001:DB8:0:0::7]/',
    'https://[::ffff:192.0.2.7]/',
    'https://good.example\\@bad.example/',
    'https://good.example\\@bad.example?x@good.example/',
    'https://good.example?@bad.example/',
    'https://good.example#@bad.example/',
    'https://good.example%2F@bad.example/',
    'https://bad.example%23@good.example/',
    'https%3A%2F%2Fbad.example%2F',
    'sileo://source/https://bad.example',
    'sileo://source/https://bad.example/x',
    'SILEO://Source/bad.example',
    'sileo:source/https://bad.example',
    'sileo://source/https%3A%2F%2Fbad.example%2F',
    'sileo://source/https%253A%252F%252Fbad.example%252F',
    'sileo://source/https://good.example\\@bad.example/',
    'sileo://source/https://shared.example/bad/repo/',
    'zbra://sources/add/https://bad.example/',
    'zbra://sources/add/bad.example',
    'cydia://url/https://cydia.saurik.com/api/share#?source=https://bad.example/',
    'cydia://url/https://cydia.saurik.com/api/share%23%3Fsource=https%3A//bad.example/',
    'cydia://url/https://bad.example/',
    'cydia://sources/add/bad.example',
    'https://cydia.saurik.com/api/share#?source=https://bad.example/',
    'cydia.saurik.com/api/share#?package=x&source=bad.example',
    'installer://add/https://bad.example/',
    'installer://add/repo=bad.example',
    'sileo://source/zbra://sources/add/https://bad.example/',
    'sileo://source/installer%3A%2F%2Fadd%2Fhttps%253A%252F%252Fbad.example',
    'another://do/add?one=1&repository=https://bad.example/',
    'another://do/add?repository=bad.example',
    'another:bad.example',
    'https://good.example/\nhttps://bad.example/',
    'https://good.example/ https://bad.example/',
    'https://good.example/%0Ahttps://bad.example/',
    'https://good.example/\r\nsileo://source/bad.example',
    'https://[::192.0.2.7]/',
    'https://[64:ff9b::192.0.2.7]/',
    'https://cydia.saurik.com./api/share#?source=https://bad.example/',
    'https://cydia.saurik.com:443/api/share/#?source=https://bad.example/',
    'https://x@cydia.saurik.com/api/share#?source=https://bad.example/',
    'https://cydia.saurik.com/api/share?source=https://bad.example/',
    'https://cydia.saurik.com/api/share#?source=https://bad.example/&source=https://good.example/',
    'https://cydia.saurik.com/api/share#?source=https://good.example/&source=https://bad.example/',
    'https://shared.example/bad/repo;x=1',
    'https://shared.example/x/..;/bad/repo',
  ])('H3: %j is listed', (uri) => {
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
    'javascript:/x',
    'file:///etc/passwd',
    'file:/etc/passwd',
    '/etc/passwd',
    'mailto:somebody@good.example',
    'data:,x',
    'sileo://source/',
    'sileo://source/file:///etc/passwd',
    'installer://add/%2Fetc',
    'cydia://url/https://cydia.saurik.com/api/share#?source=',
    `${'sileo://source/'.repeat(9)}https://good.example/`,
    `another://${'x/'.repeat(40)}`,
    '"https://bad.example"',
    'https://bad.example",',
    'https://bad.example,good.example/',
    'https://good.example;bad.example/',
    `https://good.example/${' a:/b'.repeat(17)}`,
  ])('H3: %j is no URI', (uri) => {
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
    '//good.example/x',
    'ftp://good.example/',
    'apt+https://good.example/bad.example/',
    'https://good.example/a%40bad.example/%E3%81%A1',
    'https://good.example/x@bad.example.org/',
    'https://good.example:8443/?x=%zz#',
    'sileo://source/https://good.example/',
    'sileo://source/good.example',
    'sileo://source/https%3A%2F%2Fgood.example%2Fx',
    'zbra://sources/add/https://good.example/a/b/c/d/',
    'cydia://url/https://cydia.saurik.com/api/share#?source=https://good.example/',
    'installer://add/https://good.example/',
    'another://do/add?repository=https://good.example/',
    'https://good_name.example/a;b,c"d',
    'https://good.example/ https://good.example/x y',
    'https://cydia.saurik.com/api/share#?source=https://good.example/&source=https://good.example/',
  ])('H3: %j is not', (uri) => {
    expect(list.check(uri)).toBe(true);
  });

  it('E1: calls no host safe whose bytes were no text, which some hosts hand over with U+FFFD in their place', () => {
    const { check } = createSafetyList([]);
    for (const name of ['b\ufffdcher.example', '\ufffd.example', 'a.b\ufffd']) {
      for (const text of [
        name,
        `https://${name}/`,
        `https://${encodeURIComponent(name)}/`,
        `sileo://source/https://${name}/`,
      ]) {
        expect(check(text), text).toBe(false);
      }
    }
    expect(check('https://example.test/\ufffd')).toBe(true);
  });

  it('H3: a line break in a scheme is none, as for a browser', () => {
    expect(list.check('ht\ttps:/\n/good.example/')).toBe(true);
  });

  it('H3: sees through four callbacks within each other, and through no more', () => {
    const within = (times: number) => `${'sileo://source/'.repeat(times)}https://good.example/`;
    expect([4, 5].map((times) => list.check(within(times)))).toEqual([true, false]);
  });

  it('H3: answers any text, and no text gets around the list by what is put around its host', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(typeof list.check(text)).toBe('boolean');
        expect(list.check(`https://bad.example/${text}`)).toBe(false);
      }),
    );
  });

  it('H6 takes no longer for an address that was encoded ten thousand times', () => {
    const nested = (host: string) => `https://${host}/%${'25'.repeat(30_000)}61`;
    const begun = process.cpuUsage();
    for (let round = 0; round < 50; round++) expect(list.check(nested('good.example'))).toBe(true);
    // Nobody reads so long a path, and below this host it may be the one that is listed.
    expect(list.check(nested('shared.example'))).toBe(false);
    expect(list.check(`https://shared.example/b%${'25'.repeat(1000)}61d/repo`)).toBe(false);
    expect(list.check(`https://shared.example/b%${'25'.repeat(1000)}61d/repo`.replace('repo', 'x'))).toBe(true);
    // Passes that each take off one layer would need hours.
    expect(process.cpuUsage(begun).user).toBeLessThan(5e6);
  });

  it.each([
    ['labels', `${'a.'.repeat(32_000)}com`],
    ['dots', `a${'.'.repeat(60_000)}b`],
    ['dots that are encoded', `a${'%2e'.repeat(20_000)}b`],
    ['user information', `${'a:@'.repeat(20_000)}good.example`],
    ['schemes', 'a:'.repeat(32_000)],
    ['marks that are to be put in order', `https://good.example/${'\u0315\u0316'.repeat(32_000)}`],
    ['such marks, halfwidth', `https://good.example/${'\u0315\uff9e'.repeat(32_000)}`],
    ['segments to be taken back', `https://good.example/${'a/../'.repeat(13_000)}`],
    ['escapes that are none', `https://good.example/${'%ff%zz'.repeat(10_000)}`],
    ['backslashes', `https://good.example${'\\@'.repeat(32_000)}`],
    ['addresses', 'a:/b '.repeat(13_000)],
    ['parameters', `https://good.example/${';a'.repeat(32_000)}`],
    ['questions of a page', `https://cydia.saurik.com/api/share#${'?&'.repeat(32_000)}`],
    ['users of a page', `https://${'@'.repeat(64_000)}cydia.saurik.com/api/share`],
    ['nested callbacks', 'sileo://source/'.repeat(4000)],
  ])('H7 reads a text of 64 KB that is nothing but %s', (_, text) => {
    const begun = process.cpuUsage();
    list.check(text);
    const { user } = process.cpuUsage(begun);
    // A hundredth of what most of these took when names were read label by label.
    expect(user).toBeLessThan(150_000);
  });

  it('H7 takes no longer where the list is longer', () => {
    const cost = (length: number): number => {
      const long = createSafetyList(Array.from({ length }, (_, n) => entry(`h${n}.bad.example`, '/path')));
      const begun = process.cpuUsage();
      for (let n = 0; n < 2000; n++) expect(long.check(`https://a.b.h${n}.bad.example/other/${n}`)).toBe(true);
      return process.cpuUsage(begun).user;
    };
    cost(150);
    expect(cost(15_000)).toBeLessThan(cost(150) * 10 + 50_000);
  });

  it('H7 may name more hosts than a call takes arguments, and a thousand paths of one host', () => {
    const names = Array.from({ length: 130_000 }, (_, index) => `n${index}`);
    const hosts = createSafetyList(names.map((name) => entry(`${name}.example`)));
    expect([hosts.check('https://a.n129999.example'), hosts.check('https://m.example')]).toEqual([false, true]);
    const paths = createSafetyList(names.slice(-1000).map((name) => entry('shared.example', `/${name}`)));
    expect([paths.check('https://shared.example/n129999'), paths.check('https://shared.example/m')]).toEqual([
      false,
      true,
    ]);
  });

  it('H7 takes a name that is longer than names are for no host', () => {
    const name = (length: number) => `${'a.'.repeat(length)}example`.slice(-length);
    expect(list.check(`https://${name(253)}/`)).toBe(true);
    expect(list.check(`https://${name(253)}.:65535/`)).toBe(true);
    expect(list.check(`https://${name(254)}/`)).toBe(false);
    expect(list.check(`https://user:${'a'.repeat(1000)}@${name(253)}/${'a'.repeat(1000)}`)).toBe(true);
    expect(list.check(`https://${'ü'.repeat(60)}.${'ü'.repeat(60)}.${'ü'.repeat(60)}.${'ü'.repeat(60)}`)).toBe(false);
  });

  it('refuses an entry that would list nothing', () => {
    for (const host of ['a..%%', `${'a.'.repeat(127)}example`]) {
      expect(() => createSafetyList([entry(host)])).toThrow(TypeError);
    }
    for (const host of ['https://bad.example', 'bad.example/x', 'bad.example:80', '', 'a b']) {
      expect(safetyEntrySchema.safeParse(entry(host)).success, host).toBe(false);
    }
    expect(safetyEntrySchema.safeParse(entry('bad.example', 'x')).success).toBe(false);
    expect(safetyEntrySchema.safeParse({ ...entry('bad.example'), because: 'x' }).success).toBe(false);
  });

  it.skipIf(!existsSync(older))('the list that ships has each host of the older one, with reason and source', () => {
    const shipped = readSafetyList(safetyFile);
    const hosts = JSON.parse(readFileSync(older, 'utf8')) as string[];
    expect(hosts.length).toBeGreaterThan(100);
    expect(hosts.filter((host) => shipped.check(`https://${host}/`))).toEqual([]);
    const entries = new Map(readSafetyEntries(safetyFile).map((one) => [one.host, one]));
    const unexplained = hosts.filter((host) => {
      const entry = entries.get(host);
      return entry === undefined || entry.reason.length < 20 || !/^https:\/\/[^/]+\/./.test(entry.source);
    });
    expect(unexplained).toEqual([]);
  });

  it('names the entry for which an address is not safe, by the same reading', () => {
    const list = createSafetyList([entry('bad.example'), entry('shared.example', '/bad/Repo')]);
    expect(list.find('http://A.bad.example:8080/x')?.host).toBe('bad.example');
    expect(list.find('https://ok.example@shared.example/x/../BAD/repo/debs')?.path).toBe('/bad/Repo');
    expect(list.find(`https://shared.example/${'x'.repeat(5000)}`)?.host).toBe('shared.example');
    for (const safe of ['https://shared.example/bad', 'https://ok.example/']) {
      expect([list.check(safe), list.find(safe)], safe).toEqual([true, undefined]);
    }
    // It is no address, so no entry is about it.
    expect([list.check('https://'), list.find('https://')]).toEqual([false, undefined]);
  });

  it('the list that ships is valid and lists its hosts', () => {
    const shipped = readSafetyList(safetyFile);
    const entries = readSafetyEntries(safetyFile);
    expect(entries.length).toBeGreaterThanOrEqual(149);
    expect(new Set(entries.map(({ host, path }) => `${host} ${path}`)).size).toBe(entries.length);
    for (const { host, path = '' } of entries) expect(shipped.check(`https://${host}${path}/x`), host).toBe(false);
    expect(shipped.check('https://repo.hackyouriphone.org/')).toBe(false);
    expect(shipped.check('https://repo.chariz.com/')).toBe(true);
  });
});
