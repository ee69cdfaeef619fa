import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageFolder } from '../../src/results/package-address.ts';
import { AstroMoved, findEntry, keepPageBundle } from '../../src/site/astro-inside.ts';
import { computeKey, holds, loadBundle, makeBundle } from '../../src/site/bundle.ts';
import { provideSite } from '../../src/site/context.ts';
import { renderPages } from '../../src/site/render.ts';
import { SiteCatalog } from '../../src/site/site-catalog.ts';
import { lastBuild, sources, temporaryFolder, writeCatalog } from './fixture.ts';

const { folder, remove } = temporaryFolder();
const bundle = path.join(folder, 'product', 'pages');
const project = path.join(import.meta.dirname, '..', '..');

// Root may write everywhere, so that a build is tried as the user whom Unix systems keep for nobody.
const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
const canRead = spawnSync(process.execPath, ['--eval', `fs.accessSync('${project}/src/site/bundle.ts')`], nobody);

beforeAll(() => makeBundle(bundle), 60_000);
afterAll(remove);

describe('the bundle of the pages', () => {
  it('is made once for a version of the source, with nothing of its making left', async () => {
    expect(readdirSync(bundle).sort()).toEqual(['client', 'key', 'server']);
    expect(readdirSync(path.join(bundle, 'client'))).toContain('assets');
    const made = statSync(path.join(bundle, 'key')).mtimeMs;
    expect(await makeBundle(bundle)).toBe(false);
    expect(statSync(path.join(bundle, 'key')).mtimeMs).toBe(made);
  });

  it('is made for the Node that renders, not for browsers: private fields are none of calls', () => {
    const server = path.join(bundle, 'server');
    const scripts = readdirSync(server, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.mjs'));
    const text = scripts.map((name) => readFileSync(path.join(server, name), 'utf8')).join('\n');
    expect(text).toMatch(/this\.#\w+/);
    expect(text).not.toMatch(/classPrivate|_defineProperty/);
  });

  it('C13: reads the records of a package once for its page where nothing was rendered, and once for its key where it was', async () => {
    const base = 'https://index.example';
    const file = path.join(folder, 'catalog.sqlite');
    await writeCatalog(file, sources, base);
    const catalog = new SiteCatalog(file, lastBuild);
    const reads = new Map<string, number>();
    const readVersions = catalog.readVersions.bind(catalog);
    catalog.readVersions = (id) => {
      reads.set(id, (reads.get(id) ?? 0) + 1);
      return readVersions(id);
    };
    const hasFeed = (id: string) => existsSync(path.join(pages, 'package', packageFolder(id), 'feed.atom'));
    const pages = path.join(folder, 'pages');
    const render = async () => {
      reads.clear();
      provideSite(catalog, { base });
      const loaded = await loadBundle({ key: 'one', folder: bundle });
      return renderPages(loaded, pages, { base, hasDevices: catalog.hasDevices }, () => {});
    };
    try {
      for (const rendered of [catalog.packages.size, 0]) {
        expect(await render()).toBeGreaterThan(rendered);
        // One for the page and one for the feed, where there is one; and one for the page that shows an example.
        const own = [...reads].filter(([id]) => id !== catalog.example?.packageId);
        expect(own.length).toBeGreaterThan(200);
        expect(own.filter(([id, times]) => times !== (hasFeed(id) ? 2 : 1))).toEqual([]);
      }
    } finally {
      provideSite(undefined);
      catalog.close();
    }
  });

  it('C12: is made anew where a file of it is damaged, missing or one too many', async () => {
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
    writeFileSync(another, '');
    expect(await makeBundle(bundle)).toBe(true);
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(readdirSync(path.join(bundle, 'server'))).not.toContain('another.mjs');
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
    'H10: is made, and a build done with it, where nothing but state and output can be written',
    () => {
      const own = path.join(folder, 'of nobody');
      mkdirSync(own);
      chmodSync(folder, 0o755);
      if (nobody.uid !== undefined) chownSync(own, nobody.uid, nobody.gid);
      const flags = ['--sample', '--state', path.join(own, 'state'), '--out', path.join(own, 'out')];
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
