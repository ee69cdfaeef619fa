// Measures the site on a catalog: node scripts/bench/site.ts CATALOG [LARGE-CATALOG]
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import lighthouse from 'lighthouse';
import type { Browser } from 'playwright-core';
import { page as address } from '../../src/site/addresses.ts';
import { buildSite } from '../../src/site/build.ts';
import { SiteCatalog } from '../../src/site/catalog.ts';
import { launchBrowser } from '../../test/support/browser.ts';
import { type StaticServer, serveFolder } from '../../test/support/static-server.ts';

/** One line of the table: what was measured, what came out, and what it should come to. */
interface Figure {
  readonly figure: string;
  readonly value: string;
  readonly target: string;
}

const debugPort = 9_223;

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
};

/** Changes every record of one repository of middling size, as a new release of all its packages would. */
const changeOneRepository = (catalogPath: string): void => {
  const database = new DatabaseSync(catalogPath);
  const rows = database.prepare('SELECT id FROM repository ORDER BY package_count').all() as { id: number }[];
  const { id } = rows[Math.floor(rows.length / 2)] ?? { id: 0 };
  database
    .prepare(`UPDATE record SET json = replace(json, '"maintainer":', '"maintainer":"A","x":') WHERE repository = ?`)
    .run(id);
  database.close();
};

const measureBuilds = async (source: string, folder: string, label: string): Promise<Figure[]> => {
  const catalogPath = path.join(folder, 'catalog.sqlite');
  copyFileSync(source, catalogPath);
  const options = {
    catalogPath,
    outDir: path.join(folder, 'out'),
    cacheDir: path.join(folder, 'cache'),
    baseUrl: 'http://localhost:8080',
  };
  const cold = await timed(() => buildSite(options));
  const unchanged = await timed(() => buildSite(options));
  changeOneRepository(catalogPath);
  const changed = await timed(() => buildSite(options));
  const share = `${changed.toFixed(1)} s, ${((100 * changed) / cold).toFixed(0)} % of the cold build`;
  return [
    { figure: `${label}: cold build`, value: `${cold.toFixed(1)} s`, target: label === 'large' ? '120 s' : '' },
    { figure: `${label}: nothing changed`, value: `${unchanged.toFixed(1)} s`, target: '' },
    { figure: `${label}: one repository changed`, value: share, target: label === 'large' ? '' : '33 %' },
  ];
};

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;

const measureWeight = async (browser: Browser, server: StaticServer, name: string, where: string): Promise<Figure> => {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
  await context.route('**/*', (route) =>
    route.request().url().startsWith(server.base) ? route.continue() : route.abort(),
  );
  const page = await context.newPage();
  server.sent = 0;
  let script = 0;
  page.on('response', async (response) => {
    if (response.request().resourceType() === 'script') script += Number(response.headers()['content-length'] ?? 0);
  });
  await page.goto(server.base + where, { waitUntil: 'networkidle' });
  await context.close();
  return {
    figure: `${name}: first view`,
    value: `${kilobytes(server.sent)}, script ${kilobytes(script)}`,
    target: '60 kB, 15 kB',
  };
};

const scores = ['performance', 'accessibility', 'best-practices', 'seo'] as const;

const measureLighthouse = async (server: StaticServer, name: string, where: string): Promise<Figure> => {
  const result = await lighthouse(server.base + where, {
    port: debugPort,
    logLevel: 'silent',
    onlyCategories: [...scores],
  });
  const value = scores.map((score) => Math.round(100 * (result?.lhr.categories[score]?.score ?? 0))).join(' / ');
  return { figure: `${name}: Lighthouse, phone`, value, target: '95 each' };
};

const measureSearch = async (browser: Browser, server: StaticServer, words: readonly string[]): Promise<Figure[]> => {
  const first: number[] = [];
  const later: number[] = [];
  for (const word of words) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(server.base, { waitUntil: 'networkidle' });
    const times = (await page.evaluate(`(async (word) => {
      const field = document.querySelector('[role=combobox]');
      const list = document.querySelector('#suggestions');
      const times = [];
      field.focus();
      for (let length = 2; length <= word.length; length++) {
        const start = performance.now();
        const drawn = new Promise((resolve) => {
          new MutationObserver((_, observer) => { observer.disconnect(); resolve(); }).observe(list, { childList: true });
        });
        field.value = word.slice(0, length);
        field.dispatchEvent(new Event('input', { bubbles: true }));
        await drawn;
        times.push(performance.now() - start);
      }
      return times;
    })(${JSON.stringify(word)})`)) as number[];
    first.push(times[0] ?? 0);
    later.push(...times.slice(1));
    await context.close();
  }
  const worst = (times: readonly number[]) =>
    `${Math.max(...times).toFixed(0)} ms at most, ${median(times).toFixed(0)} ms median`;
  return [
    { figure: 'search: first results, loading included', value: worst(first), target: '300 ms' },
    { figure: 'search: each later character', value: worst(later), target: '50 ms' },
  ];
};

const median = (times: readonly number[]): number =>
  [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

/** Measures weights, Lighthouse, search and builds on a catalog, and builds alone on a large one where given. */
const benchSite = async (catalogPath: string, largePath?: string): Promise<Figure[]> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'debdex-bench-'));
  try {
    const figures = await measureBuilds(catalogPath, folder, 'catalog');
    const catalog = new SiteCatalog(catalogPath);
    const largest = [...catalog.repositories].sort((a, b) => b.record.package_count - a.record.package_count)[0];
    const names = [...catalog.packages.values()]
      .map(({ name }) => name.toLowerCase())
      .filter((name) => /^[a-z]{6,}$/.test(name));
    const words = names.filter((_, index) => index % Math.ceil(names.length / 12) === 0);
    const pages: readonly (readonly [string, string])[] = [
      ['landing', address.landing],
      ['search', `${address.search}?q=${words[0] ?? ''}`],
      ['repository', address.repository(largest?.slug ?? '')],
      ['package', address.package(catalog.packages.keys().next().value ?? '')],
    ];
    catalog.close();
    const server = await serveFolder(path.join(folder, 'out'));
    const browser = await launchBrowser([`--remote-debugging-port=${debugPort}`]);
    for (const [name, where] of pages)
      if (name !== 'search') figures.push(await measureWeight(browser, server, name, where));
    figures.push(...(await measureSearch(browser, server, words)));
    for (const [name, where] of pages) figures.push(await measureLighthouse(server, name, where));
    await browser.close();
    await server.close();
    if (largePath !== undefined) {
      rmSync(folder, { recursive: true });
      const large = mkdtempSync(path.join(tmpdir(), 'debdex-bench-'));
      try {
        figures.push(...(await measureBuilds(largePath, large, 'large')));
      } finally {
        rmSync(large, { recursive: true, force: true });
      }
    }
    return figures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const [catalogPath, largePath] = process.argv.slice(2);
if (catalogPath === undefined) {
  console.error('usage: node scripts/bench/site.ts CATALOG [LARGE-CATALOG]');
  process.exitCode = 2;
} else {
  console.log(`${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown'}`);
  console.table(await benchSite(catalogPath, largePath));
}
