import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publishSite } from '../../src/pipeline/site-step.ts';
import { statedLists } from '../../src/results/stated-lists.ts';
import { launchBrowser } from '../support/browser.ts';
import { type StaticServer, serveFolder } from '../support/static-server.ts';
import { stanza, temporaryFolder, writeCatalog } from './fixture.ts';

const { folder, remove } = temporaryFolder();
let server: StaticServer;
let browser: Browser;

// More than a page of results has, all before those for the device. The second of two lists of what packages state tells
// of the one that wants a newer iOS.
const rootful = Array.from({ length: 40 }, (_, index) => `Crowd ${String(index).padStart(2, '0')}`);
const rootless = Array.from({ length: 4 }, (_, index) => `Crowd and more than that ${index}`);
const newer = 'Crowd of the future';
const idOf = (name: string) => `com.example.${name.toLowerCase().replaceAll(' ', '')}`;
const newerId =
  ['a', 'b', 'c', 'd'].map((end) => `${idOf(newer)}.${end}`).find((id) => statedLists.of(id, 2) === 1) ?? '';

/**
 * Has a site tell what packages state in two lists instead of one, as where there are more than 1,024: that many pages
 * would be most of the work here, and the lists of a large site are tried in device.test.ts.
 */
const divideLists = (outDir: string): void => {
  const listOf = (number: number) => path.join(outDir, statedLists.file(number));
  const stated = Object.entries(JSON.parse(readFileSync(listOf(0), 'utf8')) as Record<string, string>);
  const lists = Object.groupBy(stated, ([id]) => statedLists.of(id, 2));
  expect(lists[1]?.map(([id]) => id)).toEqual([newerId]);
  for (const number of [0, 1]) {
    rmSync(listOf(number), { force: true });
    writeFileSync(listOf(number), JSON.stringify(Object.fromEntries(lists[number] ?? [])));
  }
  const page = path.join(outDir, 'search', 'index.html');
  const html = readFileSync(page, 'utf8');
  expect(html).toContain(' data-lists="1"');
  rmSync(page);
  writeFileSync(page, html.replace(' data-lists="1"', ' data-lists="2"'));
};

beforeAll(async () => {
  const catalogPath = path.join(folder, 'catalog.sqlite');
  const packages = [
    ...rootful.map((Name) => stanza({ Package: idOf(Name), Name, Architecture: 'iphoneos-arm' })),
    ...rootless.map((Name) => stanza({ Package: idOf(Name), Name })),
    stanza({ Package: newerId, Name: newer, Depends: 'firmware (>= 17.0)' }),
  ];
  const entry = { slug: 'one', uri: 'https://one.example/', ranking: 2 };
  const at = '2026-11-18T10:00:00.000Z';
  await writeCatalog(
    catalogPath,
    [{ entry, release: 'Origin: One\n', at, packages: packages.join('') }],
    'https://i.example',
  );
  const outDir = path.join(folder, 'out');
  await publishSite({ catalogPath, outDir, cacheDir: path.join(folder, 'cache'), baseUrl: 'https://i.example' });
  divideLists(outDir);
  server = await serveFolder(outDir);
  browser = await launchBrowser();
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await server?.close();
  remove();
});

const device = 'ios=16.7&build=rootless';

/** What stands above the line, which is where those begin that do not run there. */
const fitting = async (page: Page): Promise<string[]> => {
  await page.locator('#results .misfits').waitFor();
  const items = await page
    .locator('#results > li')
    .evaluateAll((list) => list.map((item) => item.querySelector('.name')?.textContent ?? ''));
  expect(items).toHaveLength(21);
  return items.slice(0, items.indexOf('')).sort();
};

describe('C14: results for the device of the visitor', () => {
  it.each(['', '&sort=name'])(
    'come first of all that the files find, however many do not run there %s',
    async (sort) => {
      const page = await browser.newPage();
      await page.goto(`${server.base}/search/?q=crowd&${device}${sort}`);
      expect(await fitting(page)).toEqual(rootless);
      await page.close();
    },
  );

  const recordOf = (name: string, package_id: string, architecture: string) => ({
    ...{ package_id, name, architecture, description: null, version: '1.0', section: 'Tweaks' },
    ...{ author: null, maintainer: null, price: 'Free', icon_url: null, repository: { slug: 'one', name: 'One' } },
  });

  it('are looked for further on by who asks for more, in few pages, and come before what is not shown yet', async () => {
    const page = await browser.newPage();
    const asked: (string | null)[] = [];
    const crowd = Array.from({ length: 1200 }, (_, index) =>
      recordOf(`Mass ${index}`, `com.mass.p${index}`, 'iphoneos-arm'),
    );
    const data = [
      ...crowd.slice(0, 600),
      ...rootless.slice(0, 2).map((name) => recordOf(name, idOf(name), 'iphoneos-arm64')),
      ...crowd.slice(600),
      ...rootless.slice(2).map((name) => recordOf(name, idOf(name), 'iphoneos-arm64')),
    ];
    await page.route('**/v2/**', (route) => {
      const { pathname, searchParams } = new URL(route.request().url());
      if (!pathname.endsWith('/search')) return route.fulfill({ json: {} });
      asked.push(searchParams.get('page'));
      const [limit, number] = [Number(searchParams.get('limit')), Number(searchParams.get('page') ?? 1)];
      const refs = limit * number < data.length ? { nextPage: 'https://i.example/next' } : {};
      return route.fulfill({ json: { data: data.slice(limit * (number - 1), limit * number), refs } });
    });
    const shown = () => page.locator('#results .name').allTextContents();
    await page.goto(`${server.base}/search/?q=mass&${device}`);
    await expect.poll(shown).toEqual(crowd.slice(0, 20).map(({ name }) => name));
    expect(asked).toEqual([null]);
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(shown).toHaveLength(40);
    expect((await shown()).slice(0, 3)).toEqual([...rootless.slice(0, 2), 'Mass 0']);
    expect(asked).toEqual([null, '2', '3']);
    expect(await page.evaluate('document.activeElement.textContent')).toBe(rootless[0]);
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(shown).toHaveLength(60);
    expect((await shown()).slice(0, 5)).toEqual([...rootless, 'Mass 0']);
    expect(new Set(await shown()).size).toBe(60);
    expect(asked).toEqual([null, '2', '3', '4', '5']);
    await page.close();
  });

  it('come first of all that the index finds, which is not told of the device', async () => {
    const page = await browser.newPage();
    const asked: string[] = [];
    const data = [
      ...rootful.map((name) => recordOf(name, idOf(name), 'iphoneos-arm')),
      ...rootless.map((name) => recordOf(name, idOf(name), 'iphoneos-arm64')),
      recordOf(newer, newerId, 'iphoneos-arm64'),
    ];
    await page.route('**/v2/**', (route) => {
      const { pathname, search, searchParams } = new URL(route.request().url());
      if (!pathname.endsWith('/search')) return route.fulfill({ json: {} });
      asked.push(search);
      const limit = Number(searchParams.get('limit'));
      const refs = limit < data.length ? { nextPage: 'https://i.example/next' } : {};
      return route.fulfill({ json: { data: data.slice(0, limit), refs } });
    });
    await page.goto(`${server.base}/search/?q=crowd&${device}`);
    // The other list of statements alone tells of the iOS that the last one wants.
    expect(await fitting(page)).toEqual(rootless);
    const row = page.locator('#results .row', { hasText: newer });
    expect(await row.locator('.verdict').textContent()).toBe('Rules out iOS 16.7');
    expect(asked).toEqual(['?q=crowd&limit=250']);
    // Where none is known, the page asks for as many as it shows, and for all when one is set.
    await page.locator('#device-bar summary').click();
    await page.getByRole('button', { name: 'Forget' }).click();
    await page.goto(`${server.base}/search/?q=crowd`);
    await expect.poll(() => page.locator('#results > li .name').allTextContents()).toEqual(rootful.slice(0, 20));
    await page.locator('#device-bar summary').click();
    await page.getByLabel('iOS', { exact: true }).fill('16.7');
    await page.getByLabel('Jailbreak').selectOption('rootless');
    await page.getByRole('button', { name: 'Show what runs' }).click();
    await expect.poll(() => fitting(page)).toEqual(rootless);
    await page.close();
  });
});
