import { describe, expect, it } from 'vitest';
import { encodeFolderName } from '../../src/contract/filenames.ts';
import { countFacets, fitsChosen } from '../../src/results/chosen-facets.ts';
import { barsOf, computeDownloadDays } from '../../src/results/download-days.ts';
import { fitsArchitecture } from '../../src/results/fits-architecture.ts';
import { fitsFirst } from '../../src/results/fits-first.ts';
import { type FoundRecord, toPackages, withParts } from '../../src/results/found.ts';
import { remoteIcon } from '../../src/results/icon.ts';
import { cutText, escapeMarkup } from '../../src/results/markup.ts';
import { readFit } from '../../src/results/meant.ts';
import { newestBy } from '../../src/results/newest.ts';
import { rowMarkup } from '../../src/results/row.ts';
import { composeSearchPage, countWords, fitMarkup, noteMarkup, places } from '../../src/results/search-page.ts';
import { readServed, writeServed } from '../../src/results/served-builds.ts';

const record = (name: string | null, more: Partial<FoundRecord> = {}): FoundRecord => ({
  package_id: `com.example.${(name ?? 'none').toLowerCase().replaceAll(/[^a-z]/g, '')}`,
  name,
  description: 'Does a thing.',
  version: '1.0',
  architecture: 'iphoneos-arm64',
  section: 'Tweaks',
  author: null,
  maintainer: null,
  price: 'Free',
  icon_url: 'https://index.example/icons/sections/tweaks.png',
  repository: { slug: 'one', name: 'First' },
  ...more,
});
const traits = { stale: new Set(['old']), hasDevices: true };

describe('packages from records', () => {
  it('C11: are called by their identifiers and slugs, where nothing can be seen of their names', () => {
    const [found] = toPackages([record('\u200b', { repository: { slug: 'one', name: '\u00a0' } })], traits);
    expect(found).toMatchObject({ name: 'com.example.', place: 'one' });
  });

  it('name a repository with its slug where another has its name', () => {
    const places = (name: string | null) =>
      toPackages([record('Choicy', { repository: { slug: 'one', name } })], { ...traits, alike: new Set(['one']) }).map(
        ({ place }) => place,
      );
    expect(places('First')).toEqual(['First (one)']);
    expect(places(null)).toEqual(['one (one)']);
    expect(places('A long name '.repeat(30))).toEqual([expect.stringMatching(/^A long name .{30,50}… \(one\)$/)]);
  });

  it('are one for each identifier, in the order in which it was found first, with all its builds and repositories', () => {
    const found = toPackages(
      [
        record('Choicy', { architecture: 'iphoneos-arm', version: '1.5' }),
        record('Other'),
        record('Choicy', { repository: { slug: 'old', name: null }, version: '1.4' }),
        record('Choicy', { architecture: 'all' }),
      ],
      traits,
    );
    expect(found.map(({ name }) => name)).toEqual(['Choicy', 'Other']);
    expect(found[0]).toMatchObject({
      version: '1.5',
      architectures: ['all', 'iphoneos-arm', 'iphoneos-arm64'],
      repositories: ['one', 'old'],
      place: 'First',
      runs: 'all;rootful;rootless',
      states: ['current', 'stale'],
    });
    const [stale] = toPackages([record(null, { repository: { slug: 'old', name: null }, version: '2~beta1' })], {
      ...traits,
      hasDevices: false,
    });
    expect(stale).toMatchObject({ name: 'com.example.none', place: 'old', states: ['stale'], runs: undefined });
  });

  it('are those of a repository that is safe to add, if one has them, as their page is', () => {
    const unsafe = new Set(['one']);
    const safe = record('Choicy', { repository: { slug: 'two', name: 'Second' }, version: '1.4', isPart: true });
    const found = toPackages([record('Choicy'), safe, record('Quartz')], { ...traits, unsafe });
    expect(found.map(({ place, version, trouble, isPart }) => [place, version, trouble, isPart])).toEqual([
      ['Second', '1.4', undefined, undefined],
      ['First', '1.0', 'unsafe', undefined],
    ]);
  });

  it('run where a safe repository has the build: what only an unsafe one has counts where no other has the package', () => {
    const unsafe = new Set(['two']);
    const bad = { slug: 'two', name: 'Second' };
    const of = (name: string) => [
      record(name, { architecture: 'iphoneos-arm64', repository: bad }),
      record(name, {
        architecture: 'iphoneos-arm',
        repository: name === 'Choicy' ? { slug: 'one', name: 'First' } : bad,
      }),
    ];
    const found = toPackages([...of('Choicy'), ...of('Quartz')], { ...traits, unsafe });
    expect(found.map(({ architectures, runs, trouble }) => [architectures, runs, trouble])).toEqual([
      [['iphoneos-arm'], 'rootful', undefined],
      [['iphoneos-arm', 'iphoneos-arm64'], 'rootful;rootless', 'unsafe'],
    ]);
    expect(found[0]?.repositories).toEqual(['two', 'one']);
  });

  it('have the newest version of their first repository, whichever build was found first', () => {
    const found = toPackages(
      [
        record('Choicy', { architecture: 'iphoneos-arm', version: '1.9', description: 'Chooses' }),
        record('Choicy', { version: '1.10', description: 'Injects', price: 'Paid' }),
        record('Choicy', { version: '2.0', repository: { slug: 'two', name: 'Second' } }),
      ],
      traits,
    );
    expect(found).toMatchObject([{ version: '1.10', summary: 'Injects', paid: true, place: 'First' }]);
    // Either may be what was asked for.
    for (const question of ['chooses', 'injects']) expect(readFit(question, found).kind).toBe('asked');
  });

  it('come first where they have all of the question and may run, and stay where they are when more is found', () => {
    const all = toPackages(
      [
        record('Storm Old', { architecture: 'iphoneos-arm' }),
        record('Storm New'),
        record('Storm Too', { architecture: 'iphoneos-arm' }),
        record('Other', { isPart: true }),
        record('Storm Late'),
      ],
      traits,
    );
    const arrange = fitsFirst(({ runs }) => runs === 'rootless');
    const names = (count: number, shown: number) => arrange(all.slice(0, count), shown).map(({ name }) => name);
    expect(names(0, 0)).toEqual([]);
    expect(names(4, 0)).toEqual(['Storm New', 'Storm Old', 'Storm Too', 'Other']);
    // What is not shown yet gives way.
    expect(names(5, 2)).toEqual(['Storm New', 'Storm Old', 'Storm Late', 'Storm Too', 'Other']);
    // What is left out by what was read later of it keeps its place, or one behind it would never be shown.
    expect(arrange(all.slice(2), 2).map(({ name }) => name)).toEqual(names(5, 2));
    expect(names(5, 5)).toEqual(['Storm New', 'Storm Old', 'Storm Late', 'Storm Too', 'Other']);
  });

  it.each([
    ['https://icons.example/a.png', true],
    ['http://icons.example', true],
    ['https://index.example/icons/sections/tweaks.png', false],
    ['https://user:secret@icons.example/a.png', false],
    ['javascript:alert(1)', false],
    ['https:// /a.png', false],
  ])('have the icon %s: %s', (address, has) => {
    expect(remoteIcon(address) !== undefined).toBe(has);
  });
});

describe('how results fit a question', () => {
  const found = toPackages(
    [record('Choicy', { author: 'opa334', description: 'Disables injection\nof tweaks' }), record('SnowBoard')],
    traits,
  );
  const [choicy, snow] = found as [(typeof found)[0], (typeof found)[0]];
  it.each([
    ['choicy', 'asked'],
    ['choi', 'asked'],
    ['opa334 choicy', 'asked'],
    ['injection tweaks', 'asked'],
    ['com.example.choicy', 'asked'],
    ['hoic', 'asked'],
    // The index found it, by what is told of it no further: it says itself what has a part of the question.
    ['choicy zzzzqq', 'asked'],
    ['!?', 'asked'],
  ])('%s: %s', (question, kind) => {
    expect(readFit(question, [choicy]).kind).toBe(kind);
  });

  it.each([
    ['choisy', choicy, 'Choicy'],
    ['chiocy', choicy, 'Choicy'],
    ['snow baord', snow, 'SnowBoard'],
    ['opa33 chocy', choicy, 'opa33 choicy'],
    ['oppa334 choicy', choicy, undefined],
  ] as const)('%s is taken for another spelling', (question, one, meant) => {
    const fit = readFit(question, [one]);
    expect(fit.kind === 'corrected' ? fit.meant : undefined).toBe(meant);
  });

  it('what has but a part of it is told apart, as the index says it', () => {
    const records = [
      record('Choicy'),
      record('Choicy Lite'),
      record('SnowBoard'),
      record('Choicy', { version: '1.1' }),
    ];
    const inPart = (parts: number) => toPackages(withParts(records, parts), traits).map((one) => one.isPart === true);
    expect(inPart(0)).toEqual([false, false, false]);
    for (const garbled of [Number.NaN, -1, 1.5, 5]) expect(inPart(garbled)).toEqual([false, false, false]);
    // Of a package that has records of both kinds the first one tells.
    expect(inPart(2)).toEqual([false, false, true]);
    expect(inPart(4)).toEqual([true, true, true]);
    expect(readFit('choicy', toPackages(withParts(records, 4), traits)).kind).toBe('part');
    expect(countWords(3, false, 1)).toBe('2 packages, and 1 with all words but one');
    expect(countWords(5, false, 4)).toBe('1 package, and 4 with all words but one');
    expect(countWords(1234, false, 1200)).toBe('34 packages, and 1,200 with all words but one');
    expect(countWords(32, true, 30)).toBe('2 packages, and more with all words but one');
    expect(countWords(3, false, 3)).toBe('3 packages');
    expect([countWords(32, true), countWords(1, true)]).toEqual(['At least 32 packages', 'At least 1 package']);
  });

  it('what has but a part of it does not hide that the others are spelled otherwise', () => {
    const part = { ...snow, isPart: true };
    expect(readFit('opa33 chocy', [choicy, part])).toEqual({ kind: 'corrected', meant: 'opa33 choicy' });
    expect(readFit('opa33 choicy', [choicy, part]).kind).toBe('asked');
  });

  it('what is found by the first of very many words says so, but not where they are one in a script without blanks', () => {
    const many = 'choicy a b c d e f g h';
    expect(readFit(many, [choicy]).kind).toBe('cut');
    expect(fitMarkup({ kind: 'cut' }, many, '/')).toBe('Of so many words only the first 8 are searched.');
    expect(readFit(many.slice(0, -2), [choicy]).kind).toBe('asked');
    expect(readFit(many, []).kind).toBe('asked');
    expect(readFit(many.replaceAll(' ', '.'), [choicy]).kind).toBe('cut');
    // All of an identifier counts.
    expect(readFit('choicy.a.b.c.d.e.f.g', [{ ...choicy, id: 'Choicy.a.b.c.d.e.f.g.h' }]).kind).toBe('asked');
    expect(readFit(many.replaceAll(' ', '.'), [{ ...choicy, id: 'Choicy.a.b.c.d.e.f.g.h.i' }]).kind).toBe('asked');
    const address = `https://a-long.name.of-a-host.example/the/index/package/${choicy.id}`;
    expect(readFit(address, [choicy]).kind).toBe('asked');
    expect(readFit('雪'.repeat(9), [{ id: 'a', name: '雪'.repeat(9), said: '' }]).kind).toBe('asked');
  });

  it('what fits as it was asked decides, wherever among the first it stands', () => {
    expect(readFit('choisy', [choicy, { id: 'a', name: 'Choisy', said: '' }]).kind).toBe('asked');
    expect(readFit('anything', []).kind).toBe('asked');
  });
});

describe('facets', () => {
  const found = toPackages(
    [
      record('A', { section: 'Tweaks (iOS 15)', price: 'Paid' }),
      record('B', { architecture: 'iphoneos-arm' }),
      record('C', { section: 'Themes', architecture: 'all' }),
      record('D', { version: '1.0-beta', repository: { slug: 'old', name: 'Old' } }),
      record('E', { version: '1.0-beta' }),
    ],
    traits,
  );
  it('are of all records of a package, by each of which it is found', () => {
    const [same] = toPackages(
      [
        record('Same', { repository: { slug: 'old', name: null } }),
        record('Same', { version: '2~beta', section: 'Themes', price: 'Paid' }),
      ],
      traits,
    );
    const counts = countFacets(same === undefined ? [] : [same], {});
    for (const [name, values] of [
      ['section', ['tweaks', 'themes']],
      ['price', ['free', 'paid']],
      ['state', ['stale', 'pre-release']],
    ] as const) {
      expect([...counts[name].keys()], name).toEqual(values);
    }
  });

  it('count what each value would leave beside what else is chosen', () => {
    const counts = countFacets(found, { section: 'tweaks', price: 'free' });
    expect([...counts.section]).toEqual([
      ['tweaks', 3],
      ['themes', 1],
    ]);
    expect([...counts.price]).toEqual([
      ['paid', 1],
      ['free', 3],
    ]);
    expect([...counts.state].sort()).toEqual([
      ['current', 1],
      ['pre-release', 1],
      ['stale', 1],
    ]);
    expect(Object.fromEntries(counts.repository)).toEqual({ one: 2, old: 1 });
  });

  it('take what is for all architectures for each', () => {
    expect(found.filter((one) => fitsChosen({ architecture: 'iphoneos-arm' }, one)).map(({ name }) => name)).toEqual([
      'B',
      'C',
    ]);
    expect(countFacets(found, {}).architecture.get('iphoneos-arm')).toBe(2);
  });

  it('take what is for all architectures for those of devices that its repository serves', () => {
    const served = readServed(
      writeServed(
        new Map([
          ['old', ['rootful']],
          ['one', []],
          ['none', []],
        ]),
      ),
    );
    const forAll = ['old', 'one', 'other'].map((slug) =>
      record(slug, { architecture: 'all', repository: { slug, name: null } }),
    );
    const namesFor = (architecture?: string) =>
      toPackages(forAll, { ...traits, hasDevices: true, served }, architecture).map(({ name }) => name);
    expect(namesFor()).toEqual(['old', 'one', 'other']);
    expect(namesFor('amd64')).toEqual(['old', 'one', 'other']);
    expect(namesFor('iphoneos-arm')).toEqual(['old', 'other']);
    expect(namesFor('iphoneos-arm64')).toEqual(['other']);
    const judged = toPackages(forAll, { ...traits, hasDevices: true, served });
    expect(judged.map(({ runs }) => runs)).toEqual(['all:rootful', '', 'all']);
    expect(countFacets(judged, {}).architecture.get('all')).toBe(3);
    // Where nothing is known of devices, what is for all is for each.
    expect(fitsArchitecture('iphoneos-arm', { architectures: ['all'], runs: undefined })).toBe(true);
    expect(fitsArchitecture('iphoneos-arm', { architectures: ['amd64'], runs: undefined })).toBe(false);
    expect([readServed(''), writeServed(new Map())]).toEqual([new Map(), '']);
  });
});

describe('C11: a row', () => {
  it('holds text of strangers as text, and no more of it than it shows', () => {
    const evil = `"><script>alert(1)</script>'&\ud800`;
    const [card] = toPackages(
      [
        record(evil, {
          version: evil,
          description: evil,
          icon_url: `https://x.example/${evil}`,
          repository: { slug: 'one', name: evil },
        }),
      ],
      traits,
    );
    const markup = rowMarkup(card as NonNullable<typeof card>);
    expect(markup).not.toMatch(/<script|\ud800/);
    expect(markup.match(/&lt;script&gt;/g)?.length).toBe(5);
    expect(escapeMarkup(`<&>"'`)).toBe('&lt;&amp;&gt;&quot;&#39;');
    const long = '雪'.repeat(4096);
    const [endless] = toPackages([record(long, { version: long, repository: { slug: 'one', name: long } })], traits);
    expect(rowMarkup(endless as NonNullable<typeof endless>).length).toBeLessThan(1500);
    expect(cutText('🦊🦊🦊', 2)).toBe('🦊🦊…');
    expect(cutText('🦊🦊', 2)).toBe('🦊🦊');
  });
});

describe('downloads by day', () => {
  const now = Date.parse('2026-11-22T23:59:59.999Z');

  it('C11: puts each day in its place by the clock of the answer, and days without downloads between them', () => {
    const daily = [
      { day: '2026-10-23', count: 7 },
      { day: '2026-10-24', count: 4 },
      { day: '2026-11-22', count: 1200 },
    ];
    const days = computeDownloadDays(daily, now);
    expect(days?.counts).toEqual([4, ...Array.from({ length: 28 }, () => 0), 1200]);
    expect(days?.text).toBe('1,204 downloads in the last 30 days, most on 22 November: 1,200');
    expect(computeDownloadDays([{ day: '2026-11-01', count: 1 }], now)?.text).toBe(
      '1 download in the last 30 days, most on 1 November: 1',
    );
    expect(computeDownloadDays(daily, now + 1)?.counts.slice(-2)).toEqual([1200, 0]);
    const outline = days && barsOf(days, 32);
    expect(outline?.match(/M/g)).toHaveLength(30);
    expect(outline).toMatch(/^M0 32v-2\.0h3v2\.0zM4 32v-0\.5.*M116 32v-32\.0h3v32\.0z$/);
  });

  it('C11: draws nothing of what is no series, or of none of these days', () => {
    for (const daily of [
      undefined,
      'many',
      [],
      [{ day: '2026-10-23', count: 7 }],
      [{ day: '2026-11-23', count: 7 }],
      [null, 7, { day: '2026-11-22', count: '<b>' }, { day: '__proto__', count: 1 }, { day: '2026-11-22', count: -1 }],
      [{ day: '2026-11-22', count: 1e300 }],
    ])
      expect(computeDownloadDays(daily, now)).toBeUndefined();
    expect(computeDownloadDays([{ day: '2026-11-22', count: 7 }], Number.NaN)).toBeUndefined();
  });
});

it('the newest of several is the first of equals, however they are spelt', () => {
  expect(newestBy(['1.0', '1.10', '0:1.10', '1.9'], (one) => one)).toBe('1.10');
  expect(newestBy([], String)).toBeUndefined();
});

it('a page of the search without packages says that nothing fits only where no page after it may have some', () => {
  const answer = {
    ...{ question: 'font', chosen: { architecture: 'iphoneos-arm' }, sort: undefined, page: 1, found: [] },
    ...{ fit: readFit('font', []), last: 1, hasDevice: false, root: '/' },
  };
  const pageOf = (isMore: boolean) => composeSearchPage(Object.values(places).join('\n'), { ...answer, isMore });
  const shown = places.nothing.replace(' hidden', '');
  expect(pageOf(false)).toContain(shown);
  expect(pageOf(false)).toContain('>Nothing fits what is chosen.');
  // What is chosen may be why, so nobody asks whether it is a repository.
  expect(pageOf(false)).toContain(places.fit);
  expect(pageOf(true)).not.toContain(shown);
  // Where the button is not shown, scripts leave the link.
  expect(pageOf(true)).toContain('>On this page nothing fits what is chosen. <a href=');
  expect(pageOf(true)).toContain('rel="next"');
});

it('a page of the search after the first says nothing of how the first results fit the question', () => {
  const fit = { kind: 'corrected', meant: 'choicy' } as const;
  const pageOf = (page: number) =>
    composeSearchPage(Object.values(places).join('\n'), {
      question: 'choicey',
      chosen: {},
      sort: undefined,
      page,
      found: toPackages([record("Cash$$ $& $'")], traits),
      isMore: true,
      last: 3,
      fit,
      hasDevice: false,
      root: '/',
    });
  expect(pageOf(1)).toContain('Did you mean');
  // As it is called, in which a replacement would be read.
  expect(pageOf(1)).toContain('>Cash$$ $&amp; $&#39;</a>');
  expect(pageOf(2)).not.toContain('Did you mean');
});

/** What a page of the search with these options says above the results, if anything. */
const noteAbove = (options: string, question: string, chosen = {}): string | undefined => {
  const offered = `<select name="repository" form="f"><option value="">Any</option>${options}</select>`;
  const html = composeSearchPage([...Object.values(places), offered].join('\n'), {
    question,
    chosen,
    sort: undefined,
    page: 1,
    found: toPackages([record('Choicy')], traits),
    isMore: false,
    last: 1,
    fit: { kind: 'cut' },
    hasDevice: false,
    root: '/index/',
  });
  return /<p id="fit" class="note weak">(.*)<\/p>/.exec(html)?.[1];
};

it('C11: a page of the search leads to the repository that is called as the question, with what else it says', () => {
  const name = escapeMarkup("<b>Opa's Repo");
  const options = `<option value="Opa_1">${name}</option><option value="other">Twin</option><option value="twin">${escapeMarkup("A$$AP $& $'")}</option><option value="all">All of it</option>`;
  const noteOf = (question: string, chosen = {}) => noteAbove(options, question, chosen);
  const cut = fitMarkup({ kind: 'cut' }, '', '/');
  const lead = `${cut} Looking for the repository <a href="/index/repository/${encodeFolderName('Opa_1')}/" dir="auto">${name}</a>?`;
  for (const question of ['opa_1', '<B>opa', '<b>Opa’s repository', "<b>opa's REPO"])
    expect(noteOf(question), question).toBe(lead);
  for (const question of ['opa', 'any', 'all of', '']) expect(noteOf(question), question).toBe(cut);
  // One has the slug of another as its name, and a name in which a replacement would be read.
  const place = (slug: string, called: string) =>
    `${cut} Looking for the repository <a href="/index/repository/${slug}/" dir="auto">${called}</a>?`;
  expect(noteOf('twin')).toBe(place('twin', 'A$$AP $&amp; $&#39;'));
  expect(noteOf("A$$AP $& $'")).toBe(place('twin', 'A$$AP $&amp; $&#39;'));
  expect(noteOf('opa_1', { section: 'tweaks' })).toBe(cut);
});

it('a page of the search leads to each of the repositories of one name, or to three and the list of all', () => {
  const option = (slug: string, name: string) => `<option value="${slug}">${escapeMarkup(name)}</option>`;
  const two = option('one', "Opa's Repo (one)") + option('opa', "Opa's Repo (opa)") + option('own', 'Own (two)');
  const link = (slug: string, name: string) =>
    `<a href="/index/repository/${slug}/" dir="auto">${escapeMarkup(name)}</a>`;
  const lead = (...links: string[]) =>
    `${fitMarkup({ kind: 'cut' }, '', '/')} Looking for the repository ${links.join(' or ')}?`;
  // The one with that slug first.
  for (const question of ['opa', "Opa's Repo"])
    expect(noteAbove(two, question), question).toBe(
      lead(link('opa', "Opa's Repo (opa)"), link('one', "Opa's Repo (one)")),
    );
  for (const question of ['one', "opa's repo (one)"])
    expect(noteAbove(two, question), question).toBe(lead(link('one', "Opa's Repo (one)")));
  expect(noteAbove(two, 'own (two)')).toBe(lead(link('own', 'Own (two)')));

  const five = ['a', 'b', 'c', 'd', 'e'].map((slug) => option(slug, `Röp's Repo (${slug})`)).join('');
  expect(noteAbove(five, "RÖP's repo")).toBe(
    lead(
      ...['a', 'b', 'c'].map((slug) => link(slug, `Röp's Repo (${slug})`)),
      '<a href="/index/repository/#name=r%C3%B6p">2 more</a>',
    ),
  );
  const three = five.slice(0, five.indexOf('<option value="d"'));
  expect(noteAbove(three, "RÖP's repo")).toBe(
    lead(...['a', 'b', 'c'].map((slug) => link(slug, `Röp's Repo (${slug})`))),
  );
});

it('a page of the search asks whether what is nowhere is a repository, and says nothing else of it', () => {
  const noteOf = (question: string) => noteMarkup({ kind: 'cut' }, question, '/', true, []);
  const asking = (name: string) =>
    `Is it a repository? <a href="/repository/#name=${name}">Look for it among the repositories</a>.`;
  expect(noteOf('opa 334')).toBe(asking('opa%20334'));
  // Half of a character, of which no address can be made.
  expect(noteOf('\ud83d')).toBe(asking('%EF%BF%BD'));
  expect(noteMarkup({ kind: 'asked' }, '', '/', true, [])).toBe('');
});

it('a page of the search asks the same of what may be an address, of which packages have a word or two', () => {
  const noteOf = (question: string, kind: 'asked' | 'part' = 'part') => noteMarkup({ kind }, question, '/', false, []);
  const part = fitMarkup({ kind: 'part' }, '', '/');
  for (const question of [
    'repo.example.com',
    'https://repo.example.com/',
    'sileo://source/https://repo.example.com/',
  ]) {
    const name = encodeURIComponent(question);
    expect(noteOf(question), question).toBe(
      `${part} Is it a repository? <a href="/repository/#name=${name}">Look for it among the repositories</a>.`,
    );
    expect(noteOf(question, 'asked'), question).toBe('');
  }
  for (const question of ['repo example', 'choicy 1.2.3', 'choicy…', 'v.', '.x']) expect(noteOf(question)).toBe(part);
});
