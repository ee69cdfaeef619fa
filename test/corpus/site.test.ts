import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readLastBuild } from '../../src/catalog/last-build.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { publishSite } from '../../src/pipeline/site-step.ts';
import { page as address } from '../../src/site/addresses.ts';
import { SiteCatalog } from '../../src/site/site-catalog.ts';
import { launchBrowser } from '../support/browser.ts';
import { brokenLinks } from '../support/links.ts';
import { namedAddresses, unanswered } from '../support/named-addresses.ts';
import { serveFolder } from '../support/static-server.ts';

const project = path.join(import.meta.dirname, '..', '..');
const shared = path.join(project, '..', 'shared');
const base = 'http://localhost:8080';
const hasCorpus = existsSync(path.join(shared, 'corpus'));

describe.skipIf(!hasCorpus)('the site of the corpus', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'debdex-corpus-site-'));
  const out = path.join(folder, 'dist');
  const state = path.join(folder, 'state');
  let origin: ChildProcess;

  beforeAll(async () => {
    const manifest = path.join(folder, 'manifest.json');
    origin = spawn(process.execPath, [path.join(shared, 'tools', 'origin.mjs'), '--manifest', manifest], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (origin.stdout === null) throw new Error('the origin has no output');
    for await (const _ of createInterface(origin.stdout)) break;
    const flags = [
      '--manifest',
      manifest,
      '--state',
      state,
      '--out',
      out,
      '--allow-private-networks',
      '--no-site',
      '--static-refs',
    ];
    const built = spawnSync('npm', ['run', '--silent', 'build', '--', ...flags], { cwd: project, encoding: 'utf8' });
    expect(built.status, built.stderr).toBe(0);
    const lastBuild = readLastBuild(state);
    const cacheDir = path.join(state, 'site');
    const options = { catalogPath: catalogPath(state), outDir: out, cacheDir, baseUrl: base, staticRefs: true };
    await publishSite(lastBuild === undefined ? options : { ...options, lastBuild });
  });
  afterAll(() => {
    origin.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  it('has a page for every package and repository, and no broken link, those to documents included', () => {
    const catalog = new SiteCatalog(catalogPath(state));
    expect(catalog.packages.size).toBeGreaterThan(1000);
    for (const id of catalog.packages.keys())
      expect(existsSync(`${out}${address.package(id)}index.html`), id).toBe(true);
    for (const { slug } of catalog.repositories)
      expect(existsSync(`${out}${address.repository(slug)}index.html`)).toBe(true);
    catalog.close();
    // What is computed on request, and the OpenAPI description, which tells of it, are the function's.
    expect(brokenLinks(out, (target) => /^\/v2\/(?:jailbreak\/\w+\/search|openapi)/.test(target))).toEqual([]);
  });

  it('P4: everything that is named answers on a host that knows files alone', async () => {
    const server = await serveFolder(out);
    try {
      const named = namedAddresses(out, base);
      expect(named.size).toBeGreaterThan(3000);
      expect(await unanswered(named, server.base)).toEqual([]);
      process.stdout.write(`${named.size} addresses answer\n`);
    } finally {
      await server.close();
    }
  });

  it('finds packages by the beginning of their names', async () => {
    const server = await serveFolder(out);
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage();
      await page.route('**/*', (route) =>
        route.request().url().startsWith(server.base) ? route.continue() : route.abort(),
      );
      await page.goto(`${server.base}/search/?q=choic`);
      await page.locator('#results .name').first().waitFor();
      expect(await page.locator('#results .name').first().textContent()).toBe('Choicy');
    } finally {
      await browser.close();
      await server.close();
    }
  });
});
