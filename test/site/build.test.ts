import {
  existsSync,
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
import type { SafetyEntry } from '../../src/contract/safety.ts';
import { publishSite, type SitePublishing } from '../../src/pipeline/site-step.ts';
import { readBuiltTraits } from '../../src/results/search-page.ts';
import { stagedPage } from '../../src/site/staged-page.ts';
import { fewSources, lastBuild, type Source, stanza, temporaryFolder, writeCatalog } from './fixture.ts';

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
      host: 'bad.example',
      path: '/repo',
      reason: 'Had a backdoor once.',
      date: '2025-12-31',
      source: 'http://b.example/',
    },
  ],
};

const read = (name: string): string => readFileSync(path.join(out, name), 'utf8');
const files = (): string[] =>
  readdirSync(out, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(out, path.join(entry.parentPath, entry.name)))
    .sort();
const stamps = (): Map<string, string> =>
  new Map(files().map((name) => [name, `${lstatSync(path.join(out, name)).mtimeMs} ${read(name)}`]));

// Where Linux keeps shared memory, which is a disk of its own.
const otherDisk = ['/dev/shm'].find((disk) => existsSync(disk) && statSync(disk).dev !== statSync('.').dev);

const pageOf = (id: string): string => path.join('package', id, 'index.html');
const built = (page: string): string => path.join(options.cacheDir, 'pages', stagedPage(page));
const index = 'index.json';
const builtIndex = path.join(options.cacheDir, 'search-index', index);
// Pages that no change here touches.
const damagedPages = [built(pageOf('com.many.p2')), path.join(out, pageOf('com.many.p0'))];

/** The folders that pages are built in and nothing is in. */
const emptyFolders = (): string[] =>
  readdirSync(path.join(options.cacheDir, 'pages'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((name) => readdirSync(name).length === 0);

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
  // What somebody put in the way is not written through.
  const outside = path.join(folder, 'outside');
  for (const made of [outside, outDir]) mkdirSync(made);
  symlinkSync(outside, path.join(outDir, 'package'));
  try {
    // As a run that was ended while it noted what it had rendered leaves it.
    writeFileSync(
      path.join(cacheDir, 'pages.json'),
      readFileSync(path.join(options.cacheDir, 'pages.json')).subarray(0, 100),
    );
    await publishSite({ ...options, outDir, cacheDir });
    expect(readdirSync(outside)).toEqual([]);
    return contents(outDir);
  } finally {
    rmSync(cacheDir, { recursive: true, force: true });
  }
};

/** What was temporary in the output folder in the first build. */
const madeAhead = new Set<string>();
beforeAll(async () => {
  mkdirSync(path.join(out, 'v2/jailbreak'), { recursive: true });
  writeFileSync(path.join(out, 'v2/jailbreak/kept.json'), '{}');
  writeFileSync(path.join(out, '_headers'), 'kept');
  await writeCatalog(options.catalogPath, fewSources, base);
  const watching = setInterval(() => {
    const temporary = path.join(out, '.staging');
    if (!existsSync(temporary)) return;
    for (const name of readdirSync(temporary, { recursive: true, encoding: 'utf8' })) madeAhead.add(name);
  }, 5);
  await publishSite(options);
  clearInterval(watching);
});
afterAll(remove);

// Each takes up where the one before it ended: a build takes seconds, whatever there is to do.
describe('a build of the site', () => {
  it('C12: makes the folders of packages while their pages are rendered', () => {
    expect([...madeAhead].filter((name) => name.endsWith(path.dirname(pageOf('com.many.p0'))))).toHaveLength(1);
  });

  it('leaves what is not its own alone', () => {
    expect(read('v2/jailbreak/kept.json')).toBe('{}');
    expect(read('_headers')).toBe('kept');
  });

  it('has pages of packages whose characters are all of Latin-1, where those of the package are', () => {
    // The engine keeps any other text with two bytes a character: one curly quotation mark makes the whole page such a text,
    // which takes longer to make and to encode.
    for (const id of ['com.many.p0', 'com.many.p2']) expect(read(pageOf(id))).toMatch(/^[\0-\xff]*$/);
  });

  it('C12, C13: writes nothing where nothing changed, keeps bytes and time stamps, and makes anew a search index of which a kept file was damaged', async () => {
    const before = stamps();
    // Not the file that is published too.
    rmSync(builtIndex);
    writeFileSync(builtIndex, 'cut off');
    const summary = await publishSite(options);
    expect(summary).toMatchObject({ written: 0, removed: 0 });
    expect(readFileSync(builtIndex, 'utf8')).toBe(read(`search-index/${index}`));
    // All that stands there is still of the publication, the search index too.
    expect(files().filter((name) => !summary.files.has(name))).toEqual(['_headers', 'v2/jailbreak/kept.json']);
    // Those that have one address, which are rendered each time.
    expect(summary.rendered).toBeLessThanOrEqual(26);
    expect(stamps()).toEqual(before);
  });

  it('C9, C12, C13: renders only what a change touches and makes anew what was damaged or left half written, as a build on another disk from nothing has it, and removes what vanished; writes through no symbolic link', async () => {
    const [alpha, beta, many, suited] = fewSources as readonly [Source, Source, Source, Source];
    const changed = { ...beta, packages: stanza({ Package: 'org.beta.new', Name: 'New one' }) };
    const described = { ...many, release: `${many.release}Description: Many of them\n` };
    await writeCatalog(options.catalogPath, [alpha, changed, described, suited], base);
    const before = stamps();
    for (const file of damagedPages) truncateSync(file, 10);
    // As a run that ends while it writes this page leaves it.
    const half = pageOf('com.many.p1');
    const kept = path.join(options.cacheDir, 'pages.json');
    const rendered = JSON.parse(readFileSync(kept, 'utf8')) as { pages: Record<string, unknown> };
    expect(rendered.pages[half]).toBeDefined();
    delete rendered.pages[half];
    writeFileSync(kept, JSON.stringify(rendered));
    rmSync(built(half));
    writeFileSync(built(half), '<!DOCTYPE html><html');
    // As an earlier version left the folders of what vanished.
    mkdirSync(path.join(path.dirname(built(half)), 'com.former/of-a-long-name'), { recursive: true });
    // A page that is known as rendered, and gone.
    rmSync(built(pageOf('ellekit')));
    const summary = await publishSite(options);
    expect(existsSync(path.join(out, 'package/org.beta.new/index.html'))).toBe(true);
    expect(summary.removed).toBeGreaterThan(0);
    expect(existsSync(path.join(out, 'package/com.beta.only'))).toBe(false);
    expect(emptyFolders()).toEqual([]);
    // What is news has a picture of its own.
    expect(read('package/org.beta.new/index.html')).toContain(`"${base}/package/org.beta.new/preview.png"`);
    expect(existsSync(path.join(out, 'package/org.beta.new/preview.png'))).toBe(true);
    expect(read('package/com.alpha.snowboard/index.html')).not.toContain('/repository/beta/');
    const after = stamps();
    for (const unharmed of [half, pageOf('ellekit')]) {
      expect(after.get(unharmed)).toBe(before.get(unharmed));
    }
    expect(summary.rendered).toBeLessThanOrEqual(51);
    expect(read('repository/many/index.html')).toContain('content="Many of them. ');
    // A page depends on more than its own package; a build from nothing shows whether one was left behind.
    expect(await buildElsewhere()).toEqual(contents(out));
    expect(files().filter((name) => /(^|\/)\.[^/]*\.next$/.test(name))).toEqual([]);
  });

  it('C12: renders only what shows a repository where nothing but the safety list changes, as a build from nothing does, and makes it again as it was', async () => {
    const whole = contents(out);
    const unsafe = { ...(options.safety?.[0] as SafetyEntry), host: 'beta.example', path: undefined };
    const safety = [...(options.safety ?? []), unsafe];
    const warned = await publishSite({ ...options, safety });
    const after = contents(out);
    const changed = [...after.keys()].filter((name) => after.get(name) !== whole.get(name));
    expect(changed.filter((name) => /^(package|author|repository|section)\/.+\/index\.html$/.test(name))).toEqual([
      'package/org.beta.new/index.html',
      'repository/beta/index.html',
      'section/other/index.html',
    ]);
    expect(read('package/org.beta.new/index.html')).toContain('Had a backdoor once.');
    const [outDir, cacheDir] = ['warned', 'warned cache'].map((name) => path.join(folder, name)) as [string, string];
    await publishSite({ ...options, safety, outDir, cacheDir });
    expect(contents(outDir)).toEqual(after);
    const again = await publishSite(options);
    expect([warned, again].map(({ rendered }) => rendered < 40)).toEqual([true, true]);
    expect(contents(out)).toEqual(whole);
  });

  it('C12: makes anew with --verify what was damaged and has its size', async () => {
    const whole = contents(out);
    for (const file of [...damagedPages, builtIndex]) {
      const { atime, mtime } = lstatSync(file);
      writeFileSync(file, readFileSync(file, 'latin1').replace(/[a-z]/, '?'), 'latin1');
      utimesSync(file, atime, mtime);
    }
    await publishSite({ ...options, verify: true });
    expect(contents(out)).toEqual(whole);
    const page = pageOf('com.many.p2');
    expect(readFileSync(built(page)).equals(readFileSync(path.join(out, page)))).toBe(true);
    expect(readFileSync(builtIndex, 'utf8')).toBe(read(`search-index/${index}`));
  });

  it('C11: renders all pages anew where the address and the name of the service change, and bears them everywhere, whatever they are', async () => {
    const name = `<b>&"North' \u202eArchive</title><script>alert(1)</script>`;
    const outDir = path.join(folder, 'called');
    const service = { name, contact_email: 'who@north.test', copyright: '<i>North & Co' };
    const baseUrl = 'https://elsewhere.example';
    // Where an earlier version built a page, and noted it under an address that is none any more.
    const former = path.join(options.cacheDir, 'pages', pageOf('com.former'));
    mkdirSync(path.dirname(former));
    writeFileSync(former, 'of an earlier version');
    expect((await publishSite({ ...options, baseUrl, outDir, service })).rendered).toBeGreaterThan(80);
    expect(existsSync(path.dirname(former))).toBe(false);
    const published = contents(outDir);
    const textOf = (file: string) => Buffer.from(published.get(file) ?? '', 'base64').toString();
    const texts = [...published.keys()].filter(
      (file) => /\.(?:html|xml|atom|json|svg)$/.test(file) && !/^search-index/.test(file),
    );
    const left = texts.filter((file) => textOf(file).replace('The software is Debdex.', '').includes('Debdex'));
    expect(left).toEqual([]);
    for (const page of ['index.html', pageOf('com.alpha.lib')]) expect(textOf(page), page).toContain(`${baseUrl}/`);
    // Between quotation marks a bracket is text.
    expect(
      texts.filter(
        (file) => /<b>&|<script>alert|<i>North/.test(textOf(file).replaceAll(/="[^"]*"/g, '')) && !/json$/.test(file),
      ),
    ).toEqual([]);
    expect(textOf('index.html')).toContain('<title>&lt;b&gt;&amp;');
    for (const page of ['about', 'privacy']) {
      expect(textOf(`${page}/index.html`), page).toContain('<a href="mailto:who@north.test">who@north.test</a>');
    }
    expect(textOf('about/index.html')).toContain('&lt;i&gt;North &amp; Co');
    expect(textOf('feed.atom')).toContain('<title>&lt;b&gt;&amp;&quot;North');
    expect(JSON.parse(textOf('feed.json')).title).toBe(`${name.replace('\u202e', '')}: new and updated packages`);
    expect(JSON.parse(textOf('badge/alpha.json')).label).toMatch(/^<b>&"North' .*…$/);
    expect(textOf('badge/alpha.svg')).toContain('&lt;b&gt;&amp;&quot;North');
    const [, short = ''] = /<ShortName>(.*?)<\/ShortName>/.exec(textOf('opensearch.xml')) ?? [];
    expect(short).toBe(`&lt;b&gt;&amp;&quot;North' \u202eArc`);
  });

  it('is one also where no repository has a package', async () => {
    const alone = { ...(fewSources[0] as Source), packages: '' };
    await writeCatalog(
      options.catalogPath,
      [alone, { ...alone, entry: { ...alone.entry, slug: 'mirror', aliases: [] } }],
      base,
    );
    const summary = await publishSite(options);
    expect(summary).toMatchObject({ searchable: 0 });
    expect(readdirSync(path.join(out, 'author'))).toEqual(['index.html']);
    expect(existsSync(path.join(out, 'repository/beta'))).toBe(false);
    expect(read('repository/alpha/index.html')).toContain('It has no packages.');
    // The function learns from the page of the search which repositories have one name.
    expect(readBuiltTraits(read('search/index.html')).alike).toEqual(new Set(['alpha', 'mirror']));
    expect(JSON.parse(read('search-index/index.json'))).toMatchObject({ packages: 0 });
  });
});
