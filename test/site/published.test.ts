import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { badgeSchema } from '../../src/contract/badge.ts';
import { searchPage } from '../../src/contract/search-page.ts';
import { publishSources } from './published-sources.ts';

const base = 'https://index.example';
let out: string;
beforeAll(async () => {
  ({ out } = await publishSources());
});

const read = (name: string): string => readFileSync(path.join(out, name), 'utf8');
/** What the page of this name says in its main part. */
const wordsOf = (name: string): string =>
  read(name)
    .replace(/^.*<main/s, '<main')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');
/** What a page says of itself to services that show a link to it (the Open Graph protocol). */
const metaOf = (html: string, name: string): string | undefined =>
  RegExp(`<meta property="${name}" content="([^"]*)"`).exec(html)?.[1];
const files = (): string[] =>
  readdirSync(out, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(out, path.join(entry.parentPath, entry.name)))
    .sort();

describe('a published site', () => {
  it('writes a page for every package, repository and section', () => {
    expect(files().filter((name) => /^package\/.*\/index\.html$/.test(name))).toHaveLength(250);
    const { packages, rows } = JSON.parse(read('search-index/index.json'));
    expect(packages).toBe(250);
    const withRows = files().filter((name) => name.startsWith('search-index/rows/'));
    expect(withRows).toHaveLength(rows.length / 9);
    expect(withRows.length).toBeGreaterThan(250 / 63);
    expect(withRows.length).toBeLessThanOrEqual(250 / 8 + 1);
    for (const name of [
      'index.html',
      '404.html',
      'feed.atom',
      'feed.json',
      'sitemap.xml',
      'sitemap/1.xml',
      'robots.txt',
    ]) {
      expect(existsSync(path.join(out, name)), name).toBe(true);
    }
    for (const name of ['package/com.alpha.snowboard', 'repository/alpha', 'repository/many/3', 'section/themes/3']) {
      expect(existsSync(path.join(out, name, 'index.html')), name).toBe(true);
    }
  });

  it('C12: has a badge for every repository, those that were never read and former slugs among them', () => {
    expect(files().filter((name) => name.startsWith('badge/'))).toEqual(
      ['alpha', 'beta', 'gone', 'many', 'oldalpha', 'suited'].flatMap((slug) => [
        `badge/${slug}.json`,
        `badge/${slug}.svg`,
      ]),
    );
    const messageOf = (slug: string) => badgeSchema.parse(JSON.parse(read(`badge/${slug}.json`))).message;
    expect(messageOf('many')).toBe('240 packages · fresh');
    expect(messageOf('beta')).toBe('stale since 2026-11-17');
    expect(messageOf('gone')).toBe('failed');
    expect(read('badge/oldalpha.svg')).toBe(read('badge/alpha.svg'));
    const page = read('repository/beta/index.html');
    expect(page).toContain('<img src="/badge/beta.svg" alt="Debdex: stale since 2026-11-17"');
    expect(page).toContain(`[![Debdex beta](${base}/badge/beta.svg)](${base}/repository/beta/)`);
  });

  it('C11: tells what is called unsafe, why, since when and who says so, leads nobody there, and says how to object', () => {
    const html = read('safety/index.html');
    const text = html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
    expect(text).toContain('6 addresses unsafe');
    expect(text).toContain('Write to list@index.example if an entry is wrong');
    expect(text).toMatch(
      /Had a backdoor once\. 1 address, listed since 31 Dec 2025 ; source: b\.example bad\.example\/repo .*Hands out &lt;b&gt;copies&lt;\/b&gt;\. 1 address, listed since 1 May 2026 ; source: who\.example zebra\.bad\.example .* 3 addresses, listed since /,
    );
    expect(html).toContain('href="https://who.example/says?a&amp;b"');
    expect(html).not.toMatch(/href="[^"]*bad\.example/);
    expect(html).toContain('<a href="mailto:list@index.example?subject=An%20entry%20of%20the%20safety%20list">');
  });

  it('C8: tells of versions that have other bytes elsewhere: on a page, in a feed, of the package and both repositories', () => {
    expect(wordsOf('divergence/index.html')).toMatch(
      /Between repositories Alpha Repo and Beta 1 version, since 19 Nov 2026 \. The version com\.alpha\.snowboard 1\.3 \(rootless\)/,
    );
    expect(wordsOf('divergence/index.html')).toContain('No such case has been seen.');
    expect(read('divergence/index.html')).toContain('<link rel="alternate" href="/divergence/feed.atom"');
    const feed = read('divergence/feed.atom');
    expect(feed.match(/<entry>/g)).toHaveLength(1);
    expect(feed).toContain('<title>Alpha Repo and Beta have other bytes for 1 version</title>');
    expect(feed).toContain(
      `<link href="${base}/package/com.alpha.snowboard/"/><updated>2026-11-19T10:00:00.000Z</updated>`,
    );
    expect(feed).toContain('<summary>com.alpha.snowboard 1.3 (iphoneos-arm64)</summary>');
    for (const [slug, other] of [
      ['alpha', 'beta'],
      ['beta', 'alpha'],
    ]) {
      expect(wordsOf(`repository/${slug}/index.html`)).toMatch(
        RegExp(
          `Another repository has the same version .* com\\.alpha\\.snowboard 1\\.3 \\(iphoneos-arm64\\) in ${other}`,
        ),
      );
    }
    expect(wordsOf('package/com.alpha.snowboard/index.html')).toContain('1.3 other bytes');
    // Each copy says of itself what a visitor compares.
    const copies = /(1\.3 has other bytes in Beta .*) (1\.3 has other bytes in Alpha Repo .*)/.exec(
      wordsOf('package/com.alpha.snowboard/index.html'),
    );
    expect(copies?.[1]).toMatch(/ Here: 4,096 bytes, SHA-256 not stated /);
    expect(copies?.[2]).toMatch(/ Here: 2,048 bytes, SHA-256 not stated /);
    expect(read('status/index.html')).toContain('href="/divergence/"');
  });

  it('says of the latest version of each repository whether it is the newest of all or the latest there', () => {
    const words = wordsOf('package/com.alpha.snowboard/index.html');
    expect(words).toMatch(/ 1\.5\.1 newest Alpha Repo .* 1\.3 latest here other bytes Beta /);
    expect(words).not.toMatch(/1\.3 newest|1\.5\.1 latest here/);
  });

  it('says that a version changed nothing where it did not', () => {
    expect(wordsOf('package/com.alpha.lib/index.html')).toContain(
      'What changed 1.0 states the same as 0.9 . 0.9 after',
    );
    expect(wordsOf('package/com.alpha.snowboard/index.html')).not.toContain('states the same');
  });

  it('H5: names the plain file of an operation only where it lies at another address', () => {
    const operations = read('api/index.html').split('<article').slice(1);
    const told = operations.map((html) => [
      /<code class="address">([^<]*)</.exec(html)?.[1],
      /Also a plain file[^<]*<code>([^<]*)</.exec(html)?.[1],
    ]);
    expect(told).toContainEqual(['/v2/jailbreak/package/{packageId}', '/v2/jailbreak/package/{packageId}.json']);
    expect(told.filter(([address, file]) => address === file)).toEqual([]);
  });

  it('H5: has the fields of what several operations answer alike at the first of them, to which the others lead', () => {
    const operations = read('api/index.html').split('<article').slice(1);
    const idOf = (html: string) => / id="(\w+)"/.exec(html)?.[1];
    const tables = operations.filter((html) => html.includes('<summary>Fields of the answer'));
    const rows = tables.map((html) => html.slice(html.indexOf('<summary>Fields')).replace(/ aria-label="[^"]*"/, ''));
    expect(new Set(rows.map((html) => /<tbody.*?<\/tbody>/s.exec(html)?.[0])).size).toBe(rows.length);
    const leading = operations.flatMap((html) => {
      const [, to] = /Fields of the answer: as those of <a href="#(\w+)"/.exec(html) ?? [];
      return to === undefined ? [] : [[idOf(html), to]];
    });
    expect(leading).toContainEqual(['repositoryPackages', 'packageSearch']);
    const before = operations.map(idOf);
    for (const [id, to] of leading) {
      expect(tables.map(idOf)).toContain(to);
      expect(before.indexOf(to)).toBeLessThan(before.indexOf(id));
    }
  });

  it('C12: names every page that has an address of its own in the sitemap', () => {
    const pages = path.join(import.meta.dirname, '..', '..', 'src', 'pages');
    const fixed = globSync('{index.astro,*/index.astro}', { cwd: pages }).map((file) => path.posix.dirname(`/${file}`));
    expect(fixed.length).toBeGreaterThan(8);
    const sitemap = read('sitemap/1.xml');
    for (const name of fixed) expect(sitemap).toContain(`<loc>${base}${name === '/' ? '/' : `${name}/`}</loc>`);
    expect(sitemap).toContain(`<loc>${base}/repository/beta/</loc><lastmod>2026-11-19</lastmod>`);
    expect(sitemap).toContain(`<loc>${base}/package/com.beta.only/</loc><lastmod>2026-11-19</lastmod>`);
  });

  it('C11: has no name twice within a page, so that links lead to what they name', () => {
    for (const name of files().filter((name) => name.endsWith('.html'))) {
      const ids = [...read(name).matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
      expect(ids, name).toEqual([...new Set(ids)]);
    }
  });

  it('C12: leads to every page from another one, which says what it is by a title and a description of its own', () => {
    const pages = files()
      .filter((name) => /^(?:.*\/)?index\.html$/.test(name))
      .map((name) => ({ address: `/${name.slice(0, -'index.html'.length)}`, html: read(name) }))
      .filter(({ html }) => !html.includes('http-equiv="refresh"'));
    const linksOf = (html: string) => [...html.matchAll(/ href="(\/[^"#?]*)/g)].map(([, link]) => link);
    // A page leads to itself by what stands on all of them.
    const linked = new Set(pages.flatMap(({ address, html }) => linksOf(html).filter((link) => link !== address)));
    const sitemap = read('sitemap/1.xml');
    const told = new Map<string, string>();
    for (const { address, html } of pages) {
      expect(linked, 'is linked to').toContain(address);
      const isNext = /\/\d+\/$/.test(address);
      if (!isNext) expect(sitemap, 'is in the sitemap').toContain(`<loc>${base}${address}</loc>`);
      const title = /<title>([^<]*)<\/title>/.exec(html)?.[1] ?? '';
      const description = /<meta name="description" content="([^"]*)"/.exec(html)?.[1] ?? '';
      expect(title, address).toMatch(address === '/' ? /^Debdex/ : /^\S.* · Debdex$/);
      expect(description, address).toMatch(/\S.{8,}/);
      // Two packages may be called the same, and the parts of a long list are of one thing.
      if (isNext || address.startsWith('/package/')) continue;
      // Beside the name of the site, which a link is shown with anyway.
      const shown = ['og:title', 'og:description', 'og:site_name'].map((name) => metaOf(html, name));
      expect(shown, address).toEqual([
        address === '/' ? 'Debdex' : title.slice(0, -' · Debdex'.length),
        description,
        'Debdex',
      ]);
      for (const text of [title, description]) {
        expect([address, told.get(text)], text).toEqual([address, undefined]);
        told.set(text, address);
      }
    }
    expect(pages.length).toBeGreaterThan(250);
  });

  it('leads above every page to what the link names, by the heading there, and never to the page itself', () => {
    const wordsIn = (markup = '') => markup.replaceAll(/<[^>]*>/g, '').trim();
    let seen = 0;
    for (const file of files().filter((name) => name.endsWith('index.html'))) {
      const [, crumbs = ''] = /<nav class="crumbs"[^>]*>(.*?)<\/nav>/s.exec(read(file)) ?? [];
      for (const [, href = '', name] of crumbs.matchAll(/<a href="([^"]*)"[^>]*>(.*?)<\/a>/gs)) {
        seen++;
        const target = `${href.slice(1)}index.html`;
        expect(target, file).not.toBe(file);
        const heading = wordsIn(/<h1[^>]*>(.*?)<\/h1>/s.exec(read(target))?.[1]);
        expect(heading.startsWith(wordsIn(name)), `${file}: ${name} leads to ${heading}`).toBe(true);
      }
    }
    expect(seen).toBeGreaterThan(500);
  });

  it('leads from every page below one of the menu to that, which its menu marks', () => {
    for (const [file, above, name] of [
      ['divergence/index.html', '/status/', 'Status'],
      ['doctor/alpha/index.html', '/status/', 'Status'],
      ['author/index.html', '/section/', 'Sections'],
      ['author/ada-example/index.html', '/section/', 'Sections'],
      ['section/themes/2/index.html', '/section/', 'Sections'],
      ['popular/index.html', '/new/', 'New'],
      ['ranking/index.html', '/repository/', 'Repositories'],
      ['api/feeds/index.html', '/api/', 'API'],
    ] as const) {
      const html = read(file);
      expect(html, file).toMatch(new RegExp(`<nav class="crumbs"[^>]*>\\s*<a href="${above}">${name}</a>`));
      expect(html, file).toContain(`<li><a href="${above}" aria-current="true">${name}</a></li>`);
    }
  });

  it('leads from a count of findings to these, and from a section to a search in it', () => {
    expect(read('repository/alpha/index.html')).toMatch(/href="#report">\s*3 findings\s*</);
    expect(read('status/index.html')).toMatch(/href="\/repository\/alpha\/#findings">\s*3<span[^>]*> about Alpha Repo/);
    for (const [folder, filter, value] of [
      ['section/themes', 'section', 'themes'],
      ['repository/many', 'repository', 'many'],
    ] as const) {
      const html = read(`${folder}/index.html`);
      expect(html).toContain(`href="/search/?${filter}=${value}">Search in this ${filter}</a>`);
      const [, form = ''] = /<noscript>\s*<form [^>]*action="\/search\/">(.*?)<\/form>/s.exec(html) ?? [];
      const hidden = [...form.matchAll(/type="hidden" name="(\w+)" value(?:="([^"]*)")?/g)].map(
        ([, name, text = '']) => [name, text],
      );
      expect(form).toMatch(/<input type="search" name="q" /);
      expect(hidden.filter(([, text]) => text !== '')).toEqual([[filter, value]]);
      expect(hidden.map(([name]) => name)).toEqual([...searchPage.facets, searchPage.order]);
    }
  });

  it('C11: has a preview picture of every page that is there, as large as is said, and says what it shows', () => {
    const seen = new Set<string>();
    for (const name of files().filter((one) => one.endsWith('.html'))) {
      const html = read(name);
      const address = metaOf(html, 'og:image') ?? '';
      expect(address.startsWith(`${base}/`), name).toBe(true);
      const told = ['width', 'height', 'alt'].map((part) => metaOf(html, `og:image:${part}`));
      seen.add(JSON.stringify([address.slice(base.length + 1), ...told]));
    }
    expect(seen.size).toBeGreaterThan(3);
    for (const [file, width, height, alt] of [...seen].map((one) => JSON.parse(one) as string[])) {
      // PNG (RFC 2083), 4.1.1: the first chunk begins with width and height.
      const png = readFileSync(path.join(out, file ?? ''));
      expect([png.toString('latin1', 1, 4), png.readUInt32BE(16), png.readUInt32BE(20)], file).toEqual([
        'PNG',
        Number(width),
        Number(height),
      ]);
      expect(alt, file).toMatch(/\w{3}/);
    }
  });

  it('C11: has a preview picture for each kind of page: of a section and an author the sign of a section', () => {
    const pictureOf = (folder: string) => metaOf(read(`${folder}/index.html`), 'og:image')?.slice(base.length);
    expect(pictureOf('section/themes')).toBe('/icons/headers/themes.png');
    expect(pictureOf('author/ada-example')).toBe('/icons/headers/tweaks.png');
    expect(pictureOf('about')).toBe('/preview.png');
  });

  it('C9: keeps identifiers that are paths in folders of their own', () => {
    expect(existsSync(path.join(out, 'package/=2e=2e/index.html'))).toBe(true);
    expect(read('package/=2e=2e/index.html')).toContain('Two dots');
    expect(read('package/_com._alpha._lib/index.html')).toContain('Other case');
    expect(read('package/com.alpha.lib/index.html')).toContain('Alpha Library');
  });

  it('leads a former slug to its repository, outside of sitemap and search, and keeps its feeds', () => {
    const former = read('repository/oldalpha/index.html');
    expect(former).toContain('<meta http-equiv="refresh" content="0; url=/repository/alpha/">');
    expect(former).toContain(`<link rel="canonical" href="${base}/repository/alpha/">`);
    const diagnosed = read('doctor/oldalpha/index.html');
    expect(diagnosed).toContain('<meta http-equiv="refresh" content="0; url=/doctor/alpha/">');
    expect(read('sitemap.xml')).not.toContain('oldalpha');
    expect(read('repository/oldalpha/feed.atom')).toBe(read('repository/alpha/feed.atom'));
    expect(read('repository/oldalpha/feed.json')).toBe(read('repository/alpha/feed.json'));
    expect(read('sitemap/1.xml')).not.toContain('oldalpha');
    // Another repository has this slug now.
    expect(read('repository/many/index.html')).not.toContain('http-equiv="refresh"');
  });

  it('shows what is news on the first page as its repository has it, and how that is, as the page of news does', () => {
    for (const name of ['index.html', 'new/index.html'])
      expect(wordsOf(name), name).toMatch(/SnowBoard 1\.3 Themes for every icon In trouble Beta/);
  });

  it('says of what is popular that it is so besides what is news, where the first page has named that as news', () => {
    const [, news = '', popular = ''] = read('index.html').split('<h2>');
    expect(popular).toMatch(/^Also popular</);
    // The most popular of all is news.
    expect(news).toContain('href="/package/com.alpha.snowboard/"');
    expect(popular).toContain('href="/package/ellekit/"');
    expect(popular.split('</ul>')[0]).not.toContain('com.alpha.snowboard');
  });

  it('marks a row with the builds that the repository has whose version it shows, which may be fewer than there are', () => {
    const marks = (name: string) =>
      /data-package="com\.alpha\.snowboard">.*?class="notches" title="([^"]*)"/s.exec(read(name))?.[1];
    for (const name of ['index.html', 'new/index.html', 'repository/beta/index.html'])
      expect(marks(name), name).toBe('Rootless');
    for (const name of ['repository/alpha/index.html', 'section/tweaks/index.html'])
      expect(marks(name), name).toBe('Rootless, RootHide');
  });

  it('says that a package needs something where it does, and not where it only speaks of others', () => {
    expect(wordsOf('package/com.alpha.snowboard/index.html')).toMatch(/What it needs Depends on .*Conflicts with/);
    expect(wordsOf('package/ellekit/index.html')).toMatch(/Other packages Provides mobilesubstrate/);
  });

  it('C12: has feeds of all, of repositories, sections, authors and packages, each named by its page', () => {
    const entries = (feed: string) => [...read(feed).matchAll(/<entry><title>([^<]*)</g)].map(([, title]) => title);
    const updated = 'SnowBoard 1.3, updated, Beta';
    const added = 'Only in Beta 1.0, new, Beta';
    expect(entries('feed.atom').sort()).toEqual([added, updated]);
    const all = {
      'repository/beta': [added, updated],
      'repository/alpha': [],
      'section/tweaks': [updated],
      'section/system': [added],
      'author/ada-example': [added, updated],
      'package/com.alpha.snowboard': [updated],
      'package/com.beta.only': [added],
      'package/ellekit': [],
      'package/=2e=2e': [],
    };
    for (const [folder, titles] of Object.entries(all)) {
      expect(entries(`${folder}/feed.atom`).sort(), folder).toEqual(titles);
      expect(read(`${folder}/feed.atom`)).toContain(
        `<link rel="self" type="application/atom+xml" href="${base}/${folder}/feed.atom"/>`,
      );
      const page = read(`${folder}/index.html`);
      expect(page, folder).toContain(`<link rel="alternate" href="/${folder}/feed.atom" type="application/atom+xml"`);
      expect(page.match(new RegExp(`<a[^>]*href="/${folder}/feed\\.atom"`)), folder).not.toBeNull();
    }
  });

  it('C12: has a page for each author, which tells no mail address', () => {
    const folders = readdirSync(path.join(out, 'author')).filter((name) => name !== 'index.html');
    expect(folders).toContain('ada-example');
    expect(folders).toHaveLength(3);
    const page = read('author/ada-example/index.html');
    // What is by somebody else too stands with what is theirs alone, and leads there.
    for (const name of ['SnowBoard', 'Alpha Library', 'NoFomoFix', 'Only in Beta']) {
      expect(page).toContain(`>${name}</a>`);
    }
    // By name, and the repository with the most first.
    const named = Array.from(page.matchAll(/class="name"[^>]*>([^<]*)<\/a>/g), ([, name]) => name);
    expect(named).toEqual(['Alpha Library', 'NoFomoFix', 'Only in Beta', 'SnowBoard']);
    const places = [...page.matchAll(/<a class="chip" href="(\/repository\/[^"]*)">/g)].map(([, address]) => address);
    expect(places).toEqual(['/repository/alpha/', '/repository/beta/']);
    expect([...read('author/index.html').matchAll(/class="end">(\d+)/g)].map(([, count]) => count)).toEqual([
      '4',
      '1',
      '1',
    ]);
    expect(page).not.toContain('The pages of each');
    const together = folders.find((name) => name.startsWith('bob-example-ada-example'));
    expect(read(`author/${together}/index.html`)).toMatch(
      /The pages of each:\s*<a href="\/author\/ada-example\/"[^>]*>\s*Ada Example\s*<\/a>\s*<\/p>/,
    );
    for (const file of files().filter((name) => /^(?:author|new|popular)\/|^feed\./.test(name)))
      expect(read(file), file).not.toMatch(/ada@example\.org|evil@example\.org/);
    const [, others] = read('package/com.alpha.lib/index.html').split('Also by');
    expect(others).toContain('<a href="/author/ada-example/"');
    expect(others).toContain('href="/package/com.beta.only/"');
  });

  it('C4: shows what the doctor says of each listed repository, those that were never read among them', () => {
    const says = (slug: string) =>
      read(`doctor/${slug}/index.html`)
        .replaceAll(/<[^>]*>/g, ' ')
        .replaceAll(/\s+/g, ' ');
    expect(says('alpha')).toContain('The repository can be used: 8 packages.');
    expect(says('alpha')).toContain('A stanza without Filename was left out: com.alpha.broken');
    expect(says('beta')).toContain('The repository cannot be used.');
    expect(says('beta')).toContain('It answers too slowly.');
    expect(says('gone')).toMatch(/The repository cannot be used\. .*No such host\./);
    expect(says('gone')).toContain('npm run doctor -- https://gone.example');
    expect(says('suited')).toContain(
      'npm run doctor -- https://suited.example/apt --suite stable --component main --binary iphoneos-arm64',
    );
    for (const file of ['repository/beta', 'status']) expect(read(`${file}/index.html`)).toContain('href="/doctor/');
    expect(read('status/index.html')).toContain('href="/doctor/gone/"');
  });

  it('breaks long names in lists of repositories at their capitals', () => {
    for (const list of ['repository', 'ranking', 'status', 'doctor'])
      expect(read(`${list}/index.html`)).toMatch(/<a [^>]*>Suited<wbr>For<wbr>Phones<\/a>/);
  });
});
