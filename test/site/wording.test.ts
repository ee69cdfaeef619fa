import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ShownBuild } from '../../src/catalog/last-build.ts';
import { operatorSentence } from '../../src/contract/finding-texts.ts';
import { formsOfPages } from '../../src/contract/kept.ts';
import type { SafetyEntry } from '../../src/contract/safety.ts';
import { sectionKinds } from '../../src/contract/sections.ts';
import { publishSite } from '../../src/pipeline/site-step.ts';
import { beginningLists } from '../../src/results/beginning-lists.ts';
import { traitsFile } from '../../src/results/index-traits.ts';
import { largestKinds, sectionTitle } from '../../src/site/overview.ts';
import { decodeEntities } from '../support/links.ts';
import { fewSources, lastBuild, type Source, stanza, temporaryFolder, writeCatalog } from './fixture.ts';
import { publishSources } from './published-sources.ts';

const { folder, remove } = temporaryFolder();
afterAll(remove);

const pagesIn = (out: string): Map<string, string> =>
  new Map(
    readdirSync(out, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.html'))
      .map((file) => [file, readFileSync(path.join(out, file), 'utf8')]),
  );

/** Builds the site of these repositories and returns its pages, by name. Of the same name, one begins with the other. */
const build = async (
  name: string,
  from: readonly Source[],
  built: ShownBuild,
  safety: readonly SafetyEntry[] = [],
): Promise<Map<string, string>> => {
  const outDir = path.join(folder, name);
  const catalogPath = path.join(folder, `${name}.sqlite`);
  await writeCatalog(catalogPath, from, 'https://index.example');
  const cacheDir = path.join(folder, `${name} cache`);
  const service = { name: 'Debdex', contact_email: 'who@index.example' };
  const baseUrl = 'https://index.example';
  await publishSite({ catalogPath, outDir, cacheDir, baseUrl, lastBuild: built, service, safety });
  return pagesIn(outDir);
};

const withoutCode = (html: string): string =>
  html.replaceAll(/<(script|style|pre|code)\b[^>]*>.*?<\/\1>/gs, '<$1></$1>');

/** The pieces of text between the tags of a page, as a reader meets them. */
const textsOf = (html: string): string[] =>
  withoutCode(html)
    .split(/<[^>]*>/)
    .map((text) => decodeEntities(text).replaceAll(/\s+/g, ' ').trim())
    .filter((text) => text !== '');

/** A page as it is read aloud, a line for each block, so that a figure and its word come together. */
const readAloud = (html: string): string =>
  decodeEntities(
    withoutCode(html)
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/ (?:content|aria-label|title|placeholder)="([^"]*)"/g, '>\n$1\n<i')
      .replaceAll(/<\/?(?:span|strong|b|i|em|a|bdi|small|time)\b[^>]*>/g, ' ')
      .replaceAll(/<[^>]*>/g, '\n')
      .replaceAll(/ +/g, ' '),
  );

const counted = 'packages|versions|repositories|records|findings|pages|results|sections|days|entries';
const wrongPlural = new RegExp(String.raw`(?<![\d.,:/-])1 (?:${counted}|older versions)\b|[–-] (?:${counted})\b`, 'gi');

/** The figures of a page: what stands under each of its terms. */
const figuresOf = (html: string): Map<string, string> =>
  new Map(
    [...html.matchAll(/<dt>([^<]+)<\/dt>\s*<dd[^>]*>([\d,]+)<\/dd>/g)].map(([, term = '', value = '']) => [
      term,
      value,
    ]),
  );

const single: Source = {
  entry: { slug: 'only', uri: 'https://only.example/', ranking: 1 },
  release: 'Origin: Only\n',
  at: '2026-11-18T10:00:00.000Z',
  packages: stanza({ Package: 'com.only.one', Name: 'One', Section: 'Tweaks' }),
};

const selling: Source = {
  ...single,
  entry: { slug: 'shop', uri: 'https://shop.example/', ranking: 1 },
  // Read by a clock that was ahead.
  at: '2026-11-23T10:00:00.000Z',
  // Called as another is.
  release: 'Origin: Beta\nDescription: beta.\nPayment-Gateway: https://pay.example/\n',
  packages: [
    stanza({ Package: 'com.shop.paid', Name: 'Paid', Section: 'Tweaks', Tag: 'cydia::commercial' }),
    stanza({ Package: 'com.shop.free', Name: 'Free', Section: 'Tweaks', Size: '0' }),
    // Another repository gives it away.
    stanza({ Package: 'com.shop.given', Name: 'Given', Section: 'Tweaks', Tag: 'cydia::commercial' }),
    stanza({
      Package: 'com.shop.needy',
      Name: 'Needy',
      Section: 'Tweaks',
      Architecture: 'iphoneos-arm',
      Depends: 'com.beta.only, com.alpha.lib',
    }),
    // The first needs something from another repository, and the second from two.
    ...[
      'com.alpha.lib, com.nowhere (= 2) | com.nobody, preferenceloader | com.nobody',
      'com.alpha.lib, com.beta.only, firmware (>= 15.0)',
    ].map((Depends, index) =>
      stanza({
        Package: 'com.shop.halves',
        Name: 'Halves',
        Architecture: `iphoneos-arm${index === 0 ? '' : '64'}`,
        Depends,
      }),
    ),
    // What an older version runs on, the newest may not.
    ...['(>= 16.0)', '(>= 14.0), firmware (<< 16.0)', ''].map((restriction, index) =>
      stanza({
        Package: 'com.shop.grown',
        Name: 'Grown',
        Version: `${3 - index}.0`,
        Depends: restriction && `firmware ${restriction}`,
      }),
    ),
    ...['', 'com.alpha.lib'].map((Depends, index) =>
      stanza({
        Package: 'com.shop.half',
        Name: 'Half',
        Architecture: `iphoneos-arm${index === 0 ? '' : '64'}`,
        Depends,
      }),
    ),
    stanza({ Package: 'com.shop.tardy', Name: 'Tardy', Depends: 'com.giver.late' }),
  ].join(''),
};
const fewAndShop = [...fewSources, selling];
const giving: Source = {
  ...single,
  entry: { slug: 'giver', uri: 'https://giver.example/', ranking: 2 },
  release: 'Origin: Giver\n',
  findings: [{ code: 'release-expired', count: 1, example: 'Mon, 08 Jun 2026 10:00:00 UTC' }],
  packages: [
    stanza({
      Package: 'com.shop.given',
      Name: 'Present',
      Section: 'Tweaks',
      Description: 'Costs nothing here',
      Icon: 'https://giver.example/present.png',
    }),
    stanza({ Package: 'com.giver.late', Name: 'Late', Section: 'Tweaks' }),
    stanza({ Package: 'com.shop.tardy', Name: 'Tardy', Architecture: 'iphoneos-arm' }),
  ].join(''),
};
const empty: Source = { ...single, entry: { slug: 'empty', uri: 'https://empty.example/', ranking: 4 }, packages: '' };
const reasons = {
  beta: ['release-missing', 'status 404 for /InRelease'],
  gone: ['dns', 'no address for gone.example'],
  alpha: ['index-corrupt', 'bad block'],
  suited: ['release-missing', 'status 404 for /dists/stable/InRelease'],
} as const;

let pages: Map<string, string>;
let small: Map<string, string>;
/** Of repositories in trouble, for these reasons, and one that sells. */
let troubled: Map<string, string>;
beforeAll(async () => {
  pages = pagesIn((await publishSources()).out);
  small = await build('single', [single], { builtAt: lastBuild.builtAt, repositories: [] });
  const heldBack = [{ code: 'signature-lost', reason: operatorSentence('signature-lost', 'No signature') }];
  const repositories = lastBuild.repositories.map((one) => {
    if (one.slug === 'many') return { ...one, heldBack };
    if (!(one.slug in reasons)) return one;
    const [code, evidence] = reasons[one.slug as keyof typeof reasons];
    const outcome = one.outcome === 'failed' ? one.outcome : ('stale' as const);
    return { ...one, outcome, code, reason: operatorSentence(code, evidence) };
  });
  const gone = (length: number) => Array.from({ length }, (_, index) => ({ id: `com.gone.p${index}`, version: '1.0' }));
  const vanished = { shop: gone(25), empty: gone(24) };
  troubled = await build('troubled', [...fewAndShop, giving, empty], { ...lastBuild, repositories, vanished });
}, 120_000);

const page = (name: string): string => pages.get(`${name}index.html`) ?? '';

describe('the words and figures of every page', () => {
  it('C11: no value of the program stands where a reader expects a word', () => {
    const found = [...pages, ...small].flatMap(([name, html]) =>
      textsOf(html)
        .filter((text) => /^(?:true|false|undefined|null|NaN)$|\[object |Invalid Date/.test(text))
        .map((text) => `${name}: ${text}`),
    );
    expect(pages.size).toBeGreaterThan(250);
    expect(found).toEqual([]);
  });

  it('has a blank between two sentences', () => {
    const joined = [...pages, ...small].flatMap(([name, html]) =>
      textsOf(html.replaceAll(/<\/?(?:span|strong|b|i|em|a|bdi|small|time)\b[^>]*>/g, '')).flatMap((text) =>
        // A name such as Com.Alpha.Lib has more dots.
        [...text.matchAll(/(?<![.\w])\w*[a-z)][.!?][A-Z][a-z]+(?![.\w])/g)].map(([words]) => `${name}: ${words}`),
      ),
    );
    expect(joined).toEqual([]);
  });

  it('shows names and values as such, and not the marks around them', () => {
    const marked = [...pages].flatMap(([name, html]) =>
      textsOf(html)
        .filter((text) => text.includes('`'))
        .map((text) => `${name}: ${text}`),
    );
    expect(marked).toEqual([]);
    expect(page('api/')).toContain('<code>iphoneos-arm64</code>');
  });

  it('C11: one of a thing is not called several, and what is not known is not counted', () => {
    const found = [...pages, ...small].flatMap(([name, html]) =>
      [...readAloud(html).matchAll(wrongPlural)].map(([text]) => `${name}: ${text}`),
    );
    expect(found).toEqual([]);
    // Nor does a figure stick to its word.
    const stuck = [...pages, ...small].flatMap(([name, html]) =>
      [...withoutCode(html).matchAll(/>\d+<(?:span|b|i|em|strong)\b[^>]*>[a-z]|\d<span class="unit">/g)].map(
        ([text]) => `${name}: ${text}`,
      ),
    );
    expect(stuck).toEqual([]);
  });

  it('describes a package and a repository in whole sentences, with what its owner says and how much it has', () => {
    const read = (html: string) => /<meta name="description" content="([^"]*)"/.exec(html)?.[1];
    const told = (name: string) => read(page(name));
    expect(told('package/com.alpha.snowboard/')).toBe('Themes for every icon. Version 1.5.1, from Alpha Repo.');
    expect(told('package/com.alpha.lib/')).toBe('Alpha Library. Version 1.0, from Alpha Repo.');
    expect(told('repository/alpha/')).toBe('Tweaks &amp; tools. 8 packages from alpha.example.');
    expect(told('repository/beta/')).toMatch(
      /^(?:It tells a long story of itself\. ){4}It tells a long… 2 packages from beta\.example\.$/,
    );
    expect(read(troubled.get('repository/shop/index.html') ?? '')).toMatch(/^\d+ packages from /);
  });

  it('marks a package as paid in the list of a repository where it is, whatever it costs in another', () => {
    const given = (name: string) =>
      /data-package="com\.shop\.given".*?<\/li>/s.exec(troubled.get(`${name}index.html`) ?? '')?.[0] ?? '';
    expect(given('repository/giver/')).toContain('</a>');
    expect(given('repository/giver/')).not.toContain('>Paid</span>');
    for (const name of ['repository/shop/', 'section/tweaks/']) expect(given(name), name).toContain('>Paid</span>');
  });

  it('calls and describes a package in the list of a repository as that does, and puts it there by that name', () => {
    const row = /data-package="com\.(?:shop\.given|giver\.late)".*?<\/li>/gs;
    const rows = (name: string) => (troubled.get(`${name}index.html`) ?? '').match(row) ?? [];
    const names = (name: string) => rows(name).map((one) => /class="name"[^>]*>([^<]*)/.exec(one)?.[1]);
    expect(names('repository/giver/')).toEqual(['Late', 'Present']);
    const present = rows('repository/giver/')[1] ?? '';
    for (const text of ['Costs nothing here', 'https://giver.example/present.png']) expect(present).toContain(text);
    expect(names('repository/shop/')).toEqual(['Given']);
    expect(names('section/tweaks/')).toEqual(['Given', 'Late']);
    expect(rows('section/tweaks/')[0]).not.toContain('present.png');
  });

  it('warns above the buttons where APT refuses a repository because its Release has expired', () => {
    for (const [name, words] of [
      ['package/com.giver.late/', 'It may not install. What Giver serves'],
      ['repository/giver/', 'Its packages may not install. What it serves'],
    ] as const) {
      const [above = '', buttons] = (troubled.get(`${name}index.html`) ?? '').split('class="buttons managers"');
      const said = textsOf(above).join(' ');
      expect(said, name).toContain(`${words} is past the day until which it is valid, so APT refuses it.`);
      expect(buttons, name).toBeDefined();
    }
    expect(troubled.get('package/com.shop.free/index.html')).not.toContain('id="doubt"');
  });

  it('has no link to the file of a package that is bought in the package manager, and says so', () => {
    const [paid, free] = ['paid', 'free'].map((name) => troubled.get(`package/com.shop.${name}/index.html`) ?? '');
    const files = (html = '') => html.match(/href="[^"]*\.deb"/g) ?? [];
    expect(files(free)).toHaveLength(2);
    // Nothing stands in the place of a size that is not stated.
    expect(readAloud(free ?? '')).toMatch(/Download rootless *\n/);
    expect(free).toMatch(/<td[^>]* class="number unknown">–</);
    expect(page('package/com.alpha.lib/')).not.toContain('number unknown');
    // No page changed on a day that is still to come.
    expect(readFileSync(path.join(folder, 'troubled', 'sitemap', '1.xml'), 'utf8')).toMatch(
      /\/repository\/shop\/<\/loc><\/url>/,
    );
    expect(files(paid)).toEqual([]);
    const said = 'You buy and download it in the package manager.';
    expect([paid, free].map((html = '') => textsOf(html).includes(said))).toEqual([true, false]);
    // What only says the name of a repository again is no description of it.
    expect(
      textsOf(troubled.get('repository/shop/index.html') ?? '').filter((text) => /^(?:shop|beta)\b/i.test(text)),
    ).toEqual(['Beta · Debdex', 'Beta', 'shop.example']);
    // Two are called so. The letters of their tiles are those of the name alone.
    for (const list of ['', 'repository/', 'ranking/', 'doctor/', 'status/']) {
      const texts = textsOf(troubled.get(`${list}index.html`) ?? '');
      // The first page has none in poor health.
      const shown = list === '' ? ['Beta (shop)'] : ['Beta (beta)', 'Beta (shop)'];
      expect(texts).toEqual(expect.arrayContaining(['Be', ...shown]));
      expect(texts).not.toContain('BB');
    }
    // Of one that is paid for in some other way nobody knows who may have it.
    expect(files(page('package/com.alpha.paid/'))).toHaveLength(2);
  });

  it('tells owners how a repository gets in where they look for it, and not of Debdex that it is Debdex', () => {
    const about = readAloud(page('about/')).replaceAll(/\s+/g, ' ');
    expect(about).toMatch(/How a repository gets in To propose one, write to list@index\.example/);
    expect(about).not.toContain('The software is');
  });

  it('leads to the most downloaded packages once from a page, and where none were counted from none', () => {
    const times = (html: string | undefined) => html?.split('href="/popular/"').length;
    expect([times(page('')), times(page('new/'))]).toEqual([2, 2]);
    expect([times(small.get('index.html')), times(small.get('new/index.html'))]).toEqual([1, 1]);
    const sitemap = readFileSync(path.join(folder, 'single', 'sitemap', '1.xml'), 'utf8');
    expect([sitemap.includes('/new/<'), sitemap.includes('/popular/<')]).toEqual([true, false]);
  });

  it('calls no section of packages as a page is called that lists something else', () => {
    const titles = [...pages]
      .filter(([name]) => /^[a-z]+\/index\.html$/.test(name))
      .map(([, html]) => /<h1[^>]*>([^<]*)</.exec(html)?.[1]?.trim());
    expect(titles).toContain('Repositories');
    expect(sectionKinds.map(sectionTitle).filter((title) => titles.includes(title))).toEqual([]);
  });

  it('leads first to the sections with the most packages, and to all others last', () => {
    const byKind = new Map([
      ['tweaks', [1]],
      ['themes', [1, 2]],
      ['other', [1, 2, 3]],
    ] as const);
    expect(largestKinds<readonly number[]>(byKind, 3).map(([kind]) => kind)).toEqual(['themes', 'tweaks', 'other']);
    expect(largestKinds<readonly number[]>(byKind, 2).map(([kind]) => kind)).toEqual(['themes', 'tweaks']);
    const listed = (page('').split('class="drawer"')[1]?.split('</ul>')[0] ?? '').match(
      /(?<=href="\/section\/)[a-z-]+/g,
    );
    expect([listed?.length, listed?.at(-1)]).toEqual([5, 'other']);
  });

  it('C11: means the same by one word everywhere: packages are identifiers, versions are records', () => {
    const [landing, status, alpha] = [
      figuresOf(page('')),
      figuresOf(page('status/')),
      figuresOf(page('repository/alpha/')),
    ];
    for (const term of ['Packages', 'Versions', 'Repositories']) expect(status.get(term), term).toBe(landing.get(term));
    expect(alpha.get('Packages')).toBe('8');
    expect(alpha.get('Versions')).toBe('13');
    const lists = ['', 'repository/', 'ranking/', 'status/'].map((name) => page(name));
    for (const [slug, name, count] of [
      ['alpha', 'Alpha Repo', '8'],
      ['many', 'Many packages', '240'],
    ] as const) {
      for (const list of lists) {
        const row = list.split(`href="/repository/${slug}/"`)[1]?.split(/<\/(?:li|tr)>/)[0] ?? '';
        expect(readAloud(`<i ${row}`), `${name} in ${list.slice(0, 60)}`).toMatch(
          new RegExp(`\\b${count} packages\\b`),
        );
      }
    }
  });

  it('tells everybody why a repository is not renewed, only its operator what to write into the manifest, and of one whose packages were taken that its signature is to confirm', () => {
    for (const [name, reason] of [
      ['status/', reasons.beta],
      ['status/', reasons.gone],
      ['repository/beta/', reasons.beta],
      ['doctor/beta/', reasons.beta],
      ['doctor/gone/', reasons.gone],
    ] as const) {
      const text = readAloud(troubled.get(`${name}index.html`) ?? '');
      expect(text, name).toContain(`${reason[1]}.`);
      expect(text, name).not.toContain('in the manifest');
    }
    expect(troubled.get('doctor/gone/index.html')).not.toMatch(/<p[^>]*>\s*<\/p>\s*<\/div>/);
    for (const name of ['doctor/alpha/', 'repository/alpha/']) {
      const notes = (troubled.get(`${name}index.html`) ?? '').split(/<(?:li|div) class="note /);
      const withCommands = notes.filter((note) => note.includes('apt-ftparchive release .'));
      expect(withCommands.map(readAloud), name).toEqual([expect.stringContaining('bad block')]);
    }
    const doctor = (troubled.get('doctor/alpha/index.html') ?? '').split('id="findings"')[1]?.split('<aside')[0] ?? '';
    const [first = '', ...others] = doctor.split('<li').slice(1).map(readAloud);
    expect(first).not.toContain('When it was last read:');
    expect(others.length).toBeGreaterThan(0);
    for (const other of others) expect(other).toContain('When it was last read:');
    const rows =
      (troubled.get('status/index.html') ?? '').split('id="attention"')[1]?.split('</li>').map(readAloud) ?? [];
    const many = rows.find((row) => row.includes('Many packages'))?.replaceAll(/\s+/g, ' ');
    expect(many).toMatch(/To confirm Its signature has changed, .+ No packages are held back\./);
    expect(many).not.toContain('Held back');
    // Another one is called as this one is.
    expect(rows.find((row) => row.includes('Beta'))).toContain('Beta (beta)');
  });

  it('says of a repository that cannot be read that nothing was wrong before, and not that nothing is', () => {
    const said = (html = '') => readAloud(html.split('id="findings"')[1]?.split('</div>')[0] ?? '').trim();
    expect(said(page('repository/suited/'))).toMatch(/^\S*\s*Findings\s+As far as we can see, nothing is wrong/);
    expect(said(troubled.get('repository/suited/index.html'))).toMatch(
      /Findings\s+Nothing was wrong with what was last/,
    );
  });

  /** What the page of a package says of each repository that has it, after what it has. */
  const copiesOf = (html: string): string[] =>
    (html.split('<ul class="list copies">')[1]?.split('</ul>')[0] ?? '')
      .split('<p class="from">')
      .slice(1)
      .map((from) =>
        readAloud(from.split('</p>')[0] ?? '')
          .replaceAll(/\s+/g, ' ')
          .trim(),
      );

  it('says of each repository that has a package whether it is in trouble', () => {
    expect(copiesOf(page('package/com.alpha.snowboard/'))).toEqual(['newest', 'behind 1.5.1 In trouble']);
    const both = ['newest In trouble', 'behind 1.5.1 In trouble'];
    expect(copiesOf(troubled.get('package/com.alpha.snowboard/index.html') ?? '')).toEqual(both);
  });

  it('says of a package in a list over all repositories whether its own is in trouble, as that page does of itself', () => {
    const chips = '<span class="chip poor">In trouble</span>';
    expect(page('section/system/')).toContain(`${chips}<span class="place" dir="auto">Beta</span>`);
    expect(page('section/tweaks/')).not.toContain(chips);
    expect(page('repository/beta/')).toContain('Only in Beta');
    expect(page('repository/beta/')).not.toContain(chips);
  });

  it('calls a repository whose new index is held back neither unusable nor silent, and names whom to tell', async () => {
    const reason = operatorSentence('index-shrunken', '/Packages had 12 stanzas, and now has 2');
    const heldBack = [{ code: 'index-shrunken', reason }];
    const repositories = lastBuild.repositories.map((one) =>
      one.slug === 'beta' ? { ...one, code: 'index-shrunken', reason, heldBack } : one,
    );
    const growth = ['2026-11-18', '2026-11-19'].map((day) => ({ day, packages: 4 }));
    const told = await build('troubled', fewAndShop, { ...lastBuild, repositories, growth });
    const text = (name: string) => told.get(`${name}index.html`) ?? '';
    const sentence =
      'We hold back its new index, which has 2 of 12 versions. Those that are no longer there will not install.';
    for (const name of ['doctor/beta/', 'repository/beta/']) {
      const aloud = readAloud(text(name));
      expect(aloud, name).toContain(sentence);
      expect(aloud, name).not.toMatch(/cannot be used|Nothing usable|may not install/);
      expect(text(name), name).toContain('tell <a href="mailto:who@index.example">the operator of the index</a>');
    }
    expect(text('repository/beta/')).toMatch(/<a class="chip fair" href="#report">\s*Held back\s*<\/a>/);
    expect(text('doctor/beta/')).toMatch(/<div class="note weak[^>]*id="verdict"/);
    expect(readAloud(text('doctor/'))).toMatch(/\bBeta \(beta\)\s+Held back/);
    // It has nothing that its owner could mend.
    for (const list of ['repository/', 'ranking/']) {
      const row = text(list)
        .split('<li ')
        .find((one) => one.includes('href="/repository/beta/"'));
      expect(row, list).toMatch(/<span class="chip fair">Held back</);
    }
    expect(readAloud(text('repository/'))).toContain('To mend or held back');
    expect(text('package/com.beta.only/')).toMatch(/class="button primary"/);
    expect(readAloud(text('package/com.beta.only/'))).toMatch(
      /It may be gone\. What Beta serves now is held back until/,
    );
    expect(copiesOf(text('package/com.alpha.snowboard/'))).toEqual(['newest', 'behind 1.5.1 Held back']);
    expect(text('search/')).toMatch(/ data-stale(?!="\w)/);
    expect(text('search/')).toContain(' data-held="beta"');
    expect(text('section/system/')).toContain('>Held back</span><span class="place" dir="auto">Beta');
    const attention = text('status/').split('id="attention"')[1]?.split('</section>')[0] ?? '';
    expect(readAloud(attention).match(/\bBeta\b/g)).toHaveLength(1);
    expect(readAloud(attention)).toContain('1 repository, 1 never read');
    expect(text('status/')).toContain('4 packages on 19 Nov 2026, as many as on 18 Nov 2026.');
    expect(readAloud(attention).replaceAll(/\s+/g, ' ')).toMatch(/Not renewed Held back/);
  }, 120_000);

  it('warns of a repository that the safety list names wherever it is shown, and offers nothing that adds or opens it', async () => {
    const entry = { reason: 'It was taken over', date: '2026-11-20', source: 'https://news.example/' };
    const told = await build('troubled', fewAndShop, lastBuild, [
      { ...entry, host: 'beta.example' },
      { ...entry, host: 'gone.example' },
      { ...entry, host: 'many.example', path: '/elsewhere' },
      { ...entry, host: 'suited.example', path: '/apt' },
    ]);
    const text = (name: string) => told.get(`${name}index.html`) ?? '';
    const unsafe = '<span class="chip poor">Unsafe</span>';
    const link = '<a href="/safety/#beta.example">';
    expect(text('safety/')).toContain('<li id="beta.example">');
    for (const [name, sentence] of [
      ['repository/beta/', 'Unsafe to add. It was taken over. See the safety list .'],
      ['package/com.beta.only/', 'Its repository is unsafe to add. Beta : It was taken over. See the safety list .'],
    ] as const) {
      expect(readAloud(text(name)).replaceAll(/\s+/g, ' '), name).toContain(sentence);
      expect(text(name), name).toMatch(/<p class="note broken" id="doubt">.*<a href="\/safety\/#beta\.example">/s);
      expect(text(name), name).not.toMatch(
        /data-managers|(?:sileo|zbra|cydia|installer):|beta\.example\/[^"]*\.deb|add-first/,
      );
    }
    // As chat programs and search engines repeat it.
    const described = (name: string) => /<meta name="description" content="([^"]*)"/.exec(text(name))?.[1];
    expect(described('repository/beta/')).toMatch(
      /^Unsafe to add: It was taken over\. 2 packages from beta\.example\.$/,
    );
    expect(described('package/com.beta.only/')).toMatch(/^From a repository that is unsafe to add\. A long one\. /);
    expect(text('package/com.beta.only/')).toMatch(
      /aria-label="How far its repository is trusted">\s*<li class="chip poor">Unsafe/,
    );
    // Its ranking beside the warning would say the opposite.
    const row = text('repository/').split('href="/repository/beta/"')[1]?.split('</li>')[0] ?? '';
    expect(row).toContain(unsafe);
    for (const shown of [row, text('repository/beta/'), text('package/com.beta.only/')]) {
      expect(shown).not.toContain('Community');
    }
    expect(text('repository/beta/')).toContain('<div class="tabbed edge package hue-5"><p class="tab">Unsafe</p>');
    expect(text('repository/suited/')).toContain('<p class="tab">Unsafe · bootstrap</p>');
    expect(readAloud(text('ranking/')).replaceAll(/\s+/g, ' ')).toContain('one that is unsafe to add comes last');
    expect(text('repository/beta/')).toContain('<p class="mono small">http://beta.example</p>');
    expect(text('repository/beta/')).not.toMatch(/data-copy aria-label="Copy (?:address|line)/);
    expect(text('repository/suited/')).not.toMatch(/>\s*In order\s*<|nothing is wrong|No link can add it|source-line/);
    // In lists it does not count that it says more of the iOS versions, or has a build of its own.
    const rowOfBoth = text('section/tweaks/')
      .split('<li')
      .find((row) => row.includes('/package/com.alpha.snowboard/'));
    expect(rowOfBoth).toContain('data-runs="roothide;rootless=14.0-"');
    // Of two repositories that have it, its page offers what is safe.
    expect(copiesOf(text('package/com.alpha.snowboard/'))).toEqual(['newest', 'behind 1.5.1 Unsafe']);
    expect(text('package/com.alpha.snowboard/')).toMatch(/sileo:.*\.deb/s);
    expect(text('package/com.alpha.snowboard/')).not.toMatch(/beta\.example\/[^"]*\.deb/);
    const elsewhere =
      text('package/com.alpha.snowboard/').split('class="note broken of-build"')[1]?.split('</p>')[0] ?? '';
    expect(readAloud(elsewhere).replaceAll(/\s+/g, ' ')).toMatch(
      /build in Beta , which is unsafe to add , not of the one/,
    );
    expect(text('package/com.alpha.snowboard/')).toMatch(/<bdi>Beta<\/bdi>\s+<span class="chip poor">Unsafe<\/span>/);
    expect(text('package/com.alpha.snowboard/')).toMatch(/>\s*Beta\s*<\/a>\s+<span class="chip poor">Unsafe<\/span>/);
    const needed = text('package/com.shop.needy/').split('id="needs-more"')[1]?.split('id="install"')[0] ?? '';
    expect(needed).toContain(`which is ${link}unsafe to add</a>`);
    expect(needed).not.toMatch(/add them all|class="button"/);
    for (const list of ['section/system/', 'new/']) {
      expect(text(list), list).toContain(`${unsafe}<span class="place" dir="auto">Beta`);
    }
    expect(text('doctor/many/')).toMatch(/<div class="note fine about-counts"/);
    const examined = readAloud(text('doctor/suited/')).replaceAll(/\s+/g, ' ');
    expect(examined).toContain(
      'Unsafe to add. It was taken over. See the safety list . This index can read the repository: 1 package.',
    );
    expect(text('doctor/suited/')).not.toContain('note fine');
    const firstOfAll = [...text('doctor/').matchAll(/<a class="name" href="\/doctor\/([^"]*)\/"/g)].slice(0, 3);
    expect(firstOfAll.map(([, slug]) => slug).sort()).toEqual(['beta', 'gone', 'suited']);
    expect(text('divergence/')).toMatch(/Beta \(.*unsafe to add\)/);
    expect(text('status/')).toContain(`It was taken over. ${link}See the safety list</a>.`);
    for (const list of ['repository/', 'ranking/']) expect(text(list).split(unsafe), list).toHaveLength(3);
    // One of them was never read.
    expect(text('doctor/').split(unsafe)).toHaveLength(4);
    expect(text('doctor/gone/')).toContain('<strong>Unsafe to add.</strong> It was taken over.');
    const unread = text('status/').split('href="/doctor/gone/"')[1]?.split('</li>')[0] ?? '';
    expect(readAloud(unread).replaceAll(/\s+/g, ' ')).toContain(
      'Unsafe Never read It was taken over. See the safety list',
    );
    expect(text('repository/many/')).toContain('sileo:');
    expect(text('search/')).toContain(' data-stale="beta" data-unsafe="suited beta"');
    const read = (file: string) => JSON.parse(readFileSync(path.join(folder, 'troubled', file), 'utf8'));
    expect(['beta', 'gone', 'many'].map((slug) => read(`badge/${slug}.json`).message)).toEqual([
      'unsafe to add',
      'unsafe to add',
      '3 packages · fresh',
    ]);
    expect(text('repository/beta/')).toMatch(/<img src="\/badge\/beta.svg" alt="Debdex: unsafe to add"/);
    const titles = (file: string) => read(file).items.map(({ title }: { title: string }) => title);
    expect(read('repository/beta/feed.json').title).toBe('Beta (unsafe to add) on Debdex');
    for (const feed of ['feed.json', 'repository/beta/feed.json']) {
      expect(titles(feed), feed).toContainEqual(
        expect.stringMatching(/^Only in Beta 1\.0, new, Beta \(.*unsafe to add\)$/),
      );
    }
    const followed = (id: string) => readFileSync(path.join(folder, 'troubled', `package/${id}/feed.atom`), 'utf8');
    expect(followed('com.beta.only')).toMatch(/<entry><title>Only in Beta 1\.0, new, Beta \(.*unsafe to add\)</);
    expect(followed('com.alpha.snowboard')).not.toContain('<entry>');
    // It is no news of a package whose page offers a safe one, except in the feed of the repository itself.
    const update = 'data-package="com.alpha.snowboard"';
    expect([troubled.get('new/index.html')?.includes(update), text('new/').includes(update)]).toEqual([true, false]);
    expect(titles('repository/beta/feed.json')).toContainEqual(expect.stringMatching(/^SnowBoard 1\.3, updated, Beta/));
    expect(titles('feed.json').filter((title: string) => title.startsWith('SnowBoard'))).toEqual([]);
    expect(read('repository/many/feed.json').title).toBe('Many packages on Debdex');
    expect(read(traitsFile)).toMatchObject({ stale: 'beta', unsafe: 'suited beta' });
    expect(read(beginningLists.file('on'))).toContainEqual(
      expect.objectContaining({ id: 'com.beta.only', trouble: 'unsafe' }),
    );
  }, 120_000);

  it('leads to a search of a repository only where it has something to be found', () => {
    const link = 'Search in this repository';
    expect(troubled.get('repository/shop/index.html')).toContain(link);
    expect(troubled.get('repository/empty/index.html')).toContain('It has no packages.');
    expect(troubled.get('repository/empty/index.html')).not.toContain(link);
  });

  it('says that more was removed than is listed', () => {
    const removed = (slug: string) =>
      textsOf(troubled.get(`repository/${slug}/index.html`)?.split('id="vanished"')[1]?.split('</ul>')[0] ?? '');
    expect(removed('shop').slice(-2)).toEqual(['com.gone.p23 1.0', 'and more']);
    expect(removed('empty').at(-1)).toBe('com.gone.p23 1.0');
  });

  it('says where what a package needs is there for other devices, or may not install', () => {
    const html = troubled.get('package/com.shop.needy/index.html') ?? '';
    const note = readAloud(html.split('id="needs-more"')[1]?.split('</p>')[0] ?? '').replaceAll(/\s+/g, ' ');
    expect(note).toContain(
      'Only in Beta (rootless only) is in Beta (beta) , from which nothing usable has come since 17 Nov 2026. ' +
        'Alpha Library (rootless only) is in Alpha Repo , in which the last crawl found nothing usable.',
    );
    expect(html).toContain('<div class="note weak" id="needs-more">');
  });

  it('says where APT refuses the repository of what a package needs, of another build of it, and of a copy', () => {
    const needy = troubled.get('package/com.shop.tardy/index.html') ?? '';
    const noteAt = (place: string) => readAloud(needy.split(place)[1]?.split('</p>')[0] ?? '').replaceAll(/\s+/g, ' ');
    expect(noteAt('id="needs-more"')).toContain(
      'Late is in Giver , which APT refuses: what it serves is past the day until which it is valid.',
    );
    expect(noteAt('of-build"')).toContain('is in Giver , which is past the day until which it is valid, not in ');
    expect(needy).toContain('<div class="note weak" id="needs-more">');
    const copied = troubled.get('package/com.shop.given/index.html') ?? '';
    expect(textsOf(copied.split('list copies"')[1]?.split('</ul>')[0] ?? '')).toContain('Expired');
  });

  it('says that what another repository has for a device may not install', () => {
    const html = troubled.get('package/com.alpha.snowboard/index.html') ?? '';
    const note = readAloud(html.split('of-build"')[1]?.split('</p>')[0] ?? '').replaceAll(/\s+/g, ' ');
    expect(note).toContain(
      'the rootless build in Beta , from which nothing usable has come since 17 Nov 2026, not of the one in Alpha Repo',
    );
  });

  it('says for which of its builds a package needs something, where not all do', () => {
    const read = (id: string) => {
      const html = troubled.get(`package/com.shop.${id}/index.html`) ?? '';
      const note = readAloud(html.split('id="needs-more"')[1]?.split('</p>')[0] ?? '').replaceAll(/\s+/g, ' ');
      const terms = [...(html.split('id="needs"')[1]?.split('</dl>')[0] ?? '').matchAll(/<dt>([^<]*)/g)];
      return { note, terms: terms.map(([, term]) => term), isAddedFirst: html.includes('Not found there?') };
    };
    const halves = read('halves');
    expect(halves.note).toMatch(/Some of its builds need other repositories\. Alpha Library /);
    expect(halves.note).toMatch(/\. For rootless, Only in Beta is in Beta/);
    expect(halves.terms).toEqual(['Depends on (rootful)', 'Depends on (rootless)', 'Of the device (rootless)']);
    expect(halves.isAddedFirst).toBe(false);
    const half = read('half');
    expect(half.note).toMatch(/For rootless, it needs two repositories: add both\. Alpha Library is in Alpha Repo/);
    expect(half.terms).toEqual(['Depends on (rootless)']);
    // The other build only needs its own.
    expect(half.isAddedFirst).toBe(true);
  });

  it('says of older versions on which iOS they run, and leads there where the newest says another', () => {
    const html = troubled.get('package/com.shop.grown/index.html') ?? '';
    expect(html).toContain('href="#older"');
    expect(html).toContain('<details id="older" open>');
    const older = html.split('id="older"')[1]?.split('</details>')[0] ?? '';
    const rows = older
      .split('<tr')
      .slice(1)
      .map((row) =>
        readAloud(row)
          .split('\n')
          .map((text) => text.trim()),
      );
    expect(rows[0]).toContain('iOS');
    expect(rows[1]).toContain('iOS 14 to 15');
    expect(rows[2]).toContain('–');
    // Where none says anything, there is no such column.
    const silent = troubled.get('package/com.alpha.snowboard/index.html') ?? '';
    expect(silent).not.toContain('#older');
    expect(silent).toContain('<details id="older">');
    expect(silent.split('id="older"')[1]).not.toContain('>iOS<');
  });

  it('says of what a package needs and no page describes where it comes from', () => {
    const html = troubled.get('package/com.shop.halves/index.html') ?? '';
    const items = [...(html.split('id="needs"')[1]?.split('</ul>')[0] ?? '').matchAll(/<li>.*?<\/li>/gs)];
    expect(items.map(([item]) => readAloud(item).replaceAll(/\s+/g, ' ').trim())).toEqual([
      'com.alpha.lib',
      'com.nowhere (= 2) or com.nobody · not in this index',
      'preferenceloader or com.nobody · comes with the jailbreak',
    ]);
  });

  it('leads whose repository is missing to how it gets in, and whose is there to what is wrong with it', () => {
    const list = troubled.get('repository/index.html') ?? '';
    expect(list).toContain('<a href="/about/#join">');
    const about = troubled.get('about/index.html') ?? '';
    expect(about.split('id="join"')[1]?.split('</p>')[0]).toContain('mailto:who@index.example');
    expect(about).toContain('<a href="/doctor/">');
  });

  it('keeps the commands of an owner behind a line on the page of a repository, which visitors read, and shows them its doctor', () => {
    const folded = /<details[^>]*>\s*<summary[^>]*>The commands? that mends? it<\/summary>[\s\S]*?<\/details>/;
    const notes = (troubled.get('repository/alpha/index.html') ?? '').split('<div class="note ');
    const [fold = ''] = folded.exec(notes.find((note) => note.includes('bad block')) ?? '') ?? [];
    expect(fold).toContain('aria-label="commands"');
    const doctor = troubled.get('doctor/alpha/index.html') ?? '';
    expect(doctor).toContain('aria-label="commands"');
    expect(doctor).not.toMatch(folded);
  });

  it('C11: the outcomes of the status page add up to the repositories that it counts', () => {
    const figures = figuresOf(page('status/'));
    const count = (...terms: string[]) =>
      terms.reduce((sum, term) => sum + Number((figures.get(term) ?? '0').replaceAll(',', '')), 0);
    expect(count('Repositories')).toBe(4);
    expect(count('Updated', 'Unchanged', 'Not renewed', 'Unreadable', 'Not recorded')).toBe(4);
    // What is listed and was never read has no packages to count, and is no repository of the index yet.
    expect(count('Listed, never read')).toBe(1);
    const attention = page('status/').split('id="attention"')[1]?.split('</section>')[0] ?? '';
    expect(attention).toContain('1 repository, 1 never read');
    const [unread, stale] = attention.split('</li>').map((row) => readAloud(row).replaceAll(/\s+/g, ' '));
    expect(unread).toMatch(/\bgone\b.*\bNever read\b/);
    expect(stale).toMatch(/\bBeta\b.*\bNot renewed\b/);
    const rows = page('status/').split('<tbody')[1]?.split('</tbody>')[0]?.split('<tr').length ?? 0;
    expect(rows - 1).toBe(4);
  });

  it('tells on the status page when it was crawled, and once where no script tells how long ago', () => {
    const lead = page('status/').split('<p class="lead">')[1]?.split('</p>')[0] ?? '';
    const shown = lead.replace(/<span class="needs-script">.*?<\/span>/, '');
    expect(readAloud(shown)).toMatch(/^\s*Crawled on \d+ \w+ \d{4}, \d\d:\d\d UTC\.\s*$/);
  });

  it('counts on the status page the findings to mend that the doctor counts', () => {
    const row =
      page('status/')
        .split('<tbody')[1]
        ?.split('<tr')
        .find((one) => one.includes('/repository/alpha/')) ?? '';
    const item =
      page('doctor/')
        .split('<li>')
        .find((one) => one.includes('/doctor/alpha/')) ?? '';
    const [onStatus, onDoctor] = [row, item].map((one) => /\d+ to mend/.exec(readAloud(one))?.[0]);
    expect([onStatus, onDoctor]).toEqual(['1 to mend', '1 to mend']);
    expect(page('doctor/alpha/')).toContain('class="note weak"');
  });

  it('calls all well on the status page only where nothing is to mend or weak', async () => {
    const attentionOf = (html = '') =>
      readAloud(html.split('id="attention"')[1]?.split('</section>')[0] ?? '').replaceAll(/\s+/g, ' ');
    const said = 'Every repository could be read when it was last visited.';
    expect(attentionOf(small.get('status/index.html'))).toMatch(new RegExp(`All is well Doctor ${said} $`));
    const packages = stanza({ Package: 'com.only.one', Name: 'One', Depends: 'two [iphoneos-arm]' });
    const mending = await build('mending', [{ ...single, packages }], { builtAt: lastBuild.builtAt, repositories: [] });
    expect(attentionOf(mending.get('status/index.html'))).toMatch(
      new RegExp(`All could be read Doctor ${said} 1 repository has something to mend\\. $`),
    );
    const twice = stanza({ Package: 'com.only.one', Name: 'One' });
    const weak = await build('weak', [{ ...single, packages: `${twice}${twice}` }], {
      builtAt: lastBuild.builtAt,
      repositories: [],
    });
    expect(attentionOf(weak.get('status/index.html'))).toMatch(new RegExp(`All could be read Doctor ${said} $`));
    // What is to mend there makes APT refuse it.
    const doctor = mending.get('doctor/only/index.html') ?? '';
    expect(doctor).toMatch(/<div class="note weak[^>]*id="verdict"/);
    expect(readAloud(doctor)).toContain('This index can read the repository: 1 package. APT refuses it.');
    expect(doctor).not.toContain('data from before');
  }, 120_000);

  // A line break before a tag is no blank in Astro's templates.
  it('has a blank between a word and the link or the code beside it', () => {
    const joined =
      /[\p{L},.:;]<(?:a|code|strong|em|time|b|bdi)\b[^>]*>\p{L}[^<]*|<\/(?:a|code|strong|em|time|b|bdi)>\p{L}[^<]*/gu;
    const found = [...pages].flatMap(([name, html]) =>
      (/<main.*<\/main>/s.exec(html)?.[0].match(joined) ?? []).map((text) => `${name}: ${text.slice(0, 60)}`),
    );
    expect(found).toEqual([]);
  });

  it('T9: has forms that lead where the privacy policy says, and nowhere else', () => {
    const actions = [...pages.values()].flatMap((html) =>
      [...html.matchAll(/<form\b([^>]*)>/g)].flatMap(([, attributes = '']) => {
        const [, action] = / action="([^"]*)"/.exec(attributes) ?? [];
        // One without an address is read by the script of its page, and sent nowhere.
        return action === undefined && !/ id="(?:repository-filters|host-filter|device)"/.test(attributes)
          ? ['no address']
          : (action ?? []);
      }),
    );
    expect([...new Set(actions)].sort()).toEqual(Object.keys(formsOfPages).sort());
  });
});
