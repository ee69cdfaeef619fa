import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AstroMoved, findEntry, keepPageBundle } from '../../src/site/astro-inside.ts';
import { assertBundle, computeKey, holds, loadBundle, makeBundle, prepareBundle } from '../../src/site/bundle.ts';
import { provideSite } from '../../src/site/context.ts';
import { openSite } from '../../src/site/open-site.ts';
import { countLeft, type RenderedFile, type SharedWork, shareWork, takeFiles } from '../../src/site/page-work.ts';
import { renderPages } from '../../src/site/render.ts';
import { buildSearchIndex } from '../../src/site/search-index.ts';
import { isWorthSecondThread, SecondThread } from '../../src/site/second-thread.ts';
import { SiteCatalog } from '../../src/site/site-catalog.ts';
import { stagedPage } from '../../src/site/staged-page.ts';
import {
  countDownloads,
  fewSources,
  keepDepiction,
  lastBuild,
  sourcesWith,
  telling,
  temporaryFolder,
  writeCatalog,
} from './fixture.ts';

const { folder, remove } = temporaryFolder();
const bundle = path.join(folder, 'product', 'pages');
// The same pages, compiled to call the runtime of Astro, below a link as that of a state folder on another disk.
const byAstro = path.join(folder, 'by-astro', 'pages');
const project = path.join(import.meta.dirname, '..', '..');

// Root may write everywhere, so that a build is tried as the user whom Unix systems keep for nobody.
const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
const canRead = spawnSync(process.execPath, ['--eval', `fs.accessSync('${project}/src/site/bundle.ts')`], nobody);

beforeAll(async () => {
  mkdirSync(path.join(folder, 'other-disk', 'by-astro'), { recursive: true });
  symlinkSync(path.join('other-disk', 'by-astro'), path.join(folder, 'by-astro'));
  // Over one that is damaged.
  for (const [name, text] of [
    ['server/another.mjs', ''],
    ['key', `${computeKey()}\n`],
  ] as const) {
    mkdirSync(path.dirname(path.join(byAstro, name)), { recursive: true });
    writeFileSync(path.join(byAstro, name), text);
  }
  expect(await makeBundle(byAstro, 'astro')).toBe(true);
  // What a checkout has is of this version of the source too, and bundling takes four seconds.
  const { folder: made } = await prepareBundle(bundle);
  if (made !== bundle) cpSync(made, bundle, { recursive: true });
}, 60_000);
afterAll(remove);

describe('the bundle of the pages', () => {
  it('is made once for a version of the source, below a link too, with nothing of its making left', async () => {
    for (const made of [byAstro, bundle]) {
      expect(readdirSync(made).sort()).toEqual(['client', 'key', 'server']);
      expect(readdirSync(path.join(made, 'client'))).toContain('assets');
      expect(readdirSync(path.join(made, 'server'))).not.toContain('another.mjs');
      const time = statSync(path.join(made, 'key')).mtimeMs;
      expect(await makeBundle(made)).toBe(false);
      expect(statSync(path.join(made, 'key')).mtimeMs).toBe(time);
    }
  });

  it('is asked for before anything is crawled where it cannot be made, and it is said what to do', () => {
    const nothing = path.join(folder, 'nothing');
    expect(() => assertBundle(nothing, nothing, false)).toThrow(/run "npm run bundle".*--no-site/);
    expect(() => assertBundle(nothing, bundle, false)).not.toThrow();
    expect(() => assertBundle(bundle, nothing, false)).not.toThrow();
    expect(() => assertBundle(nothing, nothing)).not.toThrow();
  });

  it('C12: is not made where the disk is full, and that is told as an error of the system, without traces', () => {
    const module = path.join(project, 'src', 'site', 'bundle.ts');
    const work = `const { makeBundle } = await import(${JSON.stringify(module)});
      await makeBundle(${JSON.stringify(path.join(folder, 'no room', 'pages'))}).catch(({ code, syscall, message }) =>
        console.log(JSON.stringify({ code, syscall, message })));`;
    // A limit on the length of a file stands in for the disk: more than any file of the source has.
    const shell = ['-c', 'ulimit -f 100; exec "$0" --input-type=module --eval "$1"', process.execPath, work];
    const { stdout, stderr } = spawnSync('bash', shell, { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({
      code: 'EFBIG',
      syscall: 'write',
      message: expect.stringMatching(/^EFBIG: Failed to write file in \S.*: File too large$/),
    });
  });

  it('is made for the Node that renders, not for browsers: private fields are none of calls', () => {
    const server = path.join(bundle, 'server');
    const scripts = readdirSync(server, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.mjs'));
    const text = scripts.map((name) => readFileSync(path.join(server, name), 'utf8')).join('\n');
    expect(text).toMatch(/this\.#\w+/);
    expect(text).not.toMatch(/classPrivate|_defineProperty/);
  });

  it('gives browsers what the Safari of iOS 14 reads, with the prefixes of iOS, and names no script from the root of a host', () => {
    const assets = path.join(bundle, 'client', 'assets');
    const textOf = (ending: string) => {
      const names = readdirSync(assets).filter((name) => name.endsWith(ending));
      return names.map((name) => readFileSync(path.join(assets, name), 'utf8')).join('\n');
    };
    const [scripts, styles] = [textOf('.js'), textOf('.css')];
    const tooNew: Readonly<Record<string, RegExp>> = {
      'private fields, of 14.1': /this\.#\w+/g,
      'looking behind, of 16.4': /\(\?<[=!][^)]*\)/g,
    };
    // Where a script has one of them, nothing of it runs.
    for (const [what, pattern] of Object.entries(tooNew)) expect(scripts.match(pattern) ?? [], what).toEqual([]);
    expect(scripts.match(/["'`]\/?assets\/[^"'`]+/g) ?? []).toEqual([]);
    // Without it letters grow where a phone lies on its side.
    expect(styles.match(/-webkit-text-size-adjust:[^;}]+/g)).toEqual(['-webkit-text-size-adjust:100%']);
    // Browsers that are older yet show nothing that takes a script, of which they read none.
    expect(styles).toContain('html:not([data-script]) .needs-script,');
    // Two edges by one property are of 14.1, and where the lengths are variables the bundler takes none of them apart.
    expect(styles.match(/(?:padding|margin)-(?:inline|block):[^;}]*|[;{]inset:[^;}]*/g) ?? []).toEqual([]);
  });

  it('C13: reads the records of a package once for its page and its feed where nothing was rendered, none where nothing changed, and renders every page of a list anew whose repository is described otherwise, and all where what all of them bear changes, and those whose picture does', async () => {
    const base = 'https://index.example';
    const file = path.join(folder, 'catalog.sqlite');
    // More than a page of a list has.
    const before = sourcesWith(101);
    await writeCatalog(file, before, base);
    const catalog = new SiteCatalog(file, lastBuild);
    const reads = new Map<string, Set<unknown>>();
    const readVersions = catalog.readVersions.bind(catalog);
    catalog.readVersions = (id) => {
      const versions = readVersions(id);
      // What is read once is one list, whoever asks for it.
      reads.set(id, (reads.get(id) ?? new Set()).add(versions));
      return versions;
    };
    const pages = path.join(folder, 'pages');
    const { statedLists } = catalog;
    const render = async () => {
      reads.clear();
      provideSite(catalog, { base });
      const loaded = await loadBundle({ key: 'one', folder: bundle });
      return (await renderPages(loaded, pages, { base, statedLists }, () => {})).rendered;
    };
    try {
      // And once more for the page that shows an example.
      const readOf = () => [...reads].filter(([id]) => id !== catalog.example?.packageId);
      expect(await render()).toBeGreaterThan(catalog.packages.size);
      expect(readOf().length).toBeGreaterThan(100);
      expect(readOf().filter(([, lists]) => lists.size !== 1)).toEqual([]);
      expect(await render()).toBeLessThan(50);
      expect(readOf()).toEqual([]);
    } finally {
      provideSite(undefined);
      catalog.close();
    }

    const described = before.map((one) =>
      one.entry.slug === 'many' ? { ...one, release: `${one.release}Description: Many of them\n` } : one,
    );
    await writeCatalog(file, described, base);
    const next = openSite({ catalogPath: file, cacheDir: folder, baseUrl: base, lastBuild });
    // Of its own: a bundle shows the catalog that it was first asked with.
    const loadAnother = (name: string) => {
      const another = path.join(folder, name);
      cpSync(bundle, another, { recursive: true });
      return loadBundle({ key: 'one', folder: another });
    };
    try {
      const loaded = await loadAnother('described-bundle');
      expect((await renderPages(loaded, pages, { base, statedLists }, () => {})).rendered).toBeLessThan(50);
      for (const number of ['', '2/']) {
        const page = readFileSync(path.join(pages, stagedPage(`repository/many/${number}index.html`)), 'utf8');
        expect(page, number).toContain('content="Many of them. ');
      }
      // Every page bears the address and the name of the service, and says how many lists of statements there are. Which
      // are to be rendered for it is the question, so somebody takes them and does nothing.
      const help = async (work: SharedWork) => {
        while (takeFiles(work).length > 0);
      };
      const known = readFileSync(`${pages}.json`);
      for (const other of [
        { statedLists: 2 * statedLists },
        { base: 'https://elsewhere.example' },
        { service: { name: 'Other' } },
        { staticRefs: true },
      ]) {
        const rendering = { base, statedLists, ...other };
        const { rendered } = await renderPages(loaded, pages, rendering, () => {}, { help });
        expect(rendered, Object.keys(other)[0]).toBeGreaterThan(next.packages.size);
        writeFileSync(`${pages}.json`, known);
      }
      // Those that had no picture of their own: another package may take it from one that did not change.
      provideSite(next, { base }, { hasAllPictures: true });
      const pictured = await loadAnother('pictured-bundle');
      expect((await renderPages(pictured, pages, { base, statedLists }, () => {}, { help })).rendered).toBeGreaterThan(
        50,
      );
    } finally {
      provideSite(undefined);
      next.close();
    }
  });

  it('C13: renders nothing anew where native depictions are shown and none changed, and that page alone of which one did', async () => {
    const base = 'https://index.example';
    const catalogPath = path.join(folder, 'depicted.sqlite');
    await writeCatalog(catalogPath, fewSources, base);
    const pages = path.join(folder, 'depicted');
    let times = 0;
    /** Returns the pages of packages that were rendered. */
    const render = async (given: unknown): Promise<string[]> => {
      const depictions = await keepDepiction(path.join(folder, 'kept-for-pages'), given);
      const own = path.join(folder, `depicted-bundle-${times++}`);
      cpSync(bundle, own, { recursive: true });
      const catalog = openSite({ catalogPath, cacheDir: folder, baseUrl: base, lastBuild, depictions });
      const rendered: string[] = [];
      const help = async (work: SharedWork) =>
        void rendered.push(...work.files.filter((name) => /^package\/.*html$/.test(name)));
      try {
        await renderPages(await loadBundle({ key: 'one', folder: own }), pages, { base }, () => {}, { help });
      } finally {
        provideSite(undefined);
        catalog.close();
      }
      return rendered;
    };
    expect((await render(telling)).length).toBeGreaterThan(5);
    expect(await render(telling)).toEqual([]);
    const changed = JSON.parse(JSON.stringify(telling).replace('Mended.', 'Mended again.'));
    expect(await render(changed)).toEqual(['package/com.alpha.snowboard/index.html']);
    expect(readFileSync(path.join(pages, stagedPage('package/com.alpha.snowboard/index.html')), 'utf8')).toContain(
      'Mended again.',
    );
  });

  it('is rendered in another thread as it is in this one, each page by one of them, and a page that fails there fails here', async () => {
    const base = 'https://index.example/below';
    const catalogPath = path.join(folder, 'shared.sqlite');
    await writeCatalog(catalogPath, fewSources, base);
    // Of its own: a bundle shows the catalog that it was first asked with.
    const ready = { key: 'one', folder: path.join(folder, 'shared-bundle') };
    cpSync(bundle, ready.folder, { recursive: true });
    const signingKey = 'the key that generations are signed by';
    const order = { catalogPath, cacheDir: folder, baseUrl: base, staticRefs: true, signingKey, lastBuild };
    const [alone, together] = [path.join(folder, 'alone'), path.join(folder, 'together')];
    const rendering = { base, statedLists: 1 };
    let inThread: readonly RenderedFile[] = [];
    const index = path.join(folder, 'index-of-thread');
    // What it reads of all packages when it renders one is the same as if it had read that before.
    const second = new SecondThread({ order, index, rendersFew: true });
    const help = (work: SharedWork, onRendered: (files: readonly RenderedFile[]) => void) => {
      const told = (files: readonly RenderedFile[]) => {
        inThread = [...inThread, ...files];
        onRendered(files);
      };
      return second.render({ bundle: ready, folder: together, work }, told, 1);
    };
    const catalog = openSite(order);
    try {
      const indexed: number[] = [];
      expect(await second.readIndex((done) => void indexed.push(done))).toEqual(
        await buildSearchIndex(catalog, path.join(folder, 'index-of-none')),
      );
      expect(indexed.at(-1)).toBe(catalog.packages.size);
      expect(existsSync(path.join(index, 'index.json'))).toBe(true);
      const loaded = await loadBundle(ready);
      const { files, rendered } = await renderPages(loaded, alone, rendering, () => {});
      const progress: number[] = [];
      // This thread begins with a page that waits until the other has rendered some: more of them than are always rendered.
      const some = 48;
      const waiting = {
        ...loaded.pages,
        app: {
          render: async (...asked: Parameters<typeof loaded.pages.app.render>) => {
            await vi.waitUntil(() => inThread.length >= some, { timeout: 60_000 });
            return loaded.pages.app.render(...asked);
          },
        },
      };
      const onPage = (done: number) => void progress.push(done);
      const inTwo = await renderPages({ ...loaded, pages: waiting }, together, rendering, onPage, { help });
      expect(inTwo).toEqual({ files, rendered });
      expect(progress.at(-1)).toBe(rendered);
      expect(inThread.length).toBeGreaterThanOrEqual(some);
      expect(inThread.length).toBeLessThan(rendered);
      const listFiles = (where: string) =>
        readdirSync(where, { recursive: true, encoding: 'utf8' })
          .filter((name) => statSync(path.join(where, name)).isFile())
          .sort();
      expect(listFiles(alone)).toEqual(files.map(stagedPage).sort());
      expect(listFiles(together)).toEqual(listFiles(alone));
      for (const name of listFiles(alone)) {
        expect(readFileSync(path.join(together, name)).equals(readFileSync(path.join(alone, name))), name).toBe(true);
      }
      const reference = readFileSync(path.join(alone, stagedPage('api/index.html')), 'utf8');
      expect(reference).toContain(`<code id="signing-key">${signingKey}</code>`);
      const search = readFileSync(path.join(alone, stagedPage('search/index.html')), 'utf8');
      expect(search).toContain('This site consists of files only');
      // Nothing is left to render: what the other thread rendered is noted as well.
      const keyed = inThread.filter(({ note }) => note !== undefined).length;
      expect(keyed).toBeGreaterThan(some / 2);
      const again = await renderPages(loaded, together, rendering, () => {});
      expect(again).toEqual(await renderPages(loaded, alone, rendering, () => {}));
      expect(again.rendered).toBeLessThan(rendered);

      const work = shareWork(Array.from({ length: 20 }, (_, index) => `package/none-${index}/index.html`));
      // Too few to load the bundle for.
      await second.render({ bundle: ready, folder: together, work }, () => {});
      expect(countLeft(work)).toBe(20);
      const another = new SecondThread({ order, index, rendersFew: false });
      const failing = another.render({ bundle: ready, folder: together, work }, () => {}, 1);
      await expect(failing).rejects.toThrow('package/none-0/index.html is gone');
      await another.end();
    } finally {
      await second.end();
      provideSite(undefined);
      catalog.close();
    }
  });

  it('renders every page as it is where compiled pages call the runtime of Astro, byte by byte', async () => {
    const base = 'https://index.example';
    const catalogPath = path.join(folder, 'compared.sqlite');
    await writeCatalog(catalogPath, fewSources, base);
    const own = path.join(folder, 'own');
    cpSync(bundle, own, { recursive: true });
    countDownloads(catalogPath, { 'com.alpha.snowboard': 1200, ellekit: 80 });
    const depictions = await keepDepiction(path.join(folder, 'kept'), telling);
    const catalog = openSite({ catalogPath, cacheDir: folder, baseUrl: base, lastBuild, depictions });
    try {
      const read = async (from: string) => {
        const { pages } = await loadBundle({ key: 'one', folder: from });
        const texts = new Map<string, string>();
        let requests = 0;
        for (const { pathname, route } of await pages.listPages()) {
          const text = async () => {
            requests++;
            const request = new Request(new URL(encodeURI(pathname), base));
            return (await pages.app.render(request, { routeData: route })).text();
          };
          const alike =
            route.type === 'page' ? pages.renderAlike(pathname, text) : from === own && pages.answerAlike(pathname);
          // Both are bundles of their own, whose styles and scripts bear names of their own.
          texts.set(`${route.type} ${pathname}`, (await (alike || text())).replaceAll(/\/assets\/[^"]+/g, '/assets/'));
        }
        return { texts, requests };
      };
      const { pages: named } = await loadBundle({ key: 'one', folder: own });
      expect(named.answerAlike('/package/no.such.package/feed.atom')).toBeUndefined();
      const [ours, theirs] = [await read(own), await read(byAstro)];
      expect([...ours.texts.keys()]).toEqual([...theirs.texts.keys()]);
      expect([...ours.texts].filter(([name, text]) => theirs.texts.get(name) !== text)).toEqual([]);
      expect(theirs.requests).toBe(theirs.texts.size);
      // What strangers wrote, by elements of which a page decides the name.
      const told = ours.texts.get('page /package/com.alpha.snowboard');
      expect(told).toMatch(/<div class="told">.*<strong>Themes<\/strong>.*<ul>.*<code>two<\/code>/s);
      // All packages but the first, and the one of which the address is written otherwise, are rendered without a request,
      // and their feeds.
      const feeds = [...ours.texts.keys()].filter((name) => /^endpoint \/package\/.*\/feed\.atom$/.test(name)).length;
      expect(feeds).toBeGreaterThan(10);
      expect(theirs.requests - ours.requests).toBeGreaterThan(catalog.packages.size + feeds - 6);
    } finally {
      provideSite(undefined);
      catalog.close();
    }
  });

  it('has a second thread where the catalog is large and there is another processor', () => {
    const large = path.join(folder, 'large');
    writeFileSync(large, '');
    truncateSync(large, 16e6);
    expect([isWorthSecondThread(large, 2), isWorthSecondThread(large, 1)]).toEqual([true, false]);
    truncateSync(large, 16e6 - 1);
    expect(isWorthSecondThread(large, 2)).toBe(false);
    const work = shareWork(Array.from({ length: 40 }, (_, index) => `${index}`));
    const taken = [takeFiles(work), takeFiles(work)].flat();
    expect([taken.length, countLeft(work)]).toEqual([32, 8]);
    taken.push(...takeFiles(work), ...takeFiles(work), ...takeFiles(work));
    expect(taken).toEqual(work.files);
    expect(countLeft(work)).toBe(0);
  });

  it('C12: is none where a file of it is damaged, missing or one too many', () => {
    const [style] = readdirSync(path.join(bundle, 'client', 'assets'));
    const file = path.join(bundle, 'client', 'assets', style ?? '');
    const another = path.join(bundle, 'server', 'another.mjs');
    const before = readFileSync(file);
    const isWhole = () => holds(bundle, computeKey());
    expect(isWhole()).toBe(true);
    writeFileSync(another, '');
    expect(isWhole()).toBe(false);
    rmSync(another);
    expect(isWhole()).toBe(true);
    rmSync(file);
    expect(isWhole()).toBe(false);
    writeFileSync(file, before);
    expect(isWhole()).toBe(true);
    writeFileSync(file, before.subarray(1));
    expect(isWhole()).toBe(false);
    writeFileSync(file, before);
    expect(isWhole()).toBe(true);
  });

  it('needs no package that is not in it', () => {
    const server = path.join(bundle, 'server');
    const modules = readdirSync(server, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.mjs'));
    expect(modules.length).toBeGreaterThan(0);
    for (const name of modules) {
      const text = readFileSync(path.join(server, name), 'utf8');
      const imported = [...text.matchAll(/^import [^'"]*['"]([^'"]+)['"];$/gm)].map(([, from = '']) => from);
      expect(imported.filter((from) => !from.startsWith('.') && !from.startsWith('node:'))).toEqual([]);
    }
  });

  it('says which assumption about Astro does not hold any more', () => {
    expect(() => findEntry(['entry.mjs'])).toThrow(AstroMoved);
    const { assertKept } = keepPageBundle(folder, folder);
    expect(assertKept).toThrow(/Astro has moved the Vite environment/);
  });

  it.skipIf(canRead.status !== 0)(
    'H10: has a build done with it where nothing but state and output can be written',
    () => {
      const own = path.join(folder, 'of nobody');
      mkdirSync(own);
      chmodSync(folder, 0o755);
      if (nobody.uid !== undefined) chownSync(own, nobody.uid, nobody.gid);
      const folders = ['--state', path.join(own, 'state'), '--out', path.join(own, 'out')];
      // One repository has all kinds of pages that have to be made.
      const flags = ['--sample', '--only', 'papercut', '--fail-on-stale', '100%', ...folders];
      const { status, stderr } = spawnSync(process.execPath, [path.join(project, 'scripts', 'build.ts'), ...flags], {
        ...nobody,
        cwd: own,
        env: { ...process.env, HOME: own },
        encoding: 'utf8',
      });
      expect(status, stderr).toBe(0);
      expect(existsSync(path.join(own, 'out', 'index.html'))).toBe(true);
    },
  );
});
