import { describe, expect, it } from 'vitest';
import { describedBy } from '../../src/catalog/placeholder.ts';
import { computeTerms } from '../../src/catalog/search-document.ts';
import type { FindingCode } from '../../src/contract/finding-texts.ts';
import { firstLine } from '../../src/results/first-line.ts';
import { packageFolder } from '../../src/results/package-address.ts';
import { composeAtom, composeJsonFeed, type FeedEntry } from '../../src/site/feeds.ts';
import { asSentence, formatCount, formatSize } from '../../src/site/format.ts';
import { packageLinks, repositoryLinks } from '../../src/site/managers.ts';
import { isLong, parsePerson, readProse, webAddress } from '../../src/site/prose.ts';
import { parseRelations } from '../../src/site/relations.ts';
import { computeHealth } from '../../src/site/shown-findings.ts';
import { downloadAddress } from '../../src/site/version-rows.ts';
import { escapeXml } from '../../src/site/xml.ts';

describe('descriptions', () => {
  it('end as sentences do before another one follows', () => {
    for (const text of ['Dark icons', 'by @someone', 'for iOS 16 (rootless)', '自用插件源', 'Version 1.0']) {
      expect(asSentence(text)).toBe(`${text}.`);
    }
    for (const text of ['Cool.', 'Why not?', 'いい！！', 'cut off…', 'He said “no.”', 'Needs:', 'ماذا؟']) {
      expect(asSentence(text)).toBe(text);
    }
  });

  it('C11: makes links of http(s) addresses alone', () => {
    const blocks = readProse(
      'see javascript:alert(1), https://ok.example/x. and data:text/html,x\nhttp://u:p@evil.example',
    );
    const hrefs = blocks.flatMap(({ lines }) => lines.flat()).flatMap(({ href }) => (href === undefined ? [] : [href]));
    expect(hrefs).toEqual(['https://ok.example/x']);
  });

  it('ends an address before quotes, brackets and the sentence', () => {
    const hrefs = (text: string) =>
      readProse(text).flatMap(({ lines }) => lines.flat().map(({ href }) => href ?? null));
    expect(hrefs('(https://a.example/b)')).toEqual([null, 'https://a.example/b', null]);
    expect(hrefs('https://a.example/w_(x)')).toEqual(['https://a.example/w_(x)']);
    expect(hrefs('https://a.example/"onclick="x')).toEqual(['https://a.example/', null]);
  });

  it('keeps every word of the text', () => {
    const text = 'one https://a.example two\nthree <b>four</b>\n  five\n- six\n  seven';
    const back = readProse(text)
      .flatMap(({ lines }) => lines.map((line) => line.map((piece) => piece.text).join('')))
      .join(' ');
    expect(back).toBe('one https://a.example two three <b>four</b> five six seven');
  });

  const shapeOf = (text: string) =>
    readProse(text).map(({ kind, lines }) => [kind, ...lines.map((line) => line.map((piece) => piece.text).join(''))]);

  it('reads bullets as a list and blank lines as breaks', () => {
    expect(shapeOf('a\n\n- b\n* c\n\nd')).toEqual([
      ['paragraph', 'a'],
      ['list', 'b', 'c'],
      ['paragraph', 'd'],
    ]);
  });

  it('says once what a description begins with twice', () => {
    expect(shapeOf('Ends all apps\nEnds all apps.\n\nFeatures:\n- one')).toEqual([
      ['paragraph', 'Ends all apps'],
      ['paragraph', 'Features:'],
      ['list', 'one'],
    ]);
    expect(shapeOf('Ends all\n ends all of your\napps\nat once')).toEqual([
      ['paragraph', 'ends all of your', 'apps at once'],
    ]);
    expect(shapeOf('Ends all\nEnds allowed apps').flat()).toEqual([
      'paragraph',
      'Ends all',
      'paragraph',
      'Ends allowed apps',
    ]);
    expect(shapeOf('\nno synopsis').flat()).toEqual(['paragraph', 'no synopsis']);
    expect(shapeOf('!\n!').flat()).toEqual(['paragraph', '!', 'paragraph', '!']);
  });

  it('flows the lines of a paragraph into each other, and keeps those that begin with a blank', () => {
    expect(shapeOf('Synopsis\nThis is one\nparagraph.\n.\nAnother\n  kept as\n  it is\nand on')).toEqual([
      ['paragraph', 'Synopsis'],
      ['paragraph', 'This is one paragraph.'],
      ['paragraph', 'Another', 'kept as', 'it is', 'and on'],
    ]);
    expect(shapeOf('Synopsis\nFor these:\n * streams created on one\n   platform\n * others')).toEqual([
      ['paragraph', 'Synopsis'],
      ['paragraph', 'For these:'],
      ['list', 'streams created on one platform', 'others'],
    ]);
    expect(shapeOf('New\n1. first\n2. second')).toEqual([
      ['paragraph', 'New'],
      ['paragraph', '1. first', '2. second'],
    ]);
  });

  it('H7: reads a description in time that grows with it and no faster', () => {
    const start = process.cpuUsage().user;
    for (const line of ['word\n', '- item\n', '  kept\n', '1. n\n', '\n', ' ']) readProse(line.repeat(60_000));
    for (const mark of ['.', '. ', '!']) readProse(`${mark.repeat(60_000)}x\n${mark.repeat(60_000)}x`);
    expect(process.cpuUsage().user - start).toBeLessThan(3_000_000);
  });

  it('H7: reads a person in time that grows with the text and no faster', () => {
    const start = process.cpuUsage().user;
    for (const text of [
      `${'\t'.repeat(60_000)}<<>`,
      `a${' '.repeat(60_000)}b`,
      '<'.repeat(60_000),
      '<>'.repeat(30_000),
      `<>, ${' '.repeat(60_000)}`,
      '<> and '.repeat(10_000),
    ]) {
      parsePerson(text);
      computeTerms({ identifier: 'a', name: 'A', author: text, maintainer: null, description: null });
    }
    expect(process.cpuUsage().user - start).toBeLessThan(2_000_000);
    expect(parsePerson('Ada <<ada@a.example> x')).toEqual('Ada <');
    const { author } = computeTerms({
      identifier: 'a',
      name: 'A',
      author: 'Ada <ada@<a.example> Love <x',
      maintainer: null,
      description: null,
    });
    expect(author).toEqual(['ada', 'love', 'x']);
  });

  it('folds a description of more than some twelve lines, however it has them', () => {
    expect(isLong(readProse('short\n\nand a bit more'))).toBe(false);
    expect(isLong(readProse(`long\n${'word '.repeat(220)}`))).toBe(true);
    expect(isLong(readProse(`list\n${'- entry\n'.repeat(20)}`))).toBe(true);
  });

  it.each([
    'An awesome MobileSubstrate tweak!',
    'An awesome tool of some sort!!',
    'A simple switch for the Flipswitch API!',
  ])('takes the text of a template for no description: %s', (text) => {
    expect(describedBy(text)).toBeNull();
    expect(describedBy(`${text} It does a thing.`)).toBe(`${text} It does a thing.`);
  });

  it('cuts the first line at a word and never inside a character', () => {
    expect(firstLine('short\nrest')).toBe('short');
    expect(firstLine('🦊'.repeat(20), 10)).toBe(`${'🦊'.repeat(10)}…`);
    expect(firstLine('aaaa bbbb cccc', 11)).toBe('aaaa bbbb…');
    expect(firstLine(null)).toBe('');
  });

  it('reads persons with and without a mail address', () => {
    expect(parsePerson('Ada <ada@example.org>')).toEqual('Ada');
    expect(parsePerson('Ada <javascript:x>')).toEqual('Ada');
    expect(parsePerson(' ')).toBeUndefined();
  });

  it('reads all of several people who have an address each', () => {
    const both = 'Ada, Bob';
    expect(parsePerson('Ada <ada@example.org>, Bob <bob@example.org>')).toEqual(both);
    expect(parsePerson('"Ada" <ada@example.org> and "Bob"')).toEqual(both);
    expect(parsePerson('Ada <https://a.example> <ada@example.org>; and Bob <>')).toEqual(both);
    expect(parsePerson('<ada@example.org>, Bob <bob@example.org>, ')).toEqual('Bob');
    expect(parsePerson('Ada <ada@example.org>, <other@example.org>')).toEqual('Ada');
    expect(parsePerson('Ada <ada@example.org> (Andy)')).toEqual('Ada');
  });

  it('C11: takes for web addresses only http(s) without a user', () => {
    for (const text of ['javascript:alert(1)', ' data:x', 'file:///a', 'https://u@h.example', 'nothing', null]) {
      expect(webAddress(text)).toBeUndefined();
    }
    expect(webAddress('https://h.example/"<>')).toBe('https://h.example/%22%3C%3E');
  });
});

describe('addresses', () => {
  it('C9: no identifier leaves its folder, and none begins or ends with a dot', () => {
    for (const id of ['..', '.', '.hidden', '../x', 'a.', '/etc', '\\..\\x', 'CON', 'ä', 'x'.repeat(300)]) {
      const segments = packageFolder(id).split('/');
      for (const segment of segments) {
        expect(segment).toMatch(/^(?!\.)[a-z0-9.+\-_=]*[a-z0-9+\-_=]$/);
        expect(['.', '..']).not.toContain(segment);
      }
    }
    expect(packageFolder('com.example')).toBe('com.example');
  });

  it('C9: identifiers that differ have folders that differ, whatever the letter case', () => {
    const ids = ['a', 'A', 'a.', 'a=2e', 'A.', '.', '..', '...', '.=2e'];
    const folders = ids.map((id) => packageFolder(id).toLowerCase());
    expect(new Set(folders).size).toBe(ids.length);
  });

  it('points downloads below their repository or nowhere', () => {
    const base = 'https://h.example/repo';
    expect(downloadAddress(base, './debs/a b.deb')).toBe('https://h.example/repo/debs/a%20b.deb');
    expect(downloadAddress(base, './/debs/x.deb')).toBe('https://h.example/repo/debs/x.deb');
    expect(downloadAddress(base, 'debs/a#b?c.deb')).toBe('https://h.example/repo/debs/a%23b%3Fc.deb');
    for (const name of [
      '../x.deb',
      'a/../../x.deb',
      'https://evil.example/x',
      'javascript:x',
      '',
      '/',
      '%2e%2e/x.deb/../..',
    ]) {
      const address = downloadAddress(base, name);
      expect(address === undefined || address.startsWith('https://h.example/repo/'), name).toBe(true);
    }
    expect(downloadAddress(base, '//evil.example/x')).toBe('https://h.example/repo/evil.example/x');
  });

  it('hands packages and repositories to managers', () => {
    const offered = {
      id: 'com.a b',
      repository: 'https://h.example/r',
      served: ['iphoneos-arm', 'iphoneos-arm64'],
      stated: '',
    };
    expect(packageLinks({ ...offered, architectures: ['iphoneos-arm'] }).map(({ href }) => href)).toEqual([
      'sileo://package/com.a%20b',
      'zbra://packages/com.a%20b?source=https://h.example/r',
      'cydia://url/https://cydia.saurik.com/api/share#?source=https://h.example/r&package=com.a%20b',
    ]);
    expect(repositoryLinks('https://h.example/r/', offered.served).map(({ href }) => href)).toEqual([
      'sileo://source/https://h.example/r/',
      'zbra://sources/add/https://h.example/r/',
      'cydia://url/https://cydia.saurik.com/api/share#?source=https://h.example/r/',
      'installer://add/https://h.example/r/',
    ]);
  });

  it('hands nothing to a manager that cannot install it', () => {
    const managers = (architectures: string[], served = architectures, stated = '') =>
      packageLinks({ id: 'x', repository: 'https://h.example/r', architectures, served, stated }).map(
        ({ manager }) => manager,
      );
    expect(managers(['iphoneos-arm64'])).toEqual(['Sileo', 'Zebra']);
    expect(managers(['iphoneos-arm64', 'iphoneos-arm'])).toEqual(['Sileo', 'Zebra', 'Cydia']);
    expect(managers(['arm64'])).toEqual([]);
    // What is for all architectures is for those that its repository serves.
    expect(managers(['all'], ['all', 'arm64'])).toEqual([]);
    expect(managers(['all'], ['all', 'iphoneos-arm'])).toEqual(['Sileo', 'Zebra', 'Cydia']);
    expect(repositoryLinks('https://h.example/r/', ['all', 'arm64'])).toEqual([]);
    // Nor to one that never ran on any iOS on which it says that it runs.
    expect(managers(['iphoneos-arm'], ['iphoneos-arm'], 'rootful=-11.0')).toEqual(['Zebra', 'Cydia']);
    expect(managers(['iphoneos-arm'], ['iphoneos-arm'], 'rootful=-9.0')).toEqual(['Cydia']);
    expect(managers(['iphoneos-arm'], ['iphoneos-arm'], 'rootful=-10.3.4;rootful=-12.0')[0]).toBe('Sileo');
    expect(managers(['iphoneos-arm'], ['iphoneos-arm'], 'rootful~7.0-8.0')[0]).toBe('Sileo');
    expect(managers(['all'], ['all', 'iphoneos-arm'], 'all=-9.0')).toEqual(['Cydia']);
    const both = ['iphoneos-arm', 'iphoneos-arm64'];
    expect(managers(both, both, 'rootful=-9.0;rootless')).toEqual(['Sileo', 'Zebra', 'Cydia']);
    // Which of the builds each installs decides, where the visitor's device is known.
    const builds = packageLinks({
      id: 'x',
      repository: 'https://h.example/r',
      architectures: ['iphoneos-arm', 'iphoneos-arm64'],
      served: [],
      stated: '',
    }).map(({ builds }) => builds);
    expect(builds).toEqual([['rootful', 'rootless'], ['rootful', 'rootless'], ['rootful']]);
  });
});

describe('relations', () => {
  it('reads alternatives, restrictions and architectures', () => {
    expect(parseRelations('a (>= 1.0), b:any | c [arm64], ,  d ( <<  2 )')).toEqual([
      [{ name: 'a', restriction: '(>= 1.0)' }],
      [
        { name: 'b', restriction: '' },
        { name: 'c', restriction: '[arm64]' },
      ],
      [{ name: 'd', restriction: '( << 2 )' }],
    ]);
    expect(parseRelations(undefined)).toEqual([]);
    // Policy wants no blank before the bracket.
    expect(parseRelations('a:any(>= 1.0), b:arm64[arm64]')).toEqual([
      [{ name: 'a', restriction: '(>= 1.0)' }],
      [{ name: 'b', restriction: '[arm64]' }],
    ]);
  });
});

describe('findings', () => {
  it('judges health by the worst that is known', () => {
    const finding = (code: FindingCode) => [{ code, count: 1, example: '' }];
    const outcome = (of: 'fresh' | 'unchanged' | 'stale' | 'failed', code: FindingCode | null = null) => ({
      ...{ slug: 'a', uri: '', outcome: of, code, reason: null, confirmedAt: null },
      heldBack: [{ code: 'index-shrunken' }],
    });
    expect(computeHealth([], outcome('fresh'))).toBe('good');
    expect(computeHealth(finding('icon-malformed'), outcome('unchanged'))).toBe('good');
    expect(computeHealth(finding('release-without-hashes'), outcome('fresh'))).toBe('good');
    expect(computeHealth(finding('filename-missing'), undefined)).toBe('fair');
    expect(computeHealth([], outcome('stale', 'dns'))).toBe('poor');
    expect(computeHealth([], outcome('failed', 'index-shrunken'))).toBe('poor');
    expect(computeHealth([], outcome('stale', 'index-shrunken'))).toBe('fair');
  });
});

it('writes sizes as people read them', () => {
  expect([0, null, 999, 1000, 64_204, 999_499, 999_999, 5e9].map(formatSize)).toEqual([
    '–',
    '–',
    '999 B',
    '1.0 kB',
    '64 kB',
    '999 kB',
    '1.0 MB',
    '5.0 GB',
  ]);
});

it('C11: feeds escape text and leave out what XML forbids', () => {
  expect(escapeXml('<a href="x">&\u0000\u000b\ud800</a>')).toBe('&lt;a href=&quot;x&quot;&gt;&amp;\ufffd&lt;/a&gt;');
  const empty = composeAtom({
    base: 'https://s.example',
    title: '<b>',
    home: '/',
    atom: '/a',
    json: '/j',
    entries: [],
    since: '2026-06-01T00:00:00.000Z',
  });
  expect(empty).toContain('<title>&lt;b&gt;</title>');
});

it('C11: a name turns nothing around that a feed says after it, in either form', () => {
  const summary = { id: 'com.a', name: '\u202eevil\u2066', kind: 'tweaks', summary: '', author: '' };
  const entry = {
    summary,
    version: '1.0',
    isUpdate: false,
    at: '2026-06-02T00:00:00.000Z',
    slug: 'a',
    place: 'שלום (unsafe to add)',
  };
  const feed = {
    ...{ base: 'https://s.example', title: '\u202eBad (unsafe to add) on S', home: '/', atom: '/a', json: '/j' },
    entries: [entry as unknown as FeedEntry],
    since: '2026-06-01T00:00:00.000Z',
  };
  const [title, named] = ['Bad (unsafe to add) on S', 'evil 1.0, new, שלום (unsafe to add)'];
  expect(composeAtom(feed)).toContain(`<title>${title}</title>`);
  expect(composeAtom(feed)).toContain(`<title>${named}</title>`);
  expect(JSON.parse(composeJsonFeed(feed))).toMatchObject({ title, items: [{ title: named }] });
});

it('writes counts with a comma between thousands', () => {
  expect([0, 999, 1000, 1234, 63_436, 1_000_000].map(formatCount)).toEqual([
    '0',
    '999',
    '1,000',
    '1,234',
    '63,436',
    '1,000,000',
  ]);
});
