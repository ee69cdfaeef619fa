import {
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { badgeSchema } from '../../src/contract/badge.ts';
import { publishSite, type SitePublishing, type SiteSummary } from '../../src/pipeline/site-step.ts';
import { lastBuild, type Source, sources, stanza, temporaryFolder, writeCatalog } from './fixture.ts';

const base = 'https://index.example';
const { folder, remove } = temporaryFolder();
const out = path.join(folder, 'out');
const options: SitePublishing = {
  catalogPath: path.join(folder, 'catalog.sqlite'),
  lastBuild,
  outDir: out,
  cacheDir: path.join(folder, 'cache'),
  baseUrl: base,
  service: { name: 'Debdex', contact_email: 'list@index.example' },
  safety: [
    {
      host: 'zebra.bad.example',
      reason: 'Hands out <b>copies</b>.',
      date: '2026-05-01',
      source: 'https://who.example/says?a&b',
    },
    {
      host: 'bad.example',
      path: '/repo',
      reason: 'Had a backdoor once.',
      date: '2025-12-31',
      source: 'http://b.example/',
    },
  ],
};

const read = (name: string): string => readFileSync(path.join(out, name), 'utf8');
/** What the page of this name says in its main part. */
const wordsOf = (name: string): string =>
  read(name)
    .replace(/^.*<main/s, '<main')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');
const files = (): string[] =>
  readdirSync(out, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(out, path.join(entry.parentPath, entry.name)))
    .sort();
const stamps = (): Map<string, string> =>
  new Map(files().map((name) => [name, `${lstatSync(path.join(out, name)).mtimeMs} ${read(name)}`]));

// Where Linux keeps shared memory, which is a disk of its own.
const otherDisk = ['/dev/shm'].find((disk) => existsSync(disk) && statSync(disk).dev !== statSync('.').dev);

/** Every file that the site owns, by name. */
const contents = (folder: string): Map<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
      .filter((name) => !name.startsWith('v2/') && name !== '_headers')
      .sort()
      .map((name) => [name, readFileSync(path.join(folder, name), 'base64')]),
  );

/** The files of a build from nothing, on another disk if there is one. */
const buildElsewhere = async (): Promise<Map<string, string>> => {
  const cacheDir = mkdtempSync(path.join(otherDisk ?? folder, 'debdex-test-'));
  const outDir = path.join(folder, 'from elsewhere');
  try {
    await publishSite({ ...options, outDir, cacheDir });
    return contents(outDir);
  } finally {
    rmSync(cacheDir, { recursive: true, force: true });
  }
};

/** What the first build did, which the tests find in the output folder. */
let built: SiteSummary;
beforeAll(async () => {
  mkdirSync(path.join(out, 'v2/jailbreak'), { recursive: true });
  writeFileSync(path.join(out, 'v2/jailbreak/kept.json'), '{}');
  writeFileSync(path.join(out, '_headers'), 'kept');
  await writeCatalog(options.catalogPath, sources, base);
  built = await publishSite(options);
});
afterAll(remove);

// Each test builds, some of them several times, from nothing.
describe('a build of the site', () => {
  it('writes a page for every package, repository and section', () => {
    expect(built.rendered).toBeGreaterThan(250);
    expect(built.searchable).toBe(250);
    // Sixteen in a file.
    expect(files().filter((name) => name.startsWith('pagefind/fragment/'))).toHaveLength(16);
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
    expect(text).toContain('2 addresses unsafe');
    expect(text).toContain('Write to list@index.example if an entry is wrong');
    expect(text).toMatch(
      /Had a backdoor once\. 1 address, listed since 31 Dec 2025 ; source: b\.example bad\.example\/repo .*Hands out &lt;b&gt;copies&lt;\/b&gt;\. 1 address, listed since 1 May 2026 ; source: who\.example zebra\.bad\.example /,
    );
    expect(html).toContain('href="https://who.example/says?a&amp;b"');
    expect(html).not.toMatch(/href="[^"]*bad\.example/);
    expect(html).toContain('<a href="mailto:list@index.example?subject=An%20entry%20of%20the%20safety%20list">');
  });

  it('C8: tells of versions that have other bytes elsewhere: on a page, in a feed, of the package and both repositories', () => {
    expect(wordsOf('divergence/index.html')).toMatch(
      /Between repositories Alpha Repo and Beta 1 version, the last since 19 Nov 2026 \. The version com\.alpha\.snowboard 1\.3 \(rootless\)/,
    );
    expect(wordsOf('divergence/index.html')).toContain('No repository was seen to do so.');
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

  it('C12: names every page that has an address of its own in the sitemap', () => {
    const pages = path.join(import.meta.dirname, '..', '..', 'src', 'pages');
    const fixed = globSync('{index.astro,*/index.astro}', { cwd: pages }).map((file) => path.posix.dirname(`/${file}`));
    expect(fixed.length).toBeGreaterThan(8);
    const sitemap = read('sitemap/1.xml');
    for (const name of fixed) expect(sitemap).toContain(`<loc>${base}${name === '/' ? '/' : `${name}/`}</loc>`);
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
      for (const text of [title, description]) {
        expect([address, told.get(text)], text).toEqual([address, undefined]);
        told.set(text, address);
      }
    }
    expect(pages.length).toBeGreaterThan(250);
  });

  it('C11: has a preview picture of every page that is there, as large as is said, and says what it shows', () => {
    const metaOf = (html: string, name: string) => RegExp(`<meta property="${name}" content="([^"]*)"`).exec(html)?.[1];
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

  it('shows what is news on the first page as its repository has it, as the page of news does', () => {
    for (const name of ['index.html', 'new/index.html'])
      expect(wordsOf(name), name).toMatch(/SnowBoard 1\.3 Themes for every icon Beta/);
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
    expect(page).not.toContain('Also on their own');
    const together = folders.find((name) => name.startsWith('bob-example-ada-example'));
    expect(read(`author/${together}/index.html`)).toMatch(
      /Also on their own:\s*<a href="\/author\/ada-example\/"[^>]*>\s*Ada Example\s*<\/a>\s*<\/p>/,
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

  it('leaves what is not its own alone', () => {
    expect(read('v2/jailbreak/kept.json')).toBe('{}');
    expect(read('_headers')).toBe('kept');
  });

  it('C13: writes nothing where nothing changed, and keeps bytes and time stamps', async () => {
    const before = stamps();
    const summary = await publishSite(options);
    expect(summary).toMatchObject({ written: 0, removed: 0 });
    // All that stands there is still of the publication, the search index too.
    expect(files().filter((name) => !summary.files.has(name))).toEqual(['_headers', 'v2/jailbreak/kept.json']);
    // Those that have one address, which are rendered each time.
    expect(summary.rendered).toBeLessThan(25);
    expect(stamps()).toEqual(before);
  });

  it('C13: renders only what a change touches, as a build on another disk from nothing has it, and removes what vanished', async () => {
    const [alpha, beta, many, suited] = sources as readonly [Source, Source, Source, Source];
    const changed = { ...beta, packages: stanza({ Package: 'org.beta.new', Name: 'New one' }) };
    const described = { ...many, release: `${many.release}Description: Many of them\n` };
    await writeCatalog(options.catalogPath, [alpha, changed, described, suited], base);
    const before = stamps();
    const summary = await publishSite(options);
    expect(existsSync(path.join(out, 'package/org.beta.new/index.html'))).toBe(true);
    // What is news has a picture of its own.
    expect(read('package/org.beta.new/index.html')).toContain(`"${base}/package/org.beta.new/preview.png"`);
    expect(existsSync(path.join(out, 'package/org.beta.new/preview.png'))).toBe(true);
    expect(read('package/com.alpha.snowboard/index.html')).not.toContain('/repository/beta/');
    const after = stamps();
    expect(after.get('package/ellekit/index.html')).toBe(before.get('package/ellekit/index.html'));
    expect(after.get('package/com.many.p7/index.html')).toBe(before.get('package/com.many.p7/index.html'));
    expect(summary.rendered).toBeLessThan(50);
    expect(read('repository/many/2/index.html')).toContain('content="Many of them"');
    // A page depends on more than its own package; a build from nothing shows whether one was left behind.
    expect(await buildElsewhere()).toEqual(contents(out));

    await writeCatalog(options.catalogPath, [alpha, many, suited], base);
    expect((await publishSite(options)).removed).toBeGreaterThan(0);
    expect(existsSync(path.join(out, 'package/org.beta.new'))).toBe(false);
    expect(existsSync(path.join(out, 'repository/beta'))).toBe(false);
    expect(files().filter((name) => /(^|\/)\.[^/]*\.next$/.test(name))).toEqual([]);
    await writeCatalog(options.catalogPath, sources, base);
    await publishSite(options);
  });

  it('C12: makes anew what was damaged: a size that differs at once, a byte with --verify', async () => {
    const whole = contents(out);
    const page = 'package/com.alpha.lib/index.html';
    const index = 'pagefind-entry.json';
    const damaged = [
      path.join(options.cacheDir, 'pages', page),
      path.join(options.cacheDir, 'pagefind', index),
      path.join(out, 'package/com.alpha.paid/index.html'),
    ];
    for (const file of damaged) truncateSync(file, 10);
    await publishSite(options);
    expect(contents(out)).toEqual(whole);
    for (const file of damaged) {
      const { atime, mtime } = lstatSync(file);
      writeFileSync(file, readFileSync(file, 'latin1').replace(/[a-z]/, '?'), 'latin1');
      utimesSync(file, atime, mtime);
    }
    await publishSite({ ...options, verify: true });
    expect(contents(out)).toEqual(whole);
    expect(readFileSync(path.join(options.cacheDir, 'pages', page)).equals(readFileSync(path.join(out, page)))).toBe(
      true,
    );
    expect(readFileSync(path.join(options.cacheDir, 'pagefind', index), 'utf8')).toBe(read(`pagefind/${index}`));
  });

  it('renders anew what an interrupted build left half written', async () => {
    const whole = contents(out);
    const page = path.join(options.cacheDir, 'pages/package/com.alpha.lib/index.html');
    const kept = path.join(options.cacheDir, 'pages.json');
    const rendered = JSON.parse(readFileSync(kept, 'utf8')) as { pages: Record<string, unknown> };
    // As a run that ends while it writes this page leaves it.
    delete rendered.pages['package/com.alpha.lib/index.html'];
    writeFileSync(kept, JSON.stringify(rendered));
    rmSync(page);
    writeFileSync(page, '<!DOCTYPE html><html');
    expect(await publishSite(options)).toMatchObject({ written: 0, removed: 0 });
    expect(contents(out)).toEqual(whole);

    // The page that is published and the one that is built are one file, which something has written into.
    const published = path.join(out, 'package/com.alpha.paid/index.html');
    writeFileSync(published, 'damaged');
    expect(await publishSite(options)).toMatchObject({ written: 1, removed: 0 });
    expect(contents(out)).toEqual(whole);

    writeFileSync(kept, JSON.stringify(rendered).slice(0, 100));
    expect(await publishSite(options)).toMatchObject({ written: 0, removed: 0 });
    expect(contents(out)).toEqual(whole);

    // A page that is known as rendered, and gone.
    rmSync(page);
    expect(await publishSite(options)).toMatchObject({ written: 0, removed: 0 });
    expect(contents(out)).toEqual(whole);
  });

  it('C9: does not write through a symbolic link in the output folder', async () => {
    const outside = path.join(folder, 'outside');
    const linked = path.join(folder, 'linked');
    mkdirSync(outside);
    mkdirSync(linked);
    symlinkSync(outside, path.join(linked, 'package'));
    await publishSite({ ...options, outDir: linked });
    expect(readdirSync(outside)).toEqual([]);
    expect(existsSync(path.join(linked, 'package/com.alpha.lib/index.html'))).toBe(true);
  });

  it('renders all pages anew where the address changes', async () => {
    const moved = { ...options, baseUrl: 'https://elsewhere.example', outDir: path.join(folder, 'moved') };
    const summary = await publishSite(moved);
    expect(summary.rendered).toBeGreaterThan(250);
    expect(readFileSync(path.join(moved.outDir, 'index.html'), 'utf8')).toContain('https://elsewhere.example/');
  });

  it('C11: bears the name of the service everywhere, whatever it is, and in no page that was rendered before', async () => {
    const name = `<b>&"North' \u202eArchive</title><script>alert(1)</script>`;
    const outDir = path.join(folder, 'called');
    const service = { name, contact_email: 'who@north.test', copyright: '<i>North & Co' };
    // Of this address all pages were rendered by the test before, under another name.
    const called = { ...options, baseUrl: 'https://elsewhere.example', outDir, service };
    expect((await publishSite(called)).rendered).toBe(built.rendered);
    const published = contents(outDir);
    const textOf = (file: string) => Buffer.from(published.get(file) ?? '', 'base64').toString();
    const texts = [...published.keys()].filter(
      (file) => /\.(?:html|xml|atom|json|svg)$/.test(file) && !/^pagefind/.test(file),
    );
    const left = texts.filter((file) => textOf(file).replace('The software is Debdex.', '').includes('Debdex'));
    expect(left).toEqual([]);
    // Between quotation marks a bracket is text.
    expect(
      texts.filter(
        (file) => /<b>&|<script>alert|<i>North/.test(textOf(file).replaceAll(/="[^"]*"/g, '')) && !/json$/.test(file),
      ),
    ).toEqual([]);
    expect(textOf('index.html')).toContain('<title>&lt;b&gt;&amp;');
    expect(textOf('about/index.html')).toContain('href="mailto:who@north.test"');
    expect(textOf('about/index.html')).toContain('&lt;i&gt;North &amp; Co');
    expect(textOf('feed.atom')).toContain('<title>&lt;b&gt;&amp;&quot;North');
    expect(JSON.parse(textOf('feed.json')).title).toBe(`${name}: new and updated packages`);
    expect(JSON.parse(textOf('badge/alpha.json')).label).toMatch(/^<b>&"North' .*…$/);
    expect(textOf('badge/alpha.svg')).toContain('&lt;b&gt;&amp;&quot;North');
    const [, short = ''] = /<ShortName>(.*?)<\/ShortName>/.exec(textOf('opensearch.xml')) ?? [];
    expect(short).toBe(`&lt;b&gt;&amp;&quot;North' \u202eArc`);
  });

  it('is one also where no repository has a package', async () => {
    const catalogPath = path.join(folder, 'empty.sqlite');
    await writeCatalog(catalogPath, [{ ...(sources[0] as Source), packages: '' }], base);
    const outDir = path.join(folder, 'empty');
    const summary = await publishSite({
      catalogPath,
      outDir,
      cacheDir: path.join(folder, 'empty cache'),
      baseUrl: base,
    });
    expect(summary.searchable).toBe(0);
    expect(readFileSync(path.join(outDir, 'repository/alpha/index.html'), 'utf8')).toContain('It has no packages.');
    expect(JSON.parse(readFileSync(path.join(outDir, 'pagefind/pagefind-entry.json'), 'utf8'))).toMatchObject({
      languages: {},
    });
  });
});
