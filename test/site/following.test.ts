import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { authorFolder, authorKey, composeAuthors, hasAuthorPage, publicAuthor } from '../../src/site/authors.ts';
import { composeAtom, composeJsonFeed, type FeedEntry } from '../../src/site/feeds.ts';
import { mixedNews, newsByDay, packagesToBeginWith } from '../../src/site/overview.ts';
import type { PackageSummary } from '../../src/site/package-summary.ts';
import { mostDownloaded } from '../../src/site/popularity.ts';
import { parsePerson } from '../../src/site/prose.ts';
import { choosePictures, chooseRepositoryPictures } from '../../src/site/share-choice.ts';
import type { SiteCatalog } from '../../src/site/site-catalog.ts';
import { anyCharacter } from '../support/any-character.ts';

const by = (author: string, architecture = 'amd64', stated: readonly string[] = []) => ({
  author,
  architectures: [architecture],
  stated: new Set(stated),
});

describe('an author', () => {
  it('is one person however packages spell them, with a mail address and without', () => {
    const spellings = ['Ada Example <ada@example.org>', 'ADA  example', '"Ada Example"', 'Ada\u200b Example\u202c '];
    expect(new Set(spellings.map((text) => authorKey(parsePerson(text) ?? '')))).toEqual(new Set(['ada example']));
    expect(authorKey('Zoe\u0308')).toBe(authorKey('ZOË'));
    expect(authorKey('Ada')).not.toBe(authorKey('Adä'));
    expect(authorKey(' \u202e\u0007')).toBe('');
  });

  it('is called as most of their packages call them, on one line', () => {
    const nameOf = (...names: string[]) => {
      const packages = [...names, ...names].map((name, index) => ({ ...by(name), id: String(index) }));
      return composeAuthors(new Map([['k', packages]])).get('k')?.name ?? '';
    };
    expect(nameOf('ada', 'Ada', 'Ada')).toBe('Ada');
    expect(nameOf('b', 'a')).toBe('a');
    expect(nameOf(`A\n${'x'.repeat(4000)}`).length).toBeLessThanOrEqual(81);
  });

  it('has what they made with others too, where packages name several people who have a page alone', () => {
    const packages = [
      ['b', 'Ada'],
      ['d', 'Ada'],
      ['a', 'ada & Bob, Cid'],
      ['c', 'Cid and Ada'],
      ['e', 'Cid'],
      ['f', 'Tom, Dick and Harry'],
      ['g', 'AT&T'],
      ['h', 'Ada, ADA'],
      ['i', `${'x, '.repeat(40)}Ada`],
      ['j', 'Cid <cid@mail.example.org>, Ada'],
      ['k', 'https://example.org/ada'],
      ['l', ' Cid; Ada + Tom / Eve,'],
      ['n', 'Tom, Cid, and Ada'],
      ['m', '& ,'],
    ].map(([id = '', author = '']) => ({ ...by(author, 'iphoneos-arm'), id }));
    const authors = composeAuthors(Map.groupBy(packages, ({ author }) => authorKey(author)));
    const of = (key: string) =>
      authors
        .get(key)
        ?.packages.map(({ id }) => id)
        .join('');
    expect(of('ada')).toBe('abcdhln');
    expect(of('cid')).toBe('aceln');
    expect(authors.get('ada')).toMatchObject({ name: 'Ada', people: [] });
    // Who is named with others alone has no page by that, and what they have together stays one.
    expect([of('bob'), of('tom'), of('at'), of('t')]).toEqual([undefined, undefined, undefined, undefined]);
    expect(of('ada & bob, cid')).toBe('a');
    expect(authors.get('ada & bob, cid')?.people).toEqual(['ada', 'cid']);
    expect(authors.get('at&t')?.people).toEqual([]);
    expect([of('eve'), of('')]).toEqual([undefined, undefined]);
  });

  it('H7: is found in time for as many packages as a repository has, also where all are by the same few', () => {
    const people = Array.from({ length: 40 }, (_, index) => `p${index}`);
    const alone = people.map((name) => ({ ...by(name, 'iphoneos-arm'), id: `0${name}` }));
    const made = (count: number, author: string) =>
      Array.from({ length: count }, (_, index) => ({ ...by(author, 'all', ['one']), id: `${author}${index}` }));
    // More than fit onto the stack as parameters of one call.
    const ofTwo = made(140_000, 'p0 & p1');
    const ofAll = made(10_000, people.join(' & '));
    const few = [{ ...by('p0 & x', 'iphoneos-arm'), id: '2' }];
    const authors = composeAuthors(
      Map.groupBy([...alone, ...few, ...ofTwo, ...ofAll], ({ author }) => authorKey(author)),
    );
    expect(authors.get('p0')?.packages.length).toBe(150_002);
    // Not on the page of everybody who is named: a package costs a few rows.
    const rows = people.reduce((sum, name) => sum + (authors.get(name)?.packages.length ?? 0), 0);
    expect(rows).toBeLessThan(2 * ofTwo.length + 7 * ofAll.length);
  });

  it('T9: has no page and no word in a feed by a mail address', () => {
    const mail = 'ada.e@mail.example.org';
    for (const author of [parsePerson(`<${mail}>`) ?? '', mail, `Ada (${mail})`, `Ada ${mail} and others`]) {
      expect(author).toContain(mail);
      expect(hasAuthorPage([by(author, 'iphoneos-arm'), by(author, 'iphoneos-arm')]), author).toBe(false);
      expect(publicAuthor({ author })).toBe('');
    }
    for (const author of ['@ada', 'ada@home', 'A @ B. C']) expect(publicAuthor({ author })).toBe(author);
  });

  it('has a page for one package for devices with iOS, and for two of anything else', () => {
    expect(hasAuthorPage([])).toBe(false);
    expect(hasAuthorPage([by('', 'iphoneos-arm'), by('', 'iphoneos-arm')])).toBe(false);
    expect(hasAuthorPage([by('Ada', 'amd64')])).toBe(false);
    expect(hasAuthorPage([by('Ada', 'amd64'), by('Ada', 'all')])).toBe(true);
    expect(hasAuthorPage([by('Ada', 'iphoneos-arm64')])).toBe(true);
    // For all architectures, in a repository that serves such devices and in one that does not.
    expect(hasAuthorPage([by('Ada', 'all', ['one'])])).toBe(true);
    expect(hasAuthorPage([by('Ada', 'all')])).toBe(false);
  });

  const names = [
    ...[
      'a',
      'a/b',
      '..',
      '.',
      '.hidden',
      'index.html',
      'feed.atom',
      '2',
      'foo.json',
      'x'.repeat(4096),
      'é'.repeat(2000),
    ],
    ...['\u202eada', 'عمر', '作者', 'a\\b', 'a%2fb', 'a?b#c', 'con', '🦊'.repeat(30), `${'x'.repeat(4096)}y`],
  ];

  it('C9: has one folder, whose name no disk and no host takes for another', () => {
    const arbitrary = fc.oneof(
      fc.constantFrom(...names),
      fc.string({ unit: anyCharacter, maxLength: 300, size: 'max' }),
    );
    fc.assert(
      fc.property(fc.uniqueArray(arbitrary.map(authorKey), { maxLength: 20 }), (keys) => {
        const folders = keys.filter((key) => key !== '').map(authorFolder);
        for (const folder of folders) expect(folder).toMatch(/^[a-z0-9=+-][a-z0-9=+._-]{0,119}$/);
        for (const folder of folders) expect(folder).not.toMatch(/\.$|\.(?:html|json)/);
        expect(new Set(folders).size).toBe(folders.length);
      }),
      { numRuns: 30 },
    );
    expect(names.map(authorKey).filter((key) => key !== '').length).toBe(names.length);
    expect(authorFolder('ada example')).toBe('ada-example');
  });

  it('H7: has an address in time that grows with the name and no faster', () => {
    // The least of some rounds: in the others the process collects garbage, its own or that of the tests before.
    const time = (length: number) => {
      const name = '\u202e é'.repeat(length);
      const rounds = Array.from({ length: 5 }, () => {
        const begun = process.cpuUsage();
        for (let round = 0; round < 4; round++) authorFolder(authorKey(name));
        return process.cpuUsage(begun).user;
      });
      return Math.min(...rounds);
    };
    time(2000);
    expect(time(20_000)).toBeLessThan(60 * Math.max(time(2000), 2000));
  });
});

const repository = { slug: 'one', record: { quality: 1 } };
const summaryOf = (id: string, fields: Partial<PackageSummary> = {}) =>
  ({
    id,
    name: id,
    version: '1',
    summary: 'It does a thing',
    author: 'Ada',
    kind: 'tweaks',
    architectures: ['iphoneos-arm'],
    builtFor: new Map(),
    faces: new Map(),
    stated: new Map(),
    unsafeIn: new Set(),
    versions: new Map(),
    repositories: ['one'],
    news: new Map(),
    repository,
    ...fields,
  }) as unknown as PackageSummary;
const catalogOf = (packages: readonly PackageSummary[], downloads: Readonly<Record<string, number>> = {}) =>
  ({
    packages: new Map(packages.map((one) => [one.id, one])),
    repository: (slug: string) => ({
      toldName: `Repository ${slug}`,
      doubt: slug === 'two' ? { kind: 'held', since: '2026-06-01T00:00:00.000Z' } : undefined,
    }),
    downloads: new Map(
      Object.entries(downloads).map(([id, last_30_days]) => [id, { package_id: id, total: 9000, last_30_days }]),
    ),
  }) as unknown as SiteCatalog;

describe('a feed', () => {
  const entry = (fields: Partial<FeedEntry> = {}): FeedEntry => ({
    summary: summaryOf('com.a', { name: 'Choicy' }),
    slug: 'one',
    place: "opa334's Repo",
    version: '1.6.0',
    at: '2026-06-01T00:00:00.000Z',
    isUpdate: true,
    ...fields,
  });
  const feedOf = (...entries: FeedEntry[]) => ({
    base: 'https://s.example',
    title: 'T',
    home: '/',
    atom: '/a',
    json: '/j',
    since: '2026-01-01T00:00:00.000Z',
    entries,
  });
  const idsOf = (text: string) => [...text.matchAll(/<id>(https:[^<]*#[^<]*)<\/id>/g)].map(([, id]) => id);

  it('says what happened to what, and where', () => {
    expect(composeAtom(feedOf(entry()))).toContain("<title>Choicy 1.6.0, updated, opa334's Repo</title>");
    const [item] = JSON.parse(composeJsonFeed(feedOf(entry({ isUpdate: false })))).items;
    expect(item.title).toBe("Choicy 1.6.0, new, opa334's Repo");
  });

  it('C6: gives a version one identifier for ever, whichever feed tells of it', () => {
    const told = [entry(), entry({ isUpdate: false, place: 'Other', slug: 'two', at: '2026-07-01T00:00:00.000Z' })];
    const [first, second] = told.map((one) => idsOf(composeAtom(feedOf(one)))[0]);
    expect(first).toBe('https://s.example/package/com.a/#4cb2697e9bf5');
    expect(second).toBe(first);
    expect(idsOf(composeAtom(feedOf(entry({ version: '1.6.1' }))))[0]).not.toBe(first);
  });

  it('T9: names the repository in place of a mail address', () => {
    const text = composeAtom(feedOf(entry({ summary: summaryOf('com.a', { author: 'ada@example.org' }) })));
    expect(text).not.toContain('ada@example.org');
    expect(text).toContain("<author><name>opa334's Repo</name></author>");
  });
});

describe('what is new', () => {
  const at = (day: number, second = 0) => new Date(Date.UTC(2026, 5, day, 0, 0, second)).toISOString();
  const news = (id: string, when: string, isUpdate: boolean, slug = 'one') =>
    summaryOf(id, { news: new Map([[slug, { version: '2', at: when, isUpdate }]]) });

  it('stands by day, new packages apart from updates, and says nothing of a first import', () => {
    const days = newsByDay(
      catalogOf([
        summaryOf('silent'),
        news('old', at(1), true),
        news('added', at(2), false),
        news('updated', at(2, 5), true),
        news('two', at(2, 6), true, 'two'),
      ]),
    );
    const told = days.map(({ day, added, updated }) => [
      day,
      ...[added, updated].map(({ cards }) => cards.map(({ id }) => id)),
    ]);
    expect(told).toEqual([
      ['2026-06-02', ['added'], ['two', 'updated']],
      ['2026-06-01', [], ['old']],
    ]);
    expect(days[0]?.updated.cards).toMatchObject([
      { place: 'Repository two', trouble: 'held' },
      { place: 'Repository one', trouble: undefined },
    ]);
    expect(newsByDay(catalogOf([summaryOf('silent')]))).toEqual([]);
  });

  it('names twenty of a repository that changes hundreds on a day, counts the rest, and ends after 150, on a day with more too', () => {
    const flood = Array.from({ length: 300 }, (_, index) => news(`f${index}`, at(9), false));
    const many = Array.from({ length: 400 }, (_, index) =>
      news(`m${index}`, at(8 - (index % 4)), true, `r${index % 100}`),
    );
    const days = newsByDay(catalogOf([...flood, ...many]));
    expect(days[0]).toMatchObject({ day: '2026-06-09', added: { more: 280 }, updated: { more: 0 } });
    expect(days[0]?.added.cards).toHaveLength(20);
    const shown = days.map(({ added, updated }) => added.cards.length + updated.cards.length);
    expect(shown).toEqual([20, 100, 30]);
    expect(days[2]).toMatchObject({ added: { more: 0 }, updated: { more: 70 } });
    // As after a month without a build.
    const atOnce = Array.from({ length: 900 }, (_, index) => news(`u${index}`, at(9), index > 200, `r${index % 300}`));
    const [only, ...others] = newsByDay(catalogOf(atOnce));
    const { added, updated } = only ?? expect.unreachable('no day');
    expect(added.cards.length + updated.cards.length).toBe(150);
    expect(added.more + updated.more).toBe(750);
    expect(others).toEqual([]);
  });

  it('shows some of each repository in a short list, and more of one where the list is not full', () => {
    const flood = Array.from({ length: 5 }, (_, index) => news(`f${index}`, at(9, 9 - index), false));
    const others = [news('a', at(8), true, 'two'), news('b', at(7), true, 'two'), news('c', at(6), true, 'two')];
    const listed = (length: number) => mixedNews([...flood, ...others], length, 2).map(({ summary }) => summary.id);
    expect(listed(4)).toEqual(['f0', 'f1', 'a', 'b']);
    expect(listed(6)).toEqual(['f0', 'f1', 'f2', 'f3', 'a', 'b']);
    expect(listed(20)).toEqual(['f0', 'f1', 'f2', 'f3', 'f4', 'a', 'b', 'c']);
  });
});

describe('what is popular', () => {
  it('C4: is what was downloaded on the last 30 days, the most first, and nothing that this index does not have', () => {
    const packages = ['a', 'b', 'c', 'd'].map((id) => summaryOf(id));
    const popular = mostDownloaded(catalogOf(packages, { a: 1, b: 30, c: 0, d: 30, gone: 99 }));
    expect(popular.map(({ card, lastMonth }) => [card.id, lastMonth])).toEqual([
      ['b', 30],
      ['d', 30],
      ['a', 1],
    ]);
    expect(mostDownloaded(catalogOf(packages))).toEqual([]);
  });
});

describe('what there is to begin with', () => {
  const placeOf = (slug: string, quality: number) => ({
    slug,
    name: slug,
    record: { quality, uri: `https://${slug}.example/` },
  });
  const best = placeOf('best', 1);
  const large = placeOf('large', 3);
  const small = placeOf('small', 3);
  const packages = [
    ...['s1', 's2'].map((id) => summaryOf(id, { repository: small } as object)),
    ...['l1', 'l2', 'l3'].map((id) => summaryOf(id, { repository: large, summary: '' } as object)),
    summaryOf('l4', { repository: large, icon: 'https://a.example/i.png' } as object),
    summaryOf('b-lib', { repository: best, kind: 'libraries' } as object),
    summaryOf('b2', { repository: best } as object),
    summaryOf('b1', { repository: best, repositories: ['best', 'small'] } as object),
  ];

  it('is of each repository in turn, the best first, what is in many and says what it is, and no library', () => {
    const ids = (length: number) => packagesToBeginWith(catalogOf(packages), length).map(({ id }) => id);
    expect(ids(4)).toEqual(['b1', 'l4', 's1', 'b2']);
    expect(ids(99)).toEqual(['b1', 'l4', 's1', 'b2', 'l1', 's2', 'l2', 'l3']);
    expect(packagesToBeginWith(catalogOf([]), 3)).toEqual([]);
    const rootless = { repository: best, architectures: ['iphoneos-arm', 'iphoneos-arm64'] } as object;
    const [first] = packagesToBeginWith(catalogOf([...packages, summaryOf('b9', rootless)]), 1);
    expect(first?.id).toBe('b9');
  });

  it('is nothing unfinished or out of reach, as long as there is something else', () => {
    const failing = { ...small, doubt: { kind: 'failing' } };
    const held = { ...small, doubt: { kind: 'held' } };
    const odd = [
      summaryOf('debug', { repository: best, version: '1.0+debug', repositories: ['best', 'small'] } as object),
      summaryOf('beta', { repository: best, version: '1.0~beta2' } as object),
      summaryOf('gone', { repository: failing } as object),
      summaryOf('held', { repository: held } as object),
    ];
    const ids = (length: number) => packagesToBeginWith(catalogOf([...odd, ...packages]), length).map(({ id }) => id);
    expect(ids(8)).toHaveLength(8);
    expect(ids(99).slice(8)).toEqual(['debug', 'gone', 'held', 'beta']);
  });

  it('has share pictures where too little is new or downloaded, fifty at most with what is', () => {
    const many = Array.from({ length: 80 }, (_, index) => summaryOf(`p${index}`, { repository: large } as object));
    const choose = (downloads: Readonly<Record<string, number>>) => [
      ...choosePictures(catalogOf(many, downloads), 'Debdex').keys(),
    ];
    expect(choose({})).toHaveLength(50);
    expect(choose({ p79: 3 })).toHaveLength(50);
    expect(choose({ p79: 3 })).toContain('p79');
    const all = Object.fromEntries(many.map(({ id }) => [id, 1]));
    expect(choose(all)).toHaveLength(80);
    // Or all, where that is asked for; of a name that cannot be drawn the identifier is.
    const named = [...many, summaryOf('q', { repository: large, name: '日本語' } as object)];
    const pictures = choosePictures(catalogOf(named, {}), 'Debdex', true);
    expect([...pictures.keys()]).toEqual(named.map(({ id }) => id));
    expect([pictures.get('q')?.compose(), pictures.get('q')?.preview.text]).toEqual([
      expect.stringContaining('>q</text>'),
      expect.stringMatching(/^日本語 /),
    ]);
  });

  it('has no share pictures of what is unsafe, which would call it trusted where no warning is', () => {
    const unsafe = { ...best, slug: 'unsafe', doubt: { kind: 'unsafe' } };
    const listed = [summaryOf('a', { repository: large } as object), summaryOf('b', { repository: unsafe } as object)];
    expect([...choosePictures(catalogOf(listed), 'Debdex', true).keys()]).toEqual(['a']);
    const catalog = { repositories: [unsafe, large] } as unknown as SiteCatalog;
    expect([...chooseRepositoryPictures(catalog, () => 1, 'Debdex', true).keys()]).toEqual(['large']);
  });

  it('has share pictures of what is new, and not of what is dated later than the build', () => {
    const many = Array.from({ length: 120 }, (_, index) => {
      const news = { version: '1', at: `${index < 100 ? 2099 : 2026}-01-01T00:00:00.000Z`, isUpdate: false };
      return summaryOf(`p${index}`, { repository: large, news: new Map([[`r${index}`, news]]) } as object);
    });
    const catalog = Object.assign(catalogOf(many), { lastBuild: { builtAt: '2026-02-01T00:00:00.000Z' } });
    expect([...choosePictures(catalog, 'Debdex').keys()]).toEqual(expect.arrayContaining(['p100', 'p119']));
  });

  it('the fifty best repositories have a share picture, which says how many packages they have', () => {
    const repositories = Array.from({ length: 60 }, (_, index) => placeOf(`r${index}`, index < 10 ? 2 : 4));
    const countOf = (slug: string) => Number(slug.slice(1));
    const chosen = chooseRepositoryPictures({ repositories } as unknown as SiteCatalog, countOf, 'Debdex');
    expect(chosen.size).toBe(50);
    const all = chooseRepositoryPictures({ repositories } as unknown as SiteCatalog, countOf, 'Debdex', true);
    expect(all.size).toBe(60);
    expect([...chosen.keys()].slice(0, 11)).toEqual([...[9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((one) => `r${one}`), 'r59']);
    const named = { ...placeOf('r', 2), name: '日本語' };
    const drawn = chooseRepositoryPictures({ repositories: [named] } as unknown as SiteCatalog, countOf, 'Debdex').get(
      'r',
    );
    expect([drawn?.compose(), drawn?.preview.text]).toEqual([
      expect.stringContaining('>r</text>'),
      expect.stringMatching(/^日本語: /),
    ]);
    expect(chosen.get('r1')?.preview).toMatchObject({
      src: '/repository/r1/preview.png',
      text: 'r1: 1 package, Trusted',
    });
  });
});
